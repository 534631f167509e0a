// Usage and quotas: bytes of a company's documents with their results, and of those that a token created. Uploads,
// outcomes and deleteDocuments update the sums.

import { invariantError } from '../invariant.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

/** Usage and quota in bytes; null: no quota. */
export type Usage = Pick<Row<'companies'>, 'quota' | 'used'>

/** Company and token whose sums include a document; null: unknown token. */
export type Account = { companyId: number; tokenId: number | null }

/**
 * Adds bytes (negative after a deletion) inside the transaction that writes or deletes documents. The sums stay locked
 * until it ends. Companies come before tokens, each by id, which prevents deadlocks.
 */
export async function addUsed(db: WriteDb, added: readonly (Account & { bytes: number })[]): Promise<void> {
  const sums = { companies: new Map<number, number>(), tokens: new Map<number, number>() }
  for (const { companyId, tokenId, bytes } of added) {
    sums.companies.set(companyId, (sums.companies.get(companyId) ?? 0) + bytes)
    if (tokenId !== null) sums.tokens.set(tokenId, (sums.tokens.get(tokenId) ?? 0) + bytes)
  }
  for (const table of ['companies', 'tokens'] as const) {
    for (const [id, bytes] of [...sums[table]].sort(([one], [other]) => one - other)) {
      const { numUpdatedRows } = await db
        .updateTable(table)
        .set((of) => ({ used: of('used', '+', bytes) }))
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows !== 1n) throw invariantError('Sum', `${bytes} bytes are missing in ${table} ${id}`)
    }
  }
}

export async function findCompanyUsage(db: ReadDb, id: number): Promise<Usage | undefined> {
  return db.selectFrom('companies').select(['quota', 'used']).where('id', '=', id).executeTakeFirst()
}

/** Returns quota and usage of a token. A token that replaces another one of its name inherits its usage. */
export async function findTokenUsage(
  db: ReadDb,
  id: number,
): Promise<(Usage & { name: string }) | undefined> {
  return db
    .selectFrom('tokens as token')
    .innerJoin('tokens as namesake', 'namesake.name', 'token.name')
    .where('token.id', '=', id)
    .groupBy(['token.name', 'token.quota'])
    .select((of) => ['token.name', 'token.quota', of.fn.sum<number>('namesake.used').as('used')])
    .executeTakeFirst()
}

/** A sum that differs from the `bytes` of its documents. */
export type WrongSum = { table: 'companies' | 'tokens'; id: number; used: number; bytes: number }

/** Compares the sums with all documents: with a million documents this takes seconds. */
export async function selectWrongSums(db: ReadDb): Promise<WrongSum[]> {
  return [
    ...(await selectTableWrongSums(db, 'companies', 'company_id')),
    ...(await selectTableWrongSums(db, 'tokens', 'created_by')),
  ]
}

/** Sets a sum to the bytes of its documents. */
export async function correctSum(db: WriteDb, { table, id, bytes }: WrongSum): Promise<void> {
  await db.updateTable(table).set({ used: bytes }).where('id', '=', id).execute()
}

/** Compares in one statement, so that no upload commits between the sum and its documents. */
async function selectTableWrongSums(
  db: ReadDb,
  table: WrongSum['table'],
  column: 'company_id' | 'created_by',
): Promise<WrongSum[]> {
  const rows = await db
    .selectFrom(table)
    .leftJoin(
      (from) =>
        from
          .selectFrom('documents')
          .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
          .leftJoin('document_results', 'document_results.document_id', 'documents.id')
          .select((of) => [
            `documents.${column} as account`,
            of.fn
              .sum<number>(of('attachments.size', '+', of.fn.coalesce('document_results.size', of.lit(0))))
              .as('bytes'),
          ])
          .groupBy(`documents.${column}`)
          .as('added'),
      (join) => join.onRef('added.account', '=', `${table}.id`),
    )
    .select((of) => ['id', 'used', of.fn.coalesce('added.bytes', of.lit(0)).as('bytes')])
    .orderBy('id')
    .execute()
  return rows.filter(({ used, bytes }) => used !== bytes).map((row) => ({ table, ...row }))
}
