// Documents, each with its attachment. The blob store maps a SHA-256 to its file.

import type { Insertable } from 'kysely'
import { foldAccents } from '../../values/folded-text.ts'
import { engineSql } from '../engine.ts'
import { invariantError } from '../invariant.ts'
import { prepared, preparedInsert } from '../prepared.ts'
import { hasRow } from '../rows.ts'
import type { DocumentState, ReadDb, Row, Tables, WriteDb } from '../tables.ts'
import { insertCounts, stateCounts } from './counts.ts'
import type { PartyFilter } from './filter.ts'
import { deleteResults } from './results.ts'
import { addUsed } from './usage.ts'

/** Fields of each document of an upload. */
export type FileFields = Pick<Row<'attachments'>, 'name' | 'mimetype'>

/** Fields of all documents of an upload. */
export type PartyFields = { companyId: number; agentId: number; ownerId: number }

/** Options of an upload, stored with its documents. */
export type OptionFields = { priority: number }

/** The same as requested; undefined: the value of documents without the option. */
export type RequestedOptions = { [Option in keyof OptionFields]: OptionFields[Option] | undefined }

/** Fields of a document that its sender gives. A place that forgets a new one does not compile. */
export type DocumentFields = FileFields & PartyFields & OptionFields

/** Name of a field in JSON, a form, a query and a row: `company_id` for `companyId`. */
export type FieldName<Field extends keyof DocumentFields> = Field extends `${infer Party}Id`
  ? `${Party}_id`
  : Field

export type DocumentRow = Omit<
  Row<'documents'>,
  | 'created_by'
  | 'claim_id'
  | 'lease_seconds'
  | 'lease_ends'
  | 'finished_by'
  | 'claimed_at'
  | 'name_folded'
  | keyof OptionFields
> &
  Pick<Row<'attachments'>, keyof FileFields | 'size' | 'sha256'> &
  Partial<OptionFields> & {
    /** Name of the token that created it, or `mail:` and that of its mailbox; null: unknown. */
    created_by: string | null
    /** Set only when its blob is known to be lost. */
    content?: 'lost'
  }

const MAIL = 'mail:'

/** Returns whether the creator of a document is a mailbox, and not a token. */
export function isMailCreator(creator: string): boolean {
  return creator.startsWith(MAIL)
}

export type NewDocument = Pick<
  Row<'documents'>,
  FieldName<keyof PartyFields> | 'attachment_id' | 'name' | 'created_at' | 'created_by'
> &
  Partial<RequestedOptions>

export type DocumentSelection = PartyFilter & {
  id?: number | undefined
  state?: DocumentState | undefined
  /** Only documents of a greater id. */
  after?: number | undefined
  /** Only documents of a smaller id. */
  before?: number | undefined
  /** By default the oldest come first. */
  order?: 'asc' | 'desc'
  /** Only documents that existed at this instant. */
  createdUpTo?: string | undefined
  limit: number
}

/**
 * Allocates ids for all documents of the caller's transaction. Call it once and as late as possible, because other
 * uploads then wait for the commit. Undefined where the database assigns ids row by row.
 */
export function allocateDocumentIds(trx: WriteDb, count: number): Promise<number[] | undefined> {
  return engineSql(trx).allocateIds(trx, count)
}

const insertRows = preparedInsert((db, rows: readonly Insertable<Tables['documents']>[]) =>
  db.insertInto('documents').values(rows).returning('id'),
)

/**
 * Inserts documents in the caller's transaction, which has called `addUsed`. Returns their ids in the same order. The
 * ids are sorted, because engines do not guarantee the order of returned rows. `documents`: at most as many as one
 * statement takes; `ids`: of `allocateDocumentIds`, one for each; undefined: the database assigns them.
 */
export async function insertDocuments(
  db: WriteDb,
  documents: readonly NewDocument[],
  ids: readonly number[] | undefined,
): Promise<number[]> {
  const rows = await insertRows(
    db,
    documents.map((document, at) => ({
      ...(ids && { id: ids[at] }),
      ...document,
      priority: document.priority ?? 0,
      name_folded: foldAccents(document.name),
    })),
  )
  if (rows.length !== documents.length)
    throw invariantError('Upload', `stored ${rows.length} of ${documents.length} documents`)
  const storedIds = rows.map(({ id }) => id).sort((one, other) => one - other)
  if (ids && storedIds.at(-1) !== ids[documents.length - 1])
    throw invariantError('Upload', `document ${ids[documents.length - 1]} has another id`)
  return storedIds
}

const CONDITIONS = {
  id: ['documents.id', '='],
  companyId: ['documents.company_id', '='],
  agentId: ['documents.agent_id', '='],
  state: ['documents.state', '='],
  after: ['documents.id', '>'],
  before: ['documents.id', '<'],
  createdUpTo: ['documents.created_at', '<='],
} as const
type Condition = keyof typeof CONDITIONS
const CONDITION_NAMES = Object.keys(CONDITIONS) as Condition[]

/** `never` is the value of every column: Kysely knows no common type of the columns of several conditions. */
type FilterValues = Record<Condition | 'limit', never>

/** Queries by their order and conditions. To build one takes a quarter of the time of a request. */
const selects = new Map<string, ReturnType<typeof prepareSelect>>()

/** Documents by id. */
export async function selectDocuments(db: ReadDb, filter: DocumentSelection): Promise<DocumentRow[]> {
  const { order = 'asc' } = filter
  const conditions = CONDITION_NAMES.filter((name) => filter[name] !== undefined)
  const select = selects.getOrInsertComputed(`${order} ${conditions}`, () => prepareSelect(order, conditions))
  return (await select(db, filter as FilterValues)).map(toDocument)
}

function prepareSelect(order: 'asc' | 'desc', conditions: readonly Condition[]) {
  return prepared([...conditions, 'limit'], (db: ReadDb, values: FilterValues) => {
    let query = selectJoined(db).orderBy('documents.id', order).limit(values.limit)
    for (const name of conditions) {
      const [column, operator] = CONDITIONS[name]
      query = query.where(column, operator, values[name])
    }
    return query
  })
}

/** Selects the existing documents of these ids, by id. */
export async function selectDocumentsById(db: ReadDb, ids: readonly number[]): Promise<DocumentRow[]> {
  const rows = await selectJoined(db).where('documents.id', 'in', ids).orderBy('documents.id').execute()
  return rows.map(toDocument)
}

/** Finds a document by its id and, if set, by its company and agent. */
export async function findDocument(
  db: ReadDb,
  id: number,
  { companyId, agentId }: { companyId?: number | null; agentId?: number | null } = {},
): Promise<DocumentRow | undefined> {
  const own = { companyId: companyId ?? undefined, agentId: agentId ?? undefined }
  const [document] = await selectDocuments(db, { id, ...own, limit: 1 })
  return document
}

/** Returns the names of existing documents, by id. */
export async function selectNames(db: ReadDb, ids: readonly number[]): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .select(['documents.id', 'attachments.name'])
    .where('documents.id', 'in', ids)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Deletes the rows of documents inside the caller's transaction, and returns the ids of the deleted ones. */
export async function deleteDocuments(db: WriteDb, documents: readonly DocumentRow[]): Promise<Set<number>> {
  const rising = (ids: number[]) => ids.sort((one, other) => one - other)
  const ids = rising(documents.map(({ id }) => id))
  const attachments = rising(documents.map(({ attachment_id }) => attachment_id))
  const rowsById = db.selectFrom('documents').select('id').where('id', 'in', ids).orderBy('id')
  await engineSql(db).lockRows(rowsById, 'update', ['documents']).execute() // an outcome may be adding a result
  const results = await deleteResults(db, ids)
  const rows = await db
    .deleteFrom('documents')
    .where('id', 'in', ids)
    .returning(['id', 'company_id as companyId', 'created_by as tokenId', 'attachment_id'])
    .returning(['agent_id', 'state', 'created_at', 'finished_at'])
    .execute()
  const sizes = await db
    .deleteFrom('attachments')
    .where('id', 'in', attachments)
    .returning(['id', 'size'])
    .execute()
  const sizeById = new Map(sizes.map(({ id, size }) => [id, size]))
  const deletions = rows.map((row) => {
    const size = sizeById.get(row.attachment_id)
    if (size === undefined) throw invariantError('Removal', `document ${row.id} keeps its attachment`)
    return { ...row, size, bytes: -size - (results.get(row.id) ?? 0) }
  })
  await insertCounts(
    db,
    deletions.flatMap((row) => [
      ...stateCounts(row, undefined),
      { agent_id: row.agent_id, bytes: -row.size },
    ]),
  )
  await addUsed(db, deletions)
  return new Set(deletions.map(({ id }) => id))
}

/** Changes the priority of a document; false without such a document. */
export async function updatePriority(db: WriteDb, id: number, priority: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('documents')
    .set({ priority })
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Returns whether an agent or an owner has documents of another company. */
export function hasForeignDocuments(
  db: ReadDb,
  party: { agent_id: number } | { owner_id: number },
  companyId: number,
): Promise<boolean> {
  const query = db.selectFrom('documents').select('id').where('company_id', '!=', companyId)
  return hasRow(query.where((of) => of.and(party)).limit(1))
}

/** Returns whether any attachment references the blob. */
export function isBlobReferenced(db: ReadDb, sha256: string): Promise<boolean> {
  return hasRow(db.selectFrom('attachments').select('id').where('sha256', '=', sha256).limit(1))
}

/**
 * Counts the next `limit` referenced blobs after a SHA-256, each once, and their bytes. `last`: the `after` of the next
 * call; undefined: there are no more.
 */
export async function sumBlobs(
  db: ReadDb,
  after: string,
  limit: number,
): Promise<{ count: number; bytes: number; last: string | undefined }> {
  const row = await db
    .selectFrom((from) =>
      from
        .selectFrom('attachments')
        .select((of) => ['sha256', of.fn.max('size').as('size')])
        .where('sha256', '>', after)
        .groupBy('sha256')
        .orderBy('sha256')
        .limit(limit)
        .as('blobs'),
    )
    .select((of) => [
      of.fn.countAll<number>().as('count'),
      of.fn.coalesce(of.fn.sum<number>('size'), of.lit(0)).as('bytes'),
      of.fn.max('sha256').as('last'),
    ])
    .executeTakeFirstOrThrow()
  return { count: row.count, bytes: row.bytes, last: row.count < limit ? undefined : row.last }
}

function selectJoined(db: ReadDb) {
  return db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .leftJoin('tokens', 'tokens.id', 'documents.created_by')
    .leftJoin('lost_contents', 'lost_contents.sha256', 'attachments.sha256')
    .leftJoin('document_mail', 'document_mail.document_id', 'documents.id')
    .leftJoin('mailboxes', 'mailboxes.id', 'document_mail.mailbox_id')
    .select([
      'documents.id',
      'documents.name',
      'attachments.mimetype',
      'attachments.size',
      'attachments.sha256',
      'documents.created_at',
      'documents.attachment_id',
      'documents.agent_id',
      'documents.owner_id',
      'documents.company_id',
      'tokens.name as created_by',
      'documents.state',
      'documents.attempts',
      'documents.finished_at',
      'documents.note',
      'documents.priority',
      'lost_contents.since as lost',
      'mailboxes.name as mailbox',
    ])
}

type JoinedRow = Awaited<ReturnType<ReturnType<typeof selectJoined>['execute']>>[number]

function toDocument({ lost, priority, mailbox, ...row }: JoinedRow): DocumentRow {
  return {
    ...row,
    ...(mailbox !== null && { created_by: `${MAIL}${mailbox}` }),
    ...(priority > 0 && { priority }),
    ...(lost !== null && { content: 'lost' as const }),
  }
}
