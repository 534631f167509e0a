// Reads every row of every table by its key, so that a move of a database can be resumed.

import type { ReadDb, Tables } from '../tables.ts'

/**
 * Tables that a move copies. The end of the change log follows from its rows. Sessions are left out: browsers sign in at
 * the new address. Rows of blobs are written when the blobs are sent. A directory has no losses of a cluster. The new
 * server counts its documents itself.
 */
export type MovedTable = Exclude<
  keyof Tables,
  | 'meta'
  | 'record_end'
  | 'page_sessions'
  | 'page_tickets'
  | 'upload_links'
  | 'contents'
  | 'removed_objects'
  | 'losses'
  | 'orphaned_contents'
  | 'document_counts'
>

type AnyRow = Record<string, unknown>

// Columns of each table's key, which order its rows. A table follows the tables that it references.
const KEYS: Record<MovedTable, readonly string[]> = {
  providers: ['id'],
  series: ['id'],
  sync_runs: ['id'],
  rates: ['series_id', 'rate_date'],
  rate_sums: ['series_id', 'part'],
  withheld_rates: ['series_id', 'rate_date'],
  empty_days: ['series_id', 'rate_date'],
  second_opinions: ['source'],
  rate_revisions: ['id'],
  coverage: ['series_id', 'kind', 'covered_from'],
  coverage_changes: ['id'],
  catalogue_changes: ['id'],
  record_gaps: ['gap_from', 'gap_to'],
  indicators: ['code'],
  indicator_values: ['code', 'value_date'],
  indicator_coverage: ['code', 'covered_from'],
  indicator_changes: ['id'],
  indicator_runs: ['id'],
  indicator_revisions: ['id'],
  api_keys: ['id'],
  key_use: ['key_id', 'day'],
  key_networks: ['key_id', 'network'],
  companies: ['id'],
  owners: ['id'],
  agents: ['id'],
  tokens: ['id'],
  former_secrets: ['hash'],
  login_links: ['hash'],
  attachments: ['id'],
  documents: ['id'],
  document_results: ['document_id'],
  invoices: ['document_id'],
  lost_contents: ['sha256'],
  events: ['id'],
  idempotency: ['token_id', 'key'],
  hooks: ['id'],
  hook_messages: ['id'],
  hook_deliveries: ['id'],
  hook_days: ['provider_id', 'day'],
  mailboxes: ['id'],
  mail_messages: ['key'],
  mail_refusals: ['mailbox_id', 'uidvalidity', 'uid'],
  mail_left: ['mailbox_id', 'uidvalidity', 'uid'],
  document_mail: ['document_id'],
}

export const MOVED_TABLES = Object.keys(KEYS) as readonly MovedTable[]

/** Yields all rows of a table in the order of its key, at most `batchSize` at a time. `columns` undefined: all. */
export async function* selectAllRows(
  db: ReadDb,
  table: MovedTable,
  { batchSize, columns }: { batchSize: number; columns?: readonly string[] },
): AsyncGenerator<AnyRow[]> {
  const keys = KEYS[table] as readonly never[]
  let last: AnyRow | undefined
  while (true) {
    let query = db.selectFrom(table as 'rates').limit(batchSize)
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
    const rows = ((await query.execute()) as AnyRow[]).map(
      table === 'documents' ? withoutLeaseEnd : (row) => row,
    )
    if (rows.length > 0) yield rows
    if (rows.length < batchSize) return
    last = rows.at(-1)
  }
}

/** Drops the end of a lease, which is valid for one server only: the new server starts the lease again. */
function withoutLeaseEnd({ lease_ends, ...row }: AnyRow): AnyRow {
  return row
}
