// Brings a database file of an older version to today's schema. Append only: entry N takes version N + 1
// to N + 2. schema.sql is what a new file gets; a test compares both ways.

export const MIGRATIONS: readonly string[] = []

export const SCHEMA_VERSION = MIGRATIONS.length + 1
