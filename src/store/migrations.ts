// How a database of either engine comes from one schema to the next, since there are two engines. Append only: entry N
// takes schema FIRST_SHARED_SCHEMA + N to the one after it. What SQLite alone went through before is in sqlite/.
//
// An entry is in the words of schema.sql, a statement that may be said twice: PostgreSQL runs them one by one, and the next
// node goes on where one died. Nodes of the version before run meanwhile, so that an entry only adds: tables, indices,
// columns that are NULL or have a default, values of such columns. What nobody uses any more is removed by a later entry,
// which says by `oldest` who may still run then.

export type Migration = {
  sql: string
  /** The oldest schema whose programs understand what this makes; left out: as before it. */
  oldest?: number
}

/** The first schema that PostgreSQL had. */
export const FIRST_SHARED_SCHEMA = 7

export const SHARED_MIGRATIONS: readonly Migration[] = []

/** The schema of a program that has these. */
export function schemaOf(migrations: readonly Migration[]): number {
  return FIRST_SHARED_SCHEMA + migrations.length
}

/** The oldest schema whose programs understand what these make. */
export function oldestOf(migrations: readonly Migration[]): number {
  return migrations.reduce((oldest, one) => one.oldest ?? oldest, FIRST_SHARED_SCHEMA)
}
