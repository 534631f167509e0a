// How many bytes of documents a company has and a token made, and how many they may (their quotas). Running sums, which
// uploads and deleteDocuments keep.

import type { Db, Row } from './tables.ts'

/** Bytes; a quota of null is none. */
export type Usage = Pick<Row<'companies'>, 'quota' | 'used'>

/** Whose sums a document counts in; null: the token is not known. */
export type Account = { companyId: number; tokenId: number | null }

/**
 * Adds bytes, or takes negative ones away, inside the transaction that writes or deletes documents. Until it ends no other
 * one adds to these sums. Companies come first, and all by id, so that no two transactions wait for each other.
 */
export async function addUsed(db: Db, added: readonly (Account & { bytes: number })[]): Promise<void> {
  const sums = { companies: new Map<number, number>(), tokens: new Map<number, number>() }
  for (const { companyId, tokenId, bytes } of added) {
    sums.companies.set(companyId, (sums.companies.get(companyId) ?? 0) + bytes)
    if (tokenId !== null) sums.tokens.set(tokenId, (sums.tokens.get(tokenId) ?? 0) + bytes)
  }
  for (const table of ['companies', 'tokens'] as const) {
    for (const [id, bytes] of [...sums[table]].sort(([one], [other]) => one - other)) {
      await db
        .updateTable(table)
        .set((of) => ({ used: of('used', '+', bytes) }))
        .where('id', '=', id)
        .execute()
    }
  }
}

export async function findCompanyUsage(db: Db, id: number): Promise<Usage | undefined> {
  return db.selectFrom('companies').select(['quota', 'used']).where('id', '=', id).executeTakeFirst()
}

/** The quota of a token, and what it and others of its name made: a token that replaces another one inherits its use. */
export async function findTokenUsage(db: Db, id: number): Promise<(Usage & { name: string }) | undefined> {
  return db
    .selectFrom('tokens as token')
    .innerJoin('tokens as namesake', 'namesake.name', 'token.name')
    .where('token.id', '=', id)
    .groupBy(['token.name', 'token.quota'])
    .select((of) => ['token.name', 'token.quota', of.fn.sum<number>('namesake.used').as('used')])
    .executeTakeFirst()
}

/** A sum that is not that of its documents, which have `bytes`. */
export type WrongSum = { table: 'companies' | 'tokens'; id: number; used: number; bytes: number }

/** Adds up every document: over a million of them it takes seconds. */
export async function selectWrongSums(db: Db): Promise<WrongSum[]> {
  return [
    ...(await wrongSumsIn(db, 'companies', 'company_id')),
    ...(await wrongSumsIn(db, 'tokens', 'created_by')),
  ]
}

/** Sets a sum to what its documents have. */
export async function correctSum(db: Db, { table, id, bytes }: WrongSum): Promise<void> {
  await db.updateTable(table).set({ used: bytes }).where('id', '=', id).execute()
}

/** In one statement, so that no upload comes between the sum and its documents. */
async function wrongSumsIn(
  db: Db,
  table: WrongSum['table'],
  column: 'company_id' | 'created_by',
): Promise<WrongSum[]> {
  const rows = await db
    .with('added', (from) =>
      from
        .selectFrom('documents')
        .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
        .select((of) => [`documents.${column} as account`, of.fn.sum<number>('size').as('bytes')])
        .groupBy(`documents.${column}`),
    )
    .selectFrom(table)
    .leftJoin('added', 'added.account', `${table}.id`)
    .select((of) => ['id', 'used', of.fn.coalesce('added.bytes', of.lit(0)).as('bytes')])
    .orderBy('id')
    .execute()
  return rows.filter(({ used, bytes }) => used !== bytes).map((row) => ({ table, ...row }))
}
