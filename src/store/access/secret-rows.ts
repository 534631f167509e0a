// Changes that keys, tokens and their former secrets have in common.

import type { IsoDate } from '../../values/dates.ts'
import { splitBatches } from '../batches.ts'
import { engineSql } from '../engine.ts'
import { invariantError } from '../invariant.ts'
import type { Row, WriteDb } from '../tables.ts'

const TABLES = ['api_keys', 'tokens', 'former_secrets'] as const

/** Gives a key or a token another hash and last day. Returns the previous hash and its last use. */
export async function replaceHash(
  db: WriteDb,
  table: 'api_keys' | 'tokens',
  id: number,
  next: { hash: string; expiresAt: IsoDate | null },
): Promise<Pick<Row<'api_keys'>, 'hash' | 'last_used_at'>> {
  const current = db.selectFrom(table).select(['hash', 'last_used_at']).where('id', '=', id)
  const before = await engineSql(db).lockRows(current, 'update', [table]).executeTakeFirstOrThrow()
  const values = { hash: next.hash, expires_at: next.expiresAt, last_used_at: null }
  const update = db.updateTable(table).set(values).where('id', '=', id)
  const { numUpdatedRows } = await update.executeTakeFirstOrThrow()
  if (numUpdatedRows !== 1n) throw invariantError('Secret', `row ${id} of ${table} keeps its hash`)
  return before
}

/** Records the last use by hash, because a rotation may have replaced the secret that was used. */
export async function updateSecretsUsed(
  db: WriteDb,
  hashes: readonly string[],
  usedAt: string,
): Promise<void> {
  const ordered = hashes.toSorted()
  for (const table of TABLES) {
    for (const some of splitBatches(ordered, 1000)) {
      await db.updateTable(table).set({ last_used_at: usedAt }).where('hash', 'in', some).execute()
    }
  }
}
