// Addresses that are told of what happens here. Their secrets are stored sealed (domain/hooks/seal.ts).

import type { Db, Row } from '../tables.ts'
import { countMessages, deleteMessagesOf } from './messages.ts'

export type HookRow = Omit<Row<'hooks'>, 'events'> & { events: string[] }

/** A hook as people see it: without its secrets, and how many messages wait for it. */
export type ListedHook = Omit<HookRow, 'secret' | 'former_secret'> & { waiting: number }

export type NewHook = Pick<HookRow, 'url' | 'events' | 'company_id' | 'agent_id' | 'secret' | 'created_at'>

/** Every hook, by id. */
export async function selectHooks(db: Db): Promise<HookRow[]> {
  return (await db.selectFrom('hooks').selectAll().orderBy('id').execute()).map(withEvents)
}

export async function selectListedHooks(db: Db): Promise<ListedHook[]> {
  const waiting = await countMessages(db)
  return (await selectHooks(db)).map(({ secret: _, former_secret: __, ...hook }) => ({
    ...hook,
    waiting: waiting.get(hook.id) ?? 0,
  }))
}

export async function findHook(db: Db, id: number): Promise<HookRow | undefined> {
  const row = await db.selectFrom('hooks').selectAll().where('id', '=', id).executeTakeFirst()
  return row && withEvents(row)
}

/** Whether there is a hook for the documents of this agent that are of this company alone. */
export async function hasHookOf(db: Db, agentId: number, companyId: number): Promise<boolean> {
  const row = await db
    .selectFrom('hooks')
    .select('id')
    .where('agent_id', '=', agentId)
    .where('company_id', '=', companyId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function insertHook(db: Db, { events, ...hook }: NewHook): Promise<number> {
  const row = await db
    .insertInto('hooks')
    .values({ ...hook, events: events.join(' ') })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Changes a hook; one that is not there any more stays so. */
export async function updateHook(
  db: Db,
  id: number,
  change: Partial<Omit<Row<'hooks'>, 'id' | 'url' | 'events' | 'given_up'>>,
): Promise<void> {
  await db.updateTable('hooks').set(change).where('id', '=', id).execute()
}

/** Counts messages that never arrived. */
export async function addGivenUp(db: Db, id: number, messages: number): Promise<void> {
  await db
    .updateTable('hooks')
    .set((of) => ({ given_up: of('given_up', '+', messages) }))
    .where('id', '=', id)
    .execute()
}

/** Deletes a hook with its messages, inside the caller's transaction, and returns whether it was there. */
export async function deleteHook(db: Db, id: number): Promise<boolean> {
  await deleteMessagesOf(db, id)
  const { numDeletedRows } = await db.deleteFrom('hooks').where('id', '=', id).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** How hooks are, for the metrics. `failing`: off, or their last try failed. */
export async function countHooks(
  db: Db,
): Promise<{ hooks: number; failing: number; waiting: number; givenUp: number }> {
  const rows = await db.selectFrom('hooks').select(['failing_since', 'off_at', 'given_up']).execute()
  const failing = rows.filter((one) => one.failing_since !== null || one.off_at !== null).length
  const waiting = (await countMessages(db)).values().reduce((sum, count) => sum + count, 0)
  const givenUp = rows.reduce((sum, one) => sum + one.given_up, 0)
  return { hooks: rows.length, failing, waiting, givenUp }
}

function withEvents(row: Row<'hooks'>): HookRow {
  return { ...row, events: row.events.split(' ') }
}
