// Migrations from schema 7 to 20, and the form of a migration; migrations.ts has the rules and the later ones.

export type Migration = {
  /** Two texts where the SQL of the engines differs. */
  sql: string | { sqlite: string; postgres: string }
  /** Oldest schema whose programs work with the result; undefined: as before this entry. */
  oldest?: number
}

// SQLite changes a column only by a new table. Programs of the previous schema write rows that the new constraints
// allow, and skip unknown kinds of revision.
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

// PostgreSQL has both tables already.
const PAGE_SESSIONS = `
CREATE TABLE page_sessions (
  id        TEXT PRIMARY KEY,
  page      TEXT NOT NULL,
  key       TEXT,
  token     TEXT,
  opened_at TEXT NOT NULL,
  used_at   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX page_sessions_by_use ON page_sessions (used_at);
CREATE TABLE page_tickets (
  hash        TEXT PRIMARY KEY,
  session_id  TEXT NOT NULL,
  document_id INTEGER,
  format      TEXT,
  ends_at     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX page_tickets_by_end ON page_tickets (ends_at);
`

// PostgreSQL has both since schema 7.
const LEASES_IN_ROWS = `
ALTER TABLE documents ADD COLUMN lease_ends INTEGER;
CREATE INDEX documents_open ON documents (agent_id, id) WHERE state IN ('new', 'claimed');
`

// PostgreSQL has these since schema 7, except in databases that were made before the last of them was added.
const CONTENTS = `
ALTER TABLE meta ADD COLUMN contents_mark TEXT;
ALTER TABLE meta ADD COLUMN contents_listed_at TEXT;
CREATE TABLE contents (
  sha256     TEXT    NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
  object     TEXT,
  size       INTEGER NOT NULL,
  created_at TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX contents_by_object ON contents (object) WHERE object IS NOT NULL;
CREATE TABLE removed_objects (
  object     TEXT NOT NULL PRIMARY KEY,
  removed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_objects_by_age ON removed_objects (removed_at);
`
// The blobs of one machine are files: each row has one.
const CONTENTS_OF_FILES = `
INSERT INTO contents (sha256, object, size, created_at)
  SELECT sha256, NULL, max(size), min(created_at) FROM attachments GROUP BY sha256;
`

const LOSSES = `
CREATE TABLE losses (
  lost_from TEXT NOT NULL,
  lost_to   TEXT NOT NULL
) STRICT;
CREATE TABLE orphaned_contents (
  object    TEXT    NOT NULL PRIMARY KEY,
  sha256    TEXT    NOT NULL,
  size      INTEGER NOT NULL,
  stored_at TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
`
// A cluster records which server its rows come from (postgres/lineage.ts). A file has none.
const LINEAGE = `
ALTER TABLE meta ADD COLUMN timeline INTEGER;
ALTER TABLE meta ADD COLUMN server_id TEXT;
ALTER TABLE meta ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
`

// Sessions of persons, the reasons of their end, and the failures of runs by code.
const NAMED_SESSIONS = `
ALTER TABLE login_links ADD COLUMN person TEXT;
ALTER TABLE page_sessions ADD COLUMN person TEXT;
ALTER TABLE page_sessions ADD COLUMN remember INTEGER NOT NULL DEFAULT 0 CHECK (remember IN (0, 1));
ALTER TABLE page_sessions ADD COLUMN ended_at TEXT;
ALTER TABLE page_sessions ADD COLUMN end_reason TEXT;
CREATE INDEX page_sessions_by_page ON page_sessions (page);
ALTER TABLE sync_runs ADD COLUMN failures TEXT;
`

// The row of the agent 0 has the next server count all documents.
const DOCUMENT_COUNTS = `
ALTER TABLE documents ADD COLUMN claimed_at TEXT;
ALTER TABLE documents ADD COLUMN name_folded TEXT;
ALTER TABLE events ADD COLUMN person TEXT;
ALTER TABLE events ADD COLUMN attempt INTEGER;
ALTER TABLE events ADD COLUMN note TEXT;
CREATE TABLE document_counts (
  id         INTEGER PRIMARY KEY,
  agent_id   INTEGER NOT NULL,
  day        TEXT,
  seconds    INTEGER,
  new        INTEGER NOT NULL DEFAULT 0,
  claimed    INTEGER NOT NULL DEFAULT 0,
  done       INTEGER NOT NULL DEFAULT 0,
  failed     INTEGER NOT NULL DEFAULT 0,
  bytes      INTEGER NOT NULL DEFAULT 0,
  changes    INTEGER NOT NULL DEFAULT 0,
  failed_at  TEXT,
  claimed_at TEXT,
  claimed_by TEXT
) STRICT;
INSERT INTO document_counts (agent_id) VALUES (0) ON CONFLICT DO NOTHING;
CREATE INDEX documents_by_arrival ON documents (created_at, id);
CREATE INDEX documents_unfolded ON documents (id) WHERE name_folded IS NULL;
`

const RECORD_END = `
CREATE TABLE record_end (
  id          INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  recorded_at INTEGER NOT NULL,
  revision    INTEGER NOT NULL
) STRICT;
INSERT INTO record_end (id, recorded_at, revision) VALUES (1, 0, 0) ON CONFLICT DO NOTHING;
`

// Corrections from before are not reported to hooks.
const HOOK_HISTORY = `
ALTER TABLE providers ADD COLUMN reported_revision INTEGER NOT NULL DEFAULT 0;
UPDATE providers SET reported_revision = coalesce((SELECT max(id) FROM rate_revisions), 0);
CREATE TABLE hook_deliveries (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  hook_id    INTEGER NOT NULL REFERENCES hooks (id),
  message_id TEXT    NOT NULL,
  type       TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  created_at TEXT    NOT NULL,
  tries      INTEGER NOT NULL,
  ended_at   TEXT    NOT NULL,
  status     INTEGER,
  failure    TEXT
) STRICT;
CREATE INDEX hook_deliveries_by_hook ON hook_deliveries (hook_id, id);
CREATE INDEX hook_deliveries_by_end ON hook_deliveries (ended_at);
`

const KEY_USE = `
ALTER TABLE api_keys ADD COLUMN origins TEXT;
CREATE TABLE key_use (
  key_id   INTEGER NOT NULL REFERENCES api_keys (id),
  day      TEXT    NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (key_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE key_networks (
  key_id       INTEGER NOT NULL REFERENCES api_keys (id),
  network      TEXT    NOT NULL,
  last_used_at TEXT    NOT NULL,
  PRIMARY KEY (key_id, network)
) STRICT, WITHOUT ROWID;
`

const DOCUMENT_RESULTS = `
ALTER TABLE events ADD COLUMN size INTEGER;
CREATE TABLE document_results (
  document_id INTEGER NOT NULL PRIMARY KEY REFERENCES documents (id),
  result      TEXT    NOT NULL,
  size        INTEGER NOT NULL
) STRICT;
`

const PRIORITIES = `
ALTER TABLE documents ADD COLUMN priority INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 9);
CREATE INDEX documents_by_priority ON documents (agent_id, priority DESC, id) WHERE state IN ('new', 'claimed');
`

const UPLOAD_LINKS = `
CREATE TABLE upload_links (
  hash       TEXT PRIMARY KEY CHECK (length(hash) = 64),
  token_id   INTEGER NOT NULL REFERENCES tokens (id),
  company_id INTEGER NOT NULL,
  agent_id   INTEGER NOT NULL,
  owner_id   INTEGER NOT NULL,
  name       TEXT    NOT NULL,
  mimetype   TEXT    NOT NULL,
  max_bytes  INTEGER NOT NULL,
  ends_at    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX upload_links_by_end ON upload_links (ends_at);
`

export const EARLIER_MIGRATIONS: readonly Migration[] = [
  { sql: DISCARDED_RATES },
  { sql: PAGE_SESSIONS },
  { sql: LEASES_IN_ROWS },
  { sql: { sqlite: CONTENTS + CONTENTS_OF_FILES, postgres: CONTENTS } },
  { sql: { sqlite: LOSSES, postgres: LOSSES + LINEAGE } },
  { sql: NAMED_SESSIONS },
  { sql: DOCUMENT_COUNTS },
  { sql: RECORD_END },
  { sql: HOOK_HISTORY },
  { sql: KEY_USE },
  { sql: DOCUMENT_RESULTS },
  { sql: PRIORITIES },
  { sql: UPLOAD_LINKS },
]
