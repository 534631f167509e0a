// Context of an upload: quotas, agent, owner, lost blobs and hooks, in one query, because the database may be remote.

import { engineSql } from '../engine.ts'
import { prepared } from '../prepared.ts'
import type { ReadDb } from '../tables.ts'
import type { PartyFields } from './documents.ts'
import type { Account, Usage } from './usage.ts'

/** Agent and owner of documents, and the company and token whose usage they count in. */
export type Parties = Account & PartyFields

export type UploadContext = {
  company: Usage
  /** Quota of the token, and the usage of all tokens of its name; undefined: unknown token. */
  token: (Usage & { name: string }) | undefined
  /** True when any blob is known to be lost. */
  hasLost: boolean
  /** True when any hook is on. */
  hasHooks: boolean
}

const NAMES = ['companyId', 'tokenId', 'agentId', 'ownerId'] as const
const selectRow = prepared(NAMES, buildQuery)
const selectLockedRow = prepared(NAMES, (db, parties: Parties) =>
  engineSql(db).lockRows(buildQuery(db, parties), 'share', ['agents', 'owners']),
)

/**
 * Reads the context of an upload. Undefined: no such company, no active agent of it, or no owner that it may use. With
 * `lock`, agent and owner stay locked until the transaction that writes the documents ends.
 */
export async function selectUploadContext(
  db: ReadDb,
  parties: Parties,
  { lock = false } = {},
): Promise<UploadContext | undefined> {
  const [row] = await (lock ? selectLockedRow : selectRow)(db, parties)
  if (!row) return undefined
  const { tokenName: name, tokenQuota, tokenUsed } = row
  return {
    company: { quota: row.companyQuota, used: row.companyUsed },
    token: name === null ? undefined : { name, quota: tokenQuota, used: tokenUsed ?? 0 },
    hasLost: Boolean(row.hasLost),
    hasHooks: Boolean(row.hasHooks),
  }
}

function buildQuery(db: ReadDb, { companyId, tokenId, agentId, ownerId }: Parties) {
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

/** Returns the greatest id of a document; 0: there are none. */
export async function findNewestId(db: ReadDb): Promise<number> {
  const row = await db
    .selectFrom('documents')
    .select((of) => of.fn.max('id').as('newest'))
    .executeTakeFirst()
  return row?.newest ?? 0
}
