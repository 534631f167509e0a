// Counters of documents (schema.sql). A transaction inserts its changes, in order to wait for no other one. A merge
// replaces many rows by few with the same sums.

import type { Insertable } from 'kysely'
import { addDays, currentDay, type IsoDate } from '../../values/dates.ts'
import { splitBatches } from '../batches.ts'
import { consistently, engineSql } from '../engine.ts'
import { preparedInsert } from '../prepared.ts'
import { hasRow } from '../rows.ts'
import type { DocumentState, ReadDb, Row, Tables, WriteDb } from '../tables.ts'
import type { PartyFilter } from './filter.ts'

/** Changes of an agent's documents. */
export type NewCounts = Insertable<Tables['document_counts']>

/** Counters of all, or of documents of a company, an agent or several agents. */
export type CountFilter = PartyFilter & { agentIds?: readonly number[] | undefined }

export type CountTotals = Record<DocumentState | 'bytes' | 'changes', number> & {
  done_today: number
  failed_today: number
  failed_at: string | null
}

/** The part of a document's row that its counters depend on. */
export type CountedRow = Pick<Row<'documents'>, 'agent_id' | 'state' | 'created_at' | 'finished_at'>

/** New state of a document, with the instant of an outcome. */
export type NextState = Pick<Row<'documents'>, 'state'> & { finished_at?: string | null | undefined }

const SUMS = ['new', 'claimed', 'done', 'failed', 'bytes', 'changes'] as const
const UNCOUNTED_AGENT = 0
const AT_ONCE = 500

const MINUTE = 60
const EXACT_SECONDS = 10 * MINUTE

/** A row with every column, which SQLite needs among several. */
const EMPTY = {
  ...{ agent_id: 0, day: null, seconds: null, new: 0, claimed: 0, done: 0, failed: 0, bytes: 0, changes: 0 },
  ...{ failed_at: null, claimed_at: null, claimed_by: null },
}

const insertRows = preparedInsert((db, rows: readonly NewCounts[]) =>
  db.insertInto('document_counts').values(rows),
)

export async function insertCounts(trx: WriteDb, rows: readonly NewCounts[]): Promise<void> {
  const wholeRows = rows.map((row) => ({ ...EMPTY, ...row }))
  for (const some of splitBatches(wholeRows, AT_ONCE)) await insertRows(trx, some)
}

/** Counts a document in its new state, in the transaction of the change. */
export function insertStateCounts(trx: WriteDb, row: CountedRow, next: NextState): Promise<void> {
  return insertCounts(trx, stateCounts(row, next))
}

/** Returns the changes of the counters for a document that changes its state, or is deleted (`next` undefined). */
export function stateCounts(row: CountedRow, next: NextState | undefined): NewCounts[] {
  const { agent_id, state: former } = row
  const departure = { agent_id, ...outcomeKey(row), [former]: -1 }
  if (!next) return [{ ...departure, changes: 1 }]
  const { state } = next
  const failure = state === 'failed' ? { failed_at: next.finished_at ?? null } : {}
  const finished = { ...row, state, finished_at: next.finished_at ?? null }
  const arrival = { agent_id, ...outcomeKey(finished), ...failure, [state]: 1, changes: 1 }
  // A row has one day.
  if (isOutcome(former) && isOutcome(state)) return [departure, arrival]
  return [isOutcome(former) ? { ...arrival, ...departure } : { ...departure, ...arrival }]
}

/** Sums the counters of a filter; `today`: the day in Costa Rica. */
export async function selectTotals(db: ReadDb, filter: CountFilter, today: IsoDate): Promise<CountTotals> {
  const row = await totals(db, filter, today).executeTakeFirstOrThrow()
  return row as unknown as CountTotals
}

/** The same for each agent that has counters, by its id. */
export async function selectAgentTotals(
  db: ReadDb,
  filter: CountFilter,
  today: IsoDate,
): Promise<Map<number, CountTotals>> {
  const rows = await totals(db, filter, today).select('agent_id').groupBy('agent_id').execute()
  return new Map(rows.map(({ agent_id, ...sums }) => [agent_id, sums as unknown as CountTotals]))
}

/** Selects how many documents took how many seconds until `done` on a day, ascending. */
export function selectSeconds(
  db: ReadDb,
  filter: PartyFilter,
  day: IsoDate,
): Promise<{ seconds: number; count: number }[]> {
  return secondsQuery(db, filter, day).execute()
}

/** The same for each agent that has some, by its id. */
export async function selectAgentSeconds(
  db: ReadDb,
  filter: CountFilter,
  day: IsoDate,
): Promise<Map<number, { seconds: number; count: number }[]>> {
  const rows = await secondsQuery(db, filter, day).groupBy('agent_id').select('agent_id').execute()
  const byAgent = Map.groupBy(rows, ({ agent_id }) => agent_id)
  return new Map(
    Array.from(byAgent, ([id, own]) => [id, own.map(({ seconds, count }) => ({ seconds, count }))]),
  )
}

function secondsQuery(db: ReadDb, filter: CountFilter, day: IsoDate) {
  return counts(db, filter)
    .where('day', '=', day)
    .where('seconds', 'is not', null)
    .groupBy('seconds')
    .select((of) => [of.ref('seconds').$notNull().as('seconds'), of.fn.sum<number>('done').as('count')])
    .orderBy('seconds')
}

/** Finds the last claim: its instant, and the name of its token. */
export async function findLastClaim(
  db: ReadDb,
  filter: PartyFilter,
): Promise<{ at: string; by: string | null } | undefined> {
  return counts(db, filter)
    .where('claimed_at', 'is not', null)
    .orderBy('claimed_at', 'desc')
    .limit(1)
    .select((of) => [of.ref('claimed_at').$notNull().as('at'), 'claimed_by as by'])
    .executeTakeFirst()
}

/** Selects the last claim of each agent that has some, by its id. Merges limit the rows of a claim. */
export async function selectAgentClaims(
  db: ReadDb,
  filter: CountFilter,
): Promise<Map<number, { at: string; by: string | null }>> {
  const rows = await counts(db, filter)
    .where('claimed_at', 'is not', null)
    .orderBy('claimed_at')
    .select((of) => [of.ref('claimed_at').$notNull().as('at'), 'claimed_by as by', 'agent_id'])
    .execute()
  return new Map(rows.map(({ agent_id, at, by }) => [agent_id, { at, by }]))
}

export async function countCountRows(db: ReadDb): Promise<number> {
  const row = await db
    .selectFrom('document_counts')
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

/** Merges rows with the same sums. Days before yesterday become NULL. Returns the number of remaining rows. */
export function mergeCounts(db: WriteDb, today: IsoDate): Promise<number> {
  return consistently(db, async (trx) => {
    const rows = await trx.deleteFrom('document_counts').returningAll().execute()
    const merged = mergeRows(rows, today)
    await insertCounts(trx, merged)
    return merged.length
  })
}

/** Has the next server count all documents. */
export function markUncounted(trx: WriteDb): Promise<void> {
  return insertCounts(trx, [{ agent_id: UNCOUNTED_AGENT }])
}

/** Returns whether documents exist that were never counted. */
export function areUncounted(db: ReadDb): Promise<boolean> {
  return hasRow(
    db.selectFrom('document_counts').select('id').where('agent_id', '=', UNCOUNTED_AGENT).limit(1),
  )
}

/**
 * Counts all documents anew, which takes a second for a million. `changes` rises, so that clients query again.
 */
export function recountDocuments(db: WriteDb, today: IsoDate): Promise<void> {
  return consistently(db, async (trx) => {
    const formerRows = await trx.deleteFrom('document_counts').returningAll().execute()
    const former = mergeRows(formerRows, undefined).map(
      ({ agent_id, changes = 0, failed_at, claimed_at, claimed_by }) => ({
        ...{ agent_id, changes: changes + 1, failed_at, claimed_at, claimed_by },
      }),
    )
    const totals = await selectStateCounts(trx)
    const recent = await trx
      .selectFrom('documents')
      .select(['agent_id', 'state', 'created_at', 'finished_at'])
      .where('finished_at', '>=', addDays(today, -1))
      .where('state', 'in', ['done', 'failed'])
      .execute()
    // Moves recent outcomes from the total of all days to their own days.
    const outcomes = recent.flatMap((row) => {
      const { agent_id, state } = row
      return [
        { agent_id, [state]: -1 },
        { agent_id, ...outcomeKey(row), [state]: 1 },
      ]
    })
    const rows = [...former, ...totals, ...outcomes].filter(({ agent_id }) => agent_id !== UNCOUNTED_AGENT)
    await insertCounts(trx, mergeRows(rows, today))
  })
}

/** Counters of an agent that differ from its documents. */
export type WrongCounts = { agentId: number; counted: Sums; found: Sums }
type Sums = Record<DocumentState | 'bytes', number>

/** Compares the counters with all documents, in one snapshot. */
export function selectWrongCounts(db: ReadDb): Promise<WrongCounts[]> {
  return engineSql(db).snapshot(db, async (trx) => {
    if (await areUncounted(trx)) return []
    const countRows = await trx.selectFrom('document_counts').selectAll().execute()
    const countedSums = sumByAgent(countRows)
    const storedSums = sumByAgent(await selectStateCounts(trx))
    const agents = [...new Set([...countedSums.keys(), ...storedSums.keys()])].sort(
      (one, other) => one - other,
    )
    return agents.flatMap((agentId) => {
      const pair = { counted: countedSums.get(agentId) ?? zeros(), found: storedSums.get(agentId) ?? zeros() }
      return JSON.stringify(pair.counted) === JSON.stringify(pair.found) ? [] : [{ agentId, ...pair }]
    })
  })
}

/** The documents of each agent and state, with the instant of the last failure. */
async function selectStateCounts(db: ReadDb): Promise<NewCounts[]> {
  const rows = await db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .groupBy(['agent_id', 'state'])
    .select((of) => [
      'agent_id',
      'state',
      of.fn.countAll<number>().as('count'),
      of.fn.sum<number>('size').as('bytes'),
      of.fn.max('finished_at').as('finished_at'),
    ])
    .execute()
  return rows.map(({ agent_id, state, count, bytes, finished_at }) => ({
    ...{ agent_id, bytes, [state]: count },
    failed_at: state === 'failed' ? finished_at : null,
  }))
}

function totals(db: ReadDb, filter: CountFilter, today: IsoDate) {
  return counts(db, filter).select((of) => [
    ...SUMS.map((name) => of.fn.coalesce(of.fn.sum<number>(name), of.lit(0)).as(name)),
    ...(['done', 'failed'] as const).map((name) =>
      of.fn
        .coalesce(of.fn.sum<number>(of.case().when('day', '=', today).then(of.ref(name)).end()), of.lit(0))
        .as(`${name}_today`),
    ),
    of.fn.max('failed_at').as('failed_at'),
  ])
}

function counts(db: ReadDb, { companyId, agentId, agentIds }: CountFilter) {
  let query = db.selectFrom('document_counts')
  if (agentIds !== undefined) query = query.where('agent_id', 'in', agentIds)
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId)
  if (companyId === undefined) return query
  return query.where('agent_id', 'in', (of) =>
    of.selectFrom('agents').select('agents.id').where('agents.company_id', '=', companyId),
  )
}

/** Merges the rows of an agent. Today and yesterday stay apart from earlier days; `today` undefined: no day does. */
function mergeRows(rows: readonly NewCounts[], today: IsoDate | undefined): NewCounts[] {
  const merged = new Map<string, NewCounts>()
  for (const row of rows) {
    const isRecent = row.day && today !== undefined && row.day >= addDays(today, -1)
    const [day, seconds] = isRecent ? [row.day, row.seconds ?? null] : [null, null]
    const sum: NewCounts = merged.getOrInsertComputed(`${row.agent_id} ${day} ${seconds}`, () => {
      return { ...EMPTY, agent_id: row.agent_id, day, seconds }
    })
    for (const name of SUMS) sum[name] = (sum[name] ?? 0) + (row[name] ?? 0)
    if ((row.failed_at ?? '') > (sum.failed_at ?? '')) sum.failed_at = row.failed_at
    if ((row.claimed_at ?? '') > (sum.claimed_at ?? '')) {
      sum.claimed_at = row.claimed_at
      sum.claimed_by = row.claimed_by
    }
  }
  return [...merged.values()]
}

function sumByAgent(rows: readonly NewCounts[]): Map<number, Sums> {
  const sums = new Map<number, Sums>()
  for (const row of rows) {
    const sum = sums.getOrInsertComputed(row.agent_id, zeros)
    for (const name of Object.keys(sum) as (keyof Sums)[]) sum[name] += row[name] ?? 0
  }
  return sums
}

/**
 * Returns the day in Costa Rica of an outcome, and the seconds from the arrival to `done`. From ten minutes on these are
 * whole minutes, which limits the rows of a day.
 */
function outcomeKey({ state, created_at, finished_at }: Omit<CountedRow, 'agent_id'>): {
  day: IsoDate | null
  seconds: number | null
} {
  if (!isOutcome(state) || finished_at === null) return { day: null, seconds: null }
  const day = currentDay(() => new Date(finished_at))
  if (state !== 'done') return { day, seconds: null }
  const seconds = Math.max(0, Math.floor((Date.parse(finished_at) - Date.parse(created_at)) / 1000))
  return { day, seconds: seconds < EXACT_SECONDS ? seconds : seconds - (seconds % MINUTE) }
}

function isOutcome(state: DocumentState): boolean {
  return state === 'done' || state === 'failed'
}

function zeros(): Sums {
  return { new: 0, claimed: 0, done: 0, failed: 0, bytes: 0 }
}
