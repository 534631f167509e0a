// Tokens of the documents API. `allow` is a list outside and words with spaces between them in the table;
// `expires_at` is the last day, in Costa Rica, on which the token is valid; without a `company_id` it is for all of
// them.

import type { IsoDate } from '../dates.ts'
import { dialectOf } from './engine.ts'
import { portionsOf } from './portions.ts'
import type { Db, Row } from './tables.ts'

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

export type ActiveToken = Pick<
  TokenRow,
  'id' | 'name' | 'allow' | 'company_id' | 'agent_id' | 'expires_at'
> & {
  hash: string
}

/** Every token, by id. `used`: bytes of the documents that it and others of its name made. */
export async function selectTokens(db: Db): Promise<(TokenRow & { used: number })[]> {
  const rows = await db
    .selectFrom('tokens')
    .select([...PUBLIC, 'used'])
    .orderBy('id')
    .execute()
  const used = new Map<string, number>()
  for (const row of rows) used.set(row.name, (used.get(row.name) ?? 0) + row.used)
  return rows.map((row) => ({ ...withAllow(row), used: used.get(row.name) ?? 0 }))
}

/** Tokens that are not revoked; whether one has expired is for the caller to see. */
export async function selectActiveTokens(db: Db): Promise<ActiveToken[]> {
  const rows = await db
    .selectFrom('tokens')
    .select(['id', 'name', 'hash', 'allow', 'company_id', 'agent_id', 'expires_at'])
    .where('revoked_at', 'is', null)
    .execute()
  return rows.map(withAllow)
}

export async function findToken(db: Db, id: number): Promise<TokenRow | undefined> {
  const row = await db.selectFrom('tokens').select(PUBLIC).where('id', '=', id).executeTakeFirst()
  return row && withAllow(row)
}

export async function findActiveTokenByName(db: Db, name: string): Promise<TokenRow | undefined> {
  const row = await db
    .selectFrom('tokens')
    .select(PUBLIC)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return row && withAllow(row)
}

/** The active token of this name, else the newest that is revoked. */
export async function findTokenByName(db: Db, name: string): Promise<TokenRow | undefined> {
  const row = await db
    .selectFrom('tokens')
    .select(PUBLIC)
    .where('name', '=', name)
    .orderBy('revoked_at', (order) => order.desc().nullsFirst())
    .executeTakeFirst()
  return row && withAllow(row)
}

/** Whether a token has this hash, revoked or not. */
export async function hasTokenHash(db: Db, hash: string): Promise<boolean> {
  const row = await db.selectFrom('tokens').select('id').where('hash', '=', hash).executeTakeFirst()
  return row !== undefined
}

export async function insertToken(
  db: Db,
  token: {
    name: string
    hash: string
    allow: readonly string[]
    companyId: number | null
    /** With one, its company too. */
    agentId?: number | null
    expiresAt: IsoDate | null
    /** Bytes; without it there is none. */
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

/** Whether an active token is for this agent alone. */
export async function hasTokenOfAgent(db: Db, agentId: number): Promise<boolean> {
  const row = await db
    .selectFrom('tokens')
    .select('id')
    .where('agent_id', '=', agentId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Sets the quota of the active token of a name, or of several while one replaces another; returns them. */
export async function updateTokenQuota(db: Db, name: string, quota: number | null): Promise<TokenRow[]> {
  const rows = await db
    .updateTable('tokens')
    .set({ quota })
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .returning(PUBLIC)
    .execute()
  return rows.map(withAllow)
}

/** Gives a token another hash and last day; returns the hash of before, and when that was last used. */
export async function replaceTokenHash(
  db: Db,
  id: number,
  next: { hash: string; expiresAt: IsoDate | null },
): Promise<Pick<Row<'tokens'>, 'hash' | 'last_used_at'>> {
  const current = db.selectFrom('tokens').select(['hash', 'last_used_at']).where('id', '=', id)
  const before = await dialectOf(db).locking(current, 'update', ['tokens']).executeTakeFirstOrThrow()
  await db
    .updateTable('tokens')
    .set({ hash: next.hash, expires_at: next.expiresAt, last_used_at: null })
    .where('id', '=', id)
    .execute()
  return before
}

/** Returns the token as it is now, or undefined when there is none of this id. Revoking twice keeps the first time. */
export async function revokeToken(db: Db, id: number, revokedAt: string): Promise<TokenRow | undefined> {
  const row = await db
    .updateTable('tokens')
    .set((of) => ({ revoked_at: of.fn.coalesce('revoked_at', of.val(revokedAt)) }))
    .where('id', '=', id)
    .returning(PUBLIC)
    .executeTakeFirst()
  return row && withAllow(row)
}

/** By hash: what was used before a rotation is not the secret of after it. */
export async function updateTokensUsed(db: Db, hashes: readonly string[], usedAt: string): Promise<void> {
  for (const some of portionsOf([...hashes].sort(), 1000)) {
    await db.updateTable('tokens').set({ last_used_at: usedAt }).where('hash', 'in', some).execute()
  }
}

function withAllow<R extends { allow: string }>(row: R): WithAllow<R> {
  return { ...row, allow: row.allow.split(' ') }
}
