// Documents, each with its attachment. Which files hold the contents is known by the folder of blobs.

import { dialectOf } from './engine.ts'
import type { Db, DocumentState, Row } from './tables.ts'
import { addUsed } from './usage.ts'

export type DocumentRow = Omit<
  Row<'documents'>,
  'created_by' | 'claim_id' | 'lease_seconds' | 'finished_by'
> &
  Pick<Row<'attachments'>, 'mimetype' | 'size' | 'sha256'> & {
    /** The name of the token that made it; null: it was not written down. */
    created_by: string | null
    /** There when its content is known to be lost, and only then. */
    content?: 'lost'
  }

export type NewDocuments = {
  companyId: number
  agentId: number
  ownerId: number
  createdAt: string
  /** The token that makes them; null: it is not known. */
  createdBy: number | null
  /** As many as one statement may have. */
  attachments: readonly Pick<Row<'attachments'>, 'id' | 'name'>[]
  /** Of `newDocumentIds`, one for each attachment; undefined: the database gives them. */
  ids: readonly number[] | undefined
}

export type DocumentFilter = {
  companyId?: number | undefined
  agentId?: number | undefined
  state?: DocumentState | undefined
  /** Only documents of a greater id. */
  after?: number | undefined
  /** Only documents of a smaller id. */
  before?: number | undefined
  /** By default the oldest come first. */
  order?: 'asc' | 'desc'
  /** Only documents that were there at this instant. */
  createdUpTo?: string | undefined
  limit: number
}

/**
 * Ids for all documents of the caller's transaction, as late in it as can be, and once: other uploads wait for its end.
 * Undefined where the database gives them row by row.
 */
export function newDocumentIds(trx: Db, count: number): Promise<number[] | undefined> {
  return dialectOf(trx).newIds(trx, count)
}

/**
 * Writes documents, inside the caller's transaction, which has added them to the sums (`addUsed`), and returns their ids in
 * the order of the attachments. The order in which an engine gives ids to the rows of one statement is not promised.
 */
export async function insertDocuments(db: Db, batch: NewDocuments): Promise<number[]> {
  const { companyId: company_id, agentId: agent_id, ownerId: owner_id, createdAt: created_at } = batch
  const shared = { company_id, agent_id, owner_id, created_at, created_by: batch.createdBy }
  const { attachments, ids } = batch
  const rows = await db
    .insertInto('documents')
    .values(
      attachments.map(({ id: attachment_id, name }, at) => ({
        ...(ids && { id: ids[at] }),
        ...{ attachment_id, name, ...shared },
      })),
    )
    .returning('id')
    .execute()
  return rows.map(({ id }) => id).sort((one, other) => one - other)
}

/** Documents by id. */
export async function selectDocuments(db: Db, filter: DocumentFilter): Promise<DocumentRow[]> {
  let query = joined(db)
    .orderBy('documents.id', filter.order ?? 'asc')
    .limit(filter.limit)
  if (filter.companyId !== undefined) query = query.where('documents.company_id', '=', filter.companyId)
  if (filter.agentId !== undefined) query = query.where('documents.agent_id', '=', filter.agentId)
  if (filter.state !== undefined) query = query.where('documents.state', '=', filter.state)
  if (filter.after !== undefined) query = query.where('documents.id', '>', filter.after)
  if (filter.before !== undefined) query = query.where('documents.id', '<', filter.before)
  if (filter.createdUpTo !== undefined) {
    query = query.where('documents.created_at', '<=', filter.createdUpTo)
  }
  return (await query.execute()).map(withContent)
}

/** Documents of these ids that are there, by id. */
export async function selectDocumentsById(db: Db, ids: readonly number[]): Promise<DocumentRow[]> {
  const rows = await joined(db).where('documents.id', 'in', ids).orderBy('documents.id').execute()
  return rows.map(withContent)
}

/** A document by its id; if it is of this company and for this agent, where they are given. */
export async function findDocument(
  db: Db,
  id: number,
  { companyId, agentId }: { companyId?: number | null; agentId?: number | null } = {},
): Promise<DocumentRow | undefined> {
  let query = joined(db).where('documents.id', '=', id)
  if (typeof companyId === 'number') query = query.where('documents.company_id', '=', companyId)
  if (typeof agentId === 'number') query = query.where('documents.agent_id', '=', agentId)
  const found = await query.executeTakeFirst()
  return found && withContent(found)
}

/** Which of these documents are there. */
export async function selectIdsAmong(db: Db, ids: readonly number[]): Promise<Set<number>> {
  const rows = await db.selectFrom('documents').select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
}

/** Deletes the rows of documents, inside the caller's transaction, and returns the ids of those that were there. */
export async function deleteDocuments(db: Db, documents: readonly DocumentRow[]): Promise<Set<number>> {
  const rising = (ids: number[]) => ids.sort((one, other) => one - other)
  const ids = rising(documents.map(({ id }) => id))
  const attachments = rising(documents.map(({ attachment_id }) => attachment_id))
  const deleted = await db
    .deleteFrom('documents')
    .where('id', 'in', ids)
    .returning(['id', 'company_id as companyId', 'created_by as tokenId', 'attachment_id'])
    .execute()
  const sizes = await db
    .deleteFrom('attachments')
    .where('id', 'in', attachments)
    .returning(['id', 'size'])
    .execute()
  const sizeOf = new Map(sizes.map(({ id, size }) => [id, size]))
  const taken = ({ attachment_id, ...account }: (typeof deleted)[number]) => ({
    ...account,
    bytes: -(sizeOf.get(attachment_id) ?? 0),
  })
  await addUsed(db, deleted.map(taken))
  return new Set(deleted.map(({ id }) => id))
}

/** Whether an agent or an owner has documents of another company than this one. */
export async function hasDocumentsOutside(
  db: Db,
  party: { agent_id: number } | { owner_id: number },
  companyId: number,
): Promise<boolean> {
  const query = db.selectFrom('documents').select('id').where('company_id', '!=', companyId).limit(1)
  const found =
    'agent_id' in party
      ? query.where('agent_id', '=', party.agent_id)
      : query.where('owner_id', '=', party.owner_id)
  return (await found.executeTakeFirst()) !== undefined
}

/** Whether any attachment needs the blob. */
export async function isBlobNamed(db: Db, sha256: string): Promise<boolean> {
  const row = await db
    .selectFrom('attachments')
    .select('id')
    .where('sha256', '=', sha256)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function countDocuments(db: Db): Promise<number> {
  const row = await db
    .selectFrom('documents')
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

/**
 * Counts the contents that attachments name, each once, and their bytes: the next `limit` of them after a SHA-256. `last`
 * is where to go on; undefined: there are no more.
 */
export async function sumBlobs(
  db: Db,
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

function joined(db: Db) {
  return db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .leftJoin('tokens', 'tokens.id', 'documents.created_by')
    .leftJoin('lost_contents', 'lost_contents.sha256', 'attachments.sha256')
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
      'lost_contents.since as lost',
    ])
}

function withContent<T extends { lost: string | null }>({ lost, ...row }: T) {
  return lost === null ? row : { ...row, content: 'lost' as const }
}
