// Claims of documents that nodes share. A row is handed to one transaction at a time: who comes while another takes it gets
// the next. Which leases are over the database's clock says, for those of the nodes may differ.

import type { ClaimRow, SharedClaims } from '../claims.ts'
import type { Db } from '../tables.ts'
import { ask } from './ask.ts'

const CLAIM = 'id, company_id, agent_id, state, attempts, claim_id, lease_seconds, finished_by'
const IS_FREE = `(state = 'new' or lease_ends <= clock_timestamp())`
// As the index documents_open has it, which is read in the order of ids and has nothing of what was finished.
const IS_OPEN = `state in ('new', 'claimed')`
const endsAfter = (seconds: string) => `clock_timestamp() + ${seconds} * interval '1 second'`

export const sharedClaims: SharedClaims = {
  async begin(db) {
    await ask(
      db,
      `update "documents" set lease_ends = ${endsAfter('lease_seconds')}
       where state = 'claimed' and lease_ends is null`,
    )
  },

  selectFree: (trx, agentId, limit) =>
    rowsOf(
      trx,
      `select ${CLAIM} from documents where agent_id = $1 and ${IS_OPEN} and ${IS_FREE}
       order by id limit $2 for update skip locked`,
      [agentId, limit],
    ),

  selectAbandoned: (trx, attempts, limit) =>
    rowsOf(
      trx,
      `select ${CLAIM} from documents
       where state = 'claimed' and attempts >= $1 and lease_ends <= clock_timestamp()
       order by id limit $2 for update skip locked`,
      [attempts, limit],
    ),

  async selectAgentsWithFree(db, agentIds) {
    const { rows } = await ask<{ id: number }>(
      db,
      `select id from agents
       where id = any($1::bigint[])
         and exists (select 1 from documents where agent_id = agents.id and ${IS_OPEN} and ${IS_FREE})`,
      [agentIds],
    )
    return rows.map(({ id }) => id)
  },

  async lock(trx, id) {
    const [row] = await rowsOf(trx, `select ${CLAIM} from documents where id = $1 for update`, [id])
    return row
  },

  async claim(trx, claims, leaseSeconds) {
    const claimIds = Object.fromEntries(claims.map(({ row, claimId }) => [row.id, claimId]))
    const { rows } = await ask<{ ends: Date }>(
      trx,
      `update "documents" as d
       set state = 'claimed', attempts = d.attempts + 1, claim_id = c.value, lease_seconds = $2::bigint,
         lease_ends = ${endsAfter('$2::bigint')}
       from json_each_text($1::json) as c
       where d.id = c.key::bigint
       returning d.lease_ends as ends`,
      [JSON.stringify(claimIds), leaseSeconds],
    )
    return new Date(Math.min(...rows.map(({ ends }) => ends.getTime())))
  },

  async extend(trx, id, leaseSeconds) {
    const { rows } = await ask<{ ends: Date }>(
      trx,
      `update "documents" set lease_seconds = $2::bigint, lease_ends = ${endsAfter('$2::bigint')}
       where id = $1 returning lease_ends as ends`,
      [id, leaseSeconds],
    )
    const [row] = rows
    if (!row) throw new Error('a document that was locked is gone')
    return row.ends
  },
}

async function rowsOf(db: Db, text: string, values: readonly unknown[]): Promise<ClaimRow[]> {
  return (await ask<ClaimRow>(db, text, values)).rows
}
