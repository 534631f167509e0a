// What an upload has to know of the database before its rows are written, by one query: a database may be a network away.

import { dialectOf } from '../engine.ts'
import { prepared } from '../prepared.ts'
import type { Db } from '../tables.ts'
import type { Account, Usage } from '../usage.ts'

/** Whom documents are for, and whose sums they count in. */
export type Parties = Account & { agentId: number; ownerId: number }

export type UploadLook = {
  company: Usage
  /** The quota of the token, and what it and others of its name made; undefined: the token is not known. */
  token: (Usage & { name: string }) | undefined
  /** Whether any content is known to be lost. */
  hasLost: boolean
  /** Whether any hook is told of something. */
  hasHooks: boolean
}

const NAMES = ['companyId', 'tokenId', 'agentId', 'ownerId'] as const
const askOf = prepared(NAMES, rowOf)
const holdAndAskOf = prepared(NAMES, (db, parties: Parties) =>
  dialectOf(db).locking(rowOf(db, parties), 'share', ['agents', 'owners']),
)

/**
 * Undefined: the company is not there, the agent is not an active one of it, or the owner not one of it or of none. In a
 * transaction that writes the documents agent and owner stay as they are until it ends (`hold`).
 */
export async function lookForUpload(
  db: Db,
  parties: Parties,
  { hold = false } = {},
): Promise<UploadLook | undefined> {
  const [row] = await (hold ? holdAndAskOf : askOf)(db, parties)
  if (!row) return undefined
  const { tokenName: name, tokenQuota, tokenUsed } = row
  return {
    company: { quota: row.companyQuota, used: row.companyUsed },
    token: name === null ? undefined : { name, quota: tokenQuota, used: tokenUsed ?? 0 },
    hasLost: Boolean(row.hasLost),
    hasHooks: Boolean(row.hasHooks),
  }
}

function rowOf(db: Db, { companyId, tokenId, agentId, ownerId }: Parties) {
  return db
    .selectFrom(['companies', 'agents', 'owners'])
    .leftJoin('tokens as token', (on) => on.on('token.id', '=', tokenId))
    .where('companies.id', '=', companyId)
    .where('agents.id', '=', agentId)
    .where('agents.active', '=', 1)
    .whereRef('agents.company_id', '=', 'companies.id')
    .where('owners.id', '=', ownerId)
    .where((of) =>
      of.or([of('owners.company_id', 'is', null), of('owners.company_id', '=', of.ref('companies.id'))]),
    )
    .select((of) => [
      'companies.quota as companyQuota',
      'companies.used as companyUsed',
      'token.name as tokenName',
      'token.quota as tokenQuota',
      of
        .selectFrom('tokens as namesake')
        .select(({ fn }) => fn.sum<number>('namesake.used').as('used'))
        .whereRef('namesake.name', '=', 'token.name')
        .as('tokenUsed'),
      of.exists(of.selectFrom('lost_contents').select('lost_contents.sha256')).as('hasLost'),
      of.exists(of.selectFrom('hooks').select('hooks.id').where('off_at', 'is', null)).as('hasHooks'),
    ])
}

/** Documents of a company and an agent; `last`: the greatest of their ids. */
export type Arrival = { companyId: number; agentId: number; last: number }

/** What arrived after the document of this id. */
export function selectArrivals(db: Db, after: number): Promise<Arrival[]> {
  return db
    .selectFrom('documents')
    .select((of) => ['company_id as companyId', 'agent_id as agentId', of.fn.max('id').as('last')])
    .where('id', '>', after)
    .groupBy(['company_id', 'agent_id'])
    .execute()
}

/** The greatest id of a document; 0: there are none. */
export async function findNewestId(db: Db): Promise<number> {
  const row = await db
    .selectFrom('documents')
    .select((of) => of.fn.max('id').as('newest'))
    .executeTakeFirst()
  return row?.newest ?? 0
}
