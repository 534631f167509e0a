// Every row of every table, in an order that a walk can be taken up in: for moving a database as a whole.

import type { Db, Tables } from '../tables.ts'

/** All but the row of `meta`. */
export type MovedTable = Exclude<keyof Tables, 'meta'>

type AnyRow = Record<string, unknown>

// A table comes after those that it refers to. Its rows are in the order of these columns, which are its key.
const KEYS: Record<MovedTable, readonly string[]> = {
  providers: ['id'],
  series: ['id'],
  sync_runs: ['id'],
  rates: ['series_id', 'rate_date'],
  rate_revisions: ['id'],
  coverage: ['series_id', 'kind', 'covered_from'],
  coverage_changes: ['id'],
  catalogue_changes: ['id'],
  record_gaps: ['gap_from', 'gap_to'],
  api_keys: ['id'],
  companies: ['id'],
  owners: ['id'],
  agents: ['id'],
  tokens: ['id'],
  former_secrets: ['hash'],
  login_links: ['hash'],
  attachments: ['id'],
  documents: ['id'],
  lost_contents: ['sha256'],
  events: ['id'],
  idempotency: ['token_id', 'key'],
  hooks: ['id'],
  hook_messages: ['id'],
  hook_days: ['provider_id', 'day'],
}

export const MOVED_TABLES = Object.keys(KEYS) as readonly MovedTable[]

/** All rows of a table in the order of its key, so many at a time. `columns` undefined: all. */
export async function* selectAllRows(
  db: Db,
  table: MovedTable,
  { atOnce, columns }: { atOnce: number; columns?: readonly string[] },
): AsyncGenerator<AnyRow[]> {
  const keys = KEYS[table] as readonly never[]
  let last: AnyRow | undefined
  while (true) {
    let query = db.selectFrom(table as 'rates').limit(atOnce)
    query = columns ? (query.select(columns as readonly never[]) as never) : (query.selectAll() as never)
    for (const key of keys) query = query.orderBy(key)
    const { length } = keys
    if (last && length === 1) query = query.where(keys[0] as never, '>', last[keys[0] as never] as never)
    else if (last) {
      const values = keys.map((key) => (last as AnyRow)[key])
      query = query.where((of) =>
        of(of.refTuple(...(keys as unknown as [never, never])), '>', of.tuple(...(values as [never, never]))),
      )
    }
    const rows = (await query.execute()) as AnyRow[]
    if (rows.length > 0) yield rows
    if (rows.length < atOnce) return
    last = rows.at(-1)
  }
}

export async function countRows(db: Db, table: MovedTable): Promise<number> {
  const { count } = await db
    .selectFrom(table as 'rates')
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
