// The tables that only a database of several nodes has, as Kysely sees them; store/postgres/schema-cluster.sql says what they
// mean.

import type { Kysely, Selectable } from 'kysely'
import type { Db, Tables } from '../tables.ts'

type TablesOfNodes = {
  scheduler: { provider_id: number; cron: string; next_run: string | null }
  page_sessions: {
    id: string
    page: string
    key: string | null
    token: string | null
    opened_at: string
    used_at: string
  }
  page_tickets: {
    hash: string
    session_id: string
    document_id: number | null
    format: string | null
    ends_at: string
  }
}

export type RowOfNodes<Name extends keyof TablesOfNodes> = Selectable<TablesOfNodes[Name]>

/** The database, or a transaction on it, with these tables: that of a single node does not have them. */
export function ofNodes(db: Db): Kysely<Tables & TablesOfNodes> {
  return db as unknown as Kysely<Tables & TablesOfNodes>
}
