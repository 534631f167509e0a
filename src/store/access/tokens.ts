// Tokens of the documents API. `allow` is a list for callers, and words with spaces between them in the table.
// `expires_at` is the last day, in Costa Rica, on which the token is valid. A token without a `company_id` is for all
// companies.

import type { IsoDate } from '../../values/dates.ts'
import { hasRow } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

const PUBLIC = [
  'id',
  'name',
  'allow',
  'company_id',
  'agent_id',
  'expires_at',
  'created_at',
  'last_used_at',
  'revoked_at',
  'quota',
] as const

export type TokenRow = WithAllow<Pick<Row<'tokens'>, (typeof PUBLIC)[number]>>
type WithAllow<R> = Omit<R, 'allow'> & { allow: string[] }

const CHECKED = ['id', 'name', 'hash', 'allow', 'company_id', 'agent_id', 'expires_at'] as const

export type ActiveToken = WithAllow<Pick<Row<'tokens'>, (typeof CHECKED)[number]>>

/** Selects all tokens by id. `used`: bytes of the documents that the tokens of its name made. */
export async function selectTokens(db: ReadDb): Promise<(TokenRow & { used: number })[]> {
  const rows = await db
    .selectFrom('tokens')
    .select([...PUBLIC, 'used'])
    .orderBy('id')
    .execute()
  const usedByName = new Map<string, number>()
  for (const row of rows) usedByName.set(row.name, (usedByName.get(row.name) ?? 0) + row.used)
  return rows.map((row) => ({ ...withAllow(row), used: usedByName.get(row.name) ?? 0 }))
}

/** Selects tokens that are not revoked. The caller checks whether they have expired. */
export async function selectActiveTokens(db: ReadDb): Promise<ActiveToken[]> {
  const rows = await db.selectFrom('tokens').select(CHECKED).where('revoked_at', 'is', null).execute()
  return rows.map(withAllow)
}

export async function findToken(db: ReadDb, id: number): Promise<TokenRow | undefined> {
  const row = await selectPublic(db).where('id', '=', id).executeTakeFirst()
  return row && withAllow(row)
}

export async function findActiveTokenByName(db: ReadDb, name: string): Promise<TokenRow | undefined> {
  const row = await selectPublic(db)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return row && withAllow(row)
}

/** The active token of this name, else the newest that is revoked. */
export async function findTokenByName(db: ReadDb, name: string): Promise<TokenRow | undefined> {
  const row = await selectPublic(db)
    .where('name', '=', name)
    .orderBy('revoked_at', (order) => order.desc().nullsFirst())
    .executeTakeFirst()
  return row && withAllow(row)
}

/** Returns whether a token has this hash, revoked or not. */
export function hasTokenHash(db: ReadDb, hash: string): Promise<boolean> {
  return hasRow(selectPublic(db).where('hash', '=', hash))
}

export async function insertToken(
  db: WriteDb,
  token: {
    name: string
    hash: string
    allow: readonly string[]
    companyId: number | null
    /** Requires the agent's company in `companyId`. */
    agentId?: number | null
    expiresAt: IsoDate | null
    /** Bytes; null: no quota. */
    quota?: number | null
    createdAt: string
  },
): Promise<number> {
  const row = await db
    .insertInto('tokens')
    .values({
      name: token.name,
      hash: token.hash,
      allow: token.allow.join(' '),
      company_id: token.companyId,
      agent_id: token.agentId ?? null,
      expires_at: token.expiresAt,
      quota: token.quota ?? null,
      created_at: token.createdAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Returns whether an active token is limited to this agent. */
export function hasTokenOfAgent(db: ReadDb, agentId: number): Promise<boolean> {
  return hasRow(selectPublic(db).where('agent_id', '=', agentId).where('revoked_at', 'is', null))
}

/** Sets the quota of the active tokens of a name (several while one replaces another) and returns them. */
export async function updateTokenQuota(db: WriteDb, name: string, quota: number | null): Promise<TokenRow[]> {
  const rows = await db
    .updateTable('tokens')
    .set({ quota })
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .returning(PUBLIC)
    .execute()
  return rows.map(withAllow)
}

/**
 * Revokes a token and returns it; undefined without a token of this id. A second revocation does not change the time.
 */
export async function revokeToken(db: WriteDb, id: number, revokedAt: string): Promise<TokenRow | undefined> {
  const row = await db
    .updateTable('tokens')
    .set((of) => ({ revoked_at: of.fn.coalesce('revoked_at', of.val(revokedAt)) }))
    .where('id', '=', id)
    .returning(PUBLIC)
    .executeTakeFirst()
  return row && withAllow(row)
}

function selectPublic(db: ReadDb) {
  return db.selectFrom('tokens').select(PUBLIC)
}

function withAllow<R extends { allow: string }>(row: R): WithAllow<R> {
  return { ...row, allow: row.allow.split(' ') }
}
