import type { ReadDb, Row, WithBoolean, WriteDb } from '../tables.ts'
import { type IdPage, insertParty } from './parties.ts'

export type AgentRow = WithBoolean<Row<'agents'>, 'active'>

/**
 * Selects agents by id: all, or those of one company. `id`, `isActive`: only such agents; `after`: only greater ids.
 */
export async function selectAgents(
  db: ReadDb,
  company_id?: number,
  { id, isActive, after = 0, limit }: IdPage & { isActive?: boolean } = {},
): Promise<AgentRow[]> {
  const active = isActive === undefined ? undefined : Number(isActive)
  const query = db.selectFrom('agents').selectAll().where('id', '>', after).orderBy('id')
  const own = query.where((of) => of.and({ company_id, id, active }))
  return (await (limit === undefined ? own : own.limit(limit)).execute()).map(withActive)
}

export async function findAgent(db: ReadDb, id: number): Promise<AgentRow | undefined> {
  const row = await db.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirst()
  return row && withActive(row)
}

export async function selectAgentsById(db: ReadDb, ids: readonly number[]): Promise<AgentRow[]> {
  const rows = await db.selectFrom('agents').selectAll().where('id', 'in', ids).execute()
  return rows.map(withActive)
}

/** Adds an agent, with the next free id if it has none. */
export async function insertAgent(
  db: WriteDb,
  agent: Omit<AgentRow, 'id' | 'created_at'> & { id?: number | undefined; createdAt: string },
): Promise<AgentRow> {
  return withActive(await insertParty(db, 'agents', { ...agent, active: Number(agent.active) }))
}

export async function updateAgent(db: WriteDb, agent: Omit<AgentRow, 'created_at'>): Promise<void> {
  const { id, active, company_id, name, description } = agent
  await db
    .updateTable('agents')
    .set({ company_id, name, description, active: Number(active) })
    .where('id', '=', id)
    .execute()
}

/** Updates an agent and returns it; undefined when there is none of this id. */
export async function updateAgentActive(
  db: WriteDb,
  id: number,
  active: boolean,
): Promise<AgentRow | undefined> {
  const row = await db
    .updateTable('agents')
    .set({ active: Number(active) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row && withActive(row)
}

function withActive(row: Row<'agents'>): AgentRow {
  return { ...row, active: row.active === 1 }
}
