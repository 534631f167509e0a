import { dialectOf } from '../engine.ts'
import type { Db, Row, WithBoolean } from '../tables.ts'

export type AgentRow = WithBoolean<Row<'agents'>, 'active'>

/** Agents by id: all, or those of one company. */
export async function selectAgents(db: Db, companyId?: number): Promise<AgentRow[]> {
  const query = db.selectFrom('agents').selectAll().orderBy('id')
  const rows = await (companyId === undefined ? query : query.where('company_id', '=', companyId)).execute()
  return rows.map(withActive)
}

/** The agents of a company by id, active or not: those of greater ids than `after`, or the one of this `id` among them. */
export async function selectAgentsAfter(
  db: Db,
  companyId: number,
  { id, after, limit }: { id?: number | undefined; after: number; limit: number },
): Promise<AgentRow[]> {
  const query = db
    .selectFrom('agents')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
  const rows = await (id === undefined ? query : query.where('id', '=', id)).execute()
  return rows.map(withActive)
}

/** The active agents of a company, by id. */
export async function selectActiveAgents(db: Db, companyId: number): Promise<AgentRow[]> {
  const rows = await db
    .selectFrom('agents')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('active', '=', 1)
    .orderBy('id')
    .execute()
  return rows.map(withActive)
}

export async function findAgent(db: Db, id: number): Promise<AgentRow | undefined> {
  const row = await db.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirst()
  return row && withActive(row)
}

/** Adds an agent, under the next free id if it brings none. */
export async function insertAgent(
  db: Db,
  agent: Omit<AgentRow, 'id' | 'created_at'> & { id?: number | undefined; createdAt: string },
): Promise<AgentRow> {
  const { createdAt: created_at, active, ...rest } = agent
  const row = await db
    .insertInto('agents')
    .values({ ...rest, active: active ? 1 : 0, created_at })
    .returningAll()
    .executeTakeFirstOrThrow()
  if (rest.id !== undefined) await dialectOf(db).moveIds(db, 'agents', row.id)
  return withActive(row)
}

export async function updateAgent(db: Db, agent: Omit<AgentRow, 'created_at'>): Promise<void> {
  const { id, active, company_id, name, description } = agent
  await db
    .updateTable('agents')
    .set({ company_id, name, description, active: active ? 1 : 0 })
    .where('id', '=', id)
    .execute()
}

/** Returns the agent as it is now, or undefined when there is none of this id. */
export async function updateAgentActive(db: Db, id: number, active: boolean): Promise<AgentRow | undefined> {
  const row = await db
    .updateTable('agents')
    .set({ active: active ? 1 : 0 })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row && withActive(row)
}

function withActive(row: Row<'agents'>): AgentRow {
  return { ...row, active: row.active === 1 }
}
