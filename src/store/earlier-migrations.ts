// Migrations from schema 12 to 20, and the form of a migration; migrations.ts has the rules and the later ones.

export type Migration = {
  /** Two texts where the SQL of the engines differs. */
  sql: string | { sqlite: string; postgres: string }
  /** Oldest schema whose programs work with the result; undefined: as before this entry. */
  oldest?: number
}

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
  { sql: NAMED_SESSIONS },
  { sql: DOCUMENT_COUNTS },
  { sql: RECORD_END },
  { sql: HOOK_HISTORY },
  { sql: KEY_USE },
  { sql: DOCUMENT_RESULTS },
  { sql: PRIORITIES },
  { sql: UPLOAD_LINKS },
]
