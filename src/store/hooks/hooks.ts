// Hooks: addresses that are notified of events. Their secrets are stored encrypted (domain/hooks/seal.ts).

import { prepared } from '../prepared.ts'
import { hasRow } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'
import { countMessages } from './messages.ts'

export type HookRow = Omit<Row<'hooks'>, 'events' | 'headers'> & {
  events: string[]
  /** Values by name; null: it is among the secret ones. */
  headers: Record<string, string | null>
}

/** A hook for display, without its secrets. `waiting`: number of its queued messages. */
export type ListedHook = Omit<HookRow, 'secret' | 'former_secret' | 'secret_headers'> & { waiting: number }

export type NewHookRow = Pick<
  HookRow,
  | 'url'
  | 'events'
  | 'company_id'
  | 'agent_id'
  | 'secret'
  | 'created_at'
  | 'allow_http'
  | 'headers'
  | 'secret_headers'
>

/** Every hook, by id. */
export async function selectHooks(db: ReadDb): Promise<HookRow[]> {
  return (await db.selectFrom('hooks').selectAll().orderBy('id').execute()).map(parseHook)
}

const selectActive = prepared([], (db: ReadDb) =>
  db.selectFrom('hooks').selectAll().where('off_at', 'is', null).orderBy('id'),
)

/** The hooks that are on, by id. */
export async function selectActiveHooks(db: ReadDb): Promise<HookRow[]> {
  return (await selectActive(db, {})).map(parseHook)
}

export async function selectListedHooks(db: ReadDb): Promise<ListedHook[]> {
  const waiting = await countMessages(db)
  return (await selectHooks(db)).map(({ secret: _, former_secret: __, secret_headers: ___, ...hook }) => ({
    ...hook,
    waiting: waiting.get(hook.id) ?? 0,
  }))
}

export async function findHook(db: ReadDb, id: number): Promise<HookRow | undefined> {
  const row = await db.selectFrom('hooks').selectAll().where('id', '=', id).executeTakeFirst()
  return row && parseHook(row)
}

/** Returns whether a hook is limited to the documents of this agent and company. */
export function hasAgentHook(db: ReadDb, agentId: number, companyId: number): Promise<boolean> {
  const query = db.selectFrom('hooks').select('id')
  return hasRow(query.where('agent_id', '=', agentId).where('company_id', '=', companyId))
}

export async function insertHook(db: WriteDb, { events, headers, ...hook }: NewHookRow): Promise<number> {
  const row = await db
    .insertInto('hooks')
    .values({ ...hook, events: events.join(' '), headers: JSON.stringify(headers) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Changes a hook; without effect if it was deleted. */
export async function updateHook(
  db: WriteDb,
  id: number,
  { headers, ...change }: Partial<Omit<HookRow, 'id' | 'url' | 'events' | 'given_up'>>,
): Promise<void> {
  const values = { ...change, ...(headers && { headers: JSON.stringify(headers) }) }
  await db.updateTable('hooks').set(values).where('id', '=', id).execute()
}

/** Changes a hook, unless it has another secret by now. Returns whether it changed. */
export async function updateHookOfSecret(
  db: WriteDb,
  { id, secret }: Pick<HookRow, 'id' | 'secret'>,
  change: Partial<Pick<HookRow, 'failing_since' | 'failure'>>,
): Promise<boolean> {
  const query = db.updateTable('hooks').set(change).where('id', '=', id).where('secret', '=', secret)
  return (await query.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** Adds to the number of messages that were given up. Negative: some of them arrived. */
export async function addGivenUp(db: WriteDb, id: number, messages: number): Promise<void> {
  await db
    .updateTable('hooks')
    .set((of) => ({ given_up: of('given_up', '+', messages) }))
    .where('id', '=', id)
    .execute()
}

/** Deletes a hook with its messages and deliveries, inside a transaction, and returns whether it existed. */
export async function deleteHook(db: WriteDb, id: number): Promise<boolean> {
  await db.deleteFrom('hook_messages').where('hook_id', '=', id).execute()
  await db.deleteFrom('hook_deliveries').where('hook_id', '=', id).execute()
  const { numDeletedRows } = await db.deleteFrom('hooks').where('id', '=', id).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Counts hooks for the metrics. `failing`: off, or their last attempt failed. */
export async function countHooks(
  db: ReadDb,
): Promise<{ hooks: number; failing: number; waiting: number; givenUp: number }> {
  const rows = await db.selectFrom('hooks').select(['failing_since', 'off_at', 'given_up']).execute()
  const failing = rows.filter((one) => one.failing_since !== null || one.off_at !== null).length
  const waiting = (await countMessages(db)).values().reduce((sum, count) => sum + count, 0)
  const failedMessages = rows.reduce((sum, one) => sum + one.given_up, 0)
  return { hooks: rows.length, failing, waiting, givenUp: failedMessages }
}

function parseHook(row: Row<'hooks'>): HookRow {
  return { ...row, events: row.events.split(' '), headers: JSON.parse(row.headers ?? '{}') }
}
