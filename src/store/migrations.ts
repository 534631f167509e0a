// How a database of either engine comes from one schema to the next, since there are two engines. Append only: entry N
// takes schema FIRST_SHARED_SCHEMA + N to the one after it. What SQLite alone went through before is in sqlite/.
//
// An entry is in the words of schema.sql, or in those of each engine, a statement that may be said twice: PostgreSQL runs them one by one, and the next
// node goes on where one died. Nodes of the version before run meanwhile, so that an entry only adds: tables, indices,
// columns that are NULL or have a default, values of such columns; or lets a column have more than before. What nobody uses any more is removed by a later entry,
// which says by `oldest` who may still run then.

export type Migration = {
  /** Two texts where the engines say it differently. */
  sql: string | { sqlite: string; postgres: string }
  /** The oldest schema whose programs understand what this makes; left out: as before it. */
  oldest?: number
}

/** The first schema that PostgreSQL had. */
export const FIRST_SHARED_SCHEMA = 7

// SQLite changes a column only by making its table anew. Programs of the schema before write what the new constraints allow,
// and read no kind of revision that they do not know.
const DISCARDED_RATES = {
  sqlite: `
DROP INDEX rate_revisions_by_series;
ALTER TABLE rate_revisions RENAME TO rate_revisions_before;
CREATE TABLE rate_revisions (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  series_id      INTEGER NOT NULL REFERENCES series (id),
  rate_date      TEXT    NOT NULL,
  kind           TEXT    NOT NULL CHECK (kind IN ('correction', 'refined', 'discarded')),
  old_value      TEXT    NOT NULL,
  old_rounded_to INTEGER,
  old_stored_at  INTEGER,
  new_value      TEXT,
  replaced_at    TEXT    NOT NULL,
  run_id         INTEGER REFERENCES sync_runs (id),
  CONSTRAINT rate_revisions_new_value CHECK ((new_value IS NULL) = (kind = 'discarded')),
  CONSTRAINT rate_revisions_run CHECK ((run_id IS NULL) = (kind = 'discarded'))
) STRICT;
INSERT INTO rate_revisions SELECT * FROM rate_revisions_before;
DELETE FROM sqlite_sequence WHERE name = 'rate_revisions';
UPDATE sqlite_sequence SET name = 'rate_revisions' WHERE name = 'rate_revisions_before';
CREATE INDEX rate_revisions_by_series ON rate_revisions (series_id, rate_date);
DROP TABLE rate_revisions_before;
`,
  postgres: `
ALTER TABLE rate_revisions
  DROP CONSTRAINT IF EXISTS rate_revisions_kind_check,
  ADD CONSTRAINT rate_revisions_kind_check CHECK (kind IN ('correction', 'refined', 'discarded')),
  ALTER COLUMN new_value DROP NOT NULL,
  ALTER COLUMN run_id DROP NOT NULL,
  DROP CONSTRAINT IF EXISTS rate_revisions_new_value,
  ADD CONSTRAINT rate_revisions_new_value CHECK ((new_value IS NULL) = (kind = 'discarded')),
  DROP CONSTRAINT IF EXISTS rate_revisions_run,
  ADD CONSTRAINT rate_revisions_run CHECK ((run_id IS NULL) = (kind = 'discarded'));
`,
}

export const SHARED_MIGRATIONS: readonly Migration[] = [{ sql: DISCARDED_RATES }]

/** The schema of a program that has these. */
export function schemaOf(migrations: readonly Migration[]): number {
  return FIRST_SHARED_SCHEMA + migrations.length
}

/** The oldest schema whose programs understand what these make. */
export function oldestOf(migrations: readonly Migration[]): number {
  return migrations.reduce((oldest, one) => one.oldest ?? oldest, FIRST_SHARED_SCHEMA)
}
