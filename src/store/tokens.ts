// Tokens of the documents API. `allow` is a list outside and words with spaces between them in the table;
// `expires_at` is the last day, in Costa Rica, on which the token is valid; without a `company_id` it is for all of
// them.

import type { IsoDate } from '../dates.ts'
import type { Db } from './tables.ts'

export type TokenRow = {
  id: number
  name: string
  allow: string[]
  company_id: number | null
  expires_at: IsoDate | null
  created_at: string
  last_used_at: string | null
  revoked_at: string | null
}

const PUBLIC = [
  'id',
  'name',
  'allow',
  'company_id',
  'expires_at',
  'created_at',
  'last_used_at',
  'revoked_at',
] as const

export async function selectTokens(db: Db): Promise<TokenRow[]> {
  const rows = await db.selectFrom('tokens').select(PUBLIC).orderBy('id').execute()
  return rows.map(withAllow)
}

/** Tokens that are not revoked; whether one has expired is for the caller to see. */
export async function selectActiveTokens(
  db: Db,
): Promise<(Pick<TokenRow, 'id' | 'allow' | 'company_id' | 'expires_at'> & { hash: string })[]> {
  const rows = await db
    .selectFrom('tokens')
    .select(['id', 'hash', 'allow', 'company_id', 'expires_at'])
    .where('revoked_at', 'is', null)
    .execute()
  return rows.map(withAllow)
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

export async function insertToken(
  db: Db,
  token: {
    name: string
    hash: string
    allow: readonly string[]
    companyId: number | null
    expiresAt: IsoDate | null
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
      expires_at: token.expiresAt,
      created_at: token.createdAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
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

export async function updateTokensUsed(db: Db, ids: readonly number[], usedAt: string): Promise<void> {
  await db
    .updateTable('tokens')
    .set({ last_used_at: usedAt })
    .where('id', 'in', [...ids])
    .execute()
}

function withAllow<T extends { allow: string }>(row: T): Omit<T, 'allow'> & { allow: string[] } {
  return { ...row, allow: row.allow.split(' ') }
}
