// Brings a database file of an older version to today's schema. Entry N takes version N + 1 to N + 2. What comes next is
// added to those of both engines. schema.sql is what a new file gets, with the reasons; a test compares both ways.

import { SHARED_MIGRATIONS } from '../migrations.ts'
import { COVERAGE_TO_ROTATION, DOCUMENTS, TOKENS_OF_A_COMPANY } from './first-migrations.ts'

const LOGIN_LINKS = `
CREATE TABLE login_links (
  hash     TEXT PRIMARY KEY CHECK (length(hash) = 64),
  key_id   INTEGER REFERENCES api_keys (id),
  token_id INTEGER REFERENCES tokens (id),
  ends_at  TEXT NOT NULL,
  CHECK (key_id IS NOT NULL OR token_id IS NOT NULL)
) STRICT, WITHOUT ROWID;
DROP INDEX events_by_document;
DROP INDEX events_by_age;
ALTER TABLE events RENAME TO events_before;
CREATE TABLE events (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          TEXT    NOT NULL,
  kind        TEXT    NOT NULL,
  via         TEXT    NOT NULL CHECK (via IN ('key', 'token', 'cli')),
  actor       TEXT    NOT NULL,
  document_id INTEGER,
  company_id  INTEGER,
  sha256      TEXT CHECK (length(sha256) = 64)
) STRICT;
INSERT INTO events SELECT * FROM events_before ORDER BY id;
DELETE FROM sqlite_sequence WHERE name = 'events';
UPDATE sqlite_sequence SET name = 'events' WHERE name = 'events_before';
DROP TABLE events_before;
CREATE INDEX events_by_document ON events (document_id, id);
CREATE INDEX events_by_age ON events (at);
`

const AGENTS_DESK = `
ALTER TABLE tokens ADD COLUMN agent_id INTEGER REFERENCES agents (id);
ALTER TABLE documents ADD COLUMN state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'claimed', 'done', 'failed'));
ALTER TABLE documents ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN claim_id TEXT;
ALTER TABLE documents ADD COLUMN lease_seconds INTEGER;
ALTER TABLE documents ADD COLUMN finished_at TEXT;
ALTER TABLE documents ADD COLUMN finished_by INTEGER REFERENCES tokens (id);
ALTER TABLE documents ADD COLUMN note TEXT;
CREATE INDEX documents_by_agent_state ON documents (agent_id, state, id);
CREATE INDEX documents_by_state ON documents (state, id);
DROP INDEX events_by_document;
DROP INDEX events_by_age;
ALTER TABLE events RENAME TO events_before;
CREATE TABLE events (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          TEXT    NOT NULL,
  kind        TEXT    NOT NULL,
  via         TEXT    NOT NULL CHECK (via IN ('key', 'token', 'cli', 'server')),
  actor       TEXT    NOT NULL,
  document_id INTEGER,
  company_id  INTEGER,
  sha256      TEXT CHECK (length(sha256) = 64),
  created_at  TEXT,
  created_by  TEXT
) STRICT;
INSERT INTO events SELECT *, NULL, NULL FROM events_before ORDER BY id;
DELETE FROM sqlite_sequence WHERE name = 'events';
UPDATE sqlite_sequence SET name = 'events' WHERE name = 'events_before';
DROP TABLE events_before;
CREATE INDEX events_by_document ON events (document_id, id);
CREATE INDEX events_by_age ON events (at);
`

const HOOKS = `
CREATE TABLE hooks (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  url            TEXT    NOT NULL,
  events         TEXT    NOT NULL,
  company_id     INTEGER REFERENCES companies (id),
  agent_id       INTEGER REFERENCES agents (id),
  secret         BLOB    NOT NULL,
  former_secret  BLOB,
  former_ends_at TEXT,
  created_at     TEXT    NOT NULL,
  sent_at        TEXT,
  failing_since  TEXT,
  failure        TEXT,
  off_at         TEXT,
  given_up       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX hooks_by_agent ON hooks (agent_id);
CREATE TABLE hook_messages (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  hook_id    INTEGER NOT NULL REFERENCES hooks (id),
  message_id TEXT    NOT NULL,
  type       TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  created_at TEXT    NOT NULL,
  tries      INTEGER NOT NULL DEFAULT 0,
  due_at     TEXT    NOT NULL
) STRICT;
CREATE INDEX hook_messages_by_hook ON hook_messages (hook_id);
CREATE INDEX hook_messages_due ON hook_messages (hook_id, due_at);
CREATE TABLE hook_days (
  provider_id INTEGER NOT NULL REFERENCES providers (id),
  day         TEXT    NOT NULL,
  PRIMARY KEY (provider_id, day)
) STRICT, WITHOUT ROWID;
`

const IMPORTED_RUNS = `
DROP INDEX rate_revisions_by_series;
ALTER TABLE rate_revisions RENAME TO rate_revisions_before;
ALTER TABLE sync_runs RENAME TO sync_runs_before;
CREATE TABLE sync_runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  provider_id INTEGER NOT NULL REFERENCES providers (id),
  trigger     TEXT    NOT NULL CHECK (trigger IN ('scheduler', 'startup', 'retry', 'cli', 'refine', 'import')),
  status      TEXT    NOT NULL CHECK (status IN ('ok', 'parcial', 'error')),
  date_from   TEXT,
  date_to     TEXT,
  inserted    INTEGER NOT NULL DEFAULT 0,
  updated     INTEGER NOT NULL DEFAULT 0,
  unchanged   INTEGER NOT NULL DEFAULT 0,
  message     TEXT,
  started_at  TEXT    NOT NULL,
  finished_at TEXT,
  token_hash  TEXT CHECK (length(token_hash) = 64),
  token_only  INTEGER NOT NULL DEFAULT 0 CHECK (token_only IN (0, 1))
) STRICT;
INSERT INTO sync_runs SELECT * FROM sync_runs_before;
CREATE TABLE rate_revisions (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  series_id      INTEGER NOT NULL REFERENCES series (id),
  rate_date      TEXT    NOT NULL,
  kind           TEXT    NOT NULL CHECK (kind IN ('correction', 'refined')),
  old_value      TEXT    NOT NULL,
  old_rounded_to INTEGER,
  old_stored_at  INTEGER,
  new_value      TEXT    NOT NULL,
  replaced_at    TEXT    NOT NULL,
  run_id         INTEGER NOT NULL REFERENCES sync_runs (id)
) STRICT;
INSERT INTO rate_revisions SELECT * FROM rate_revisions_before;
CREATE INDEX rate_revisions_by_series ON rate_revisions (series_id, rate_date);
DELETE FROM sqlite_sequence WHERE name IN ('sync_runs', 'rate_revisions');
INSERT INTO sqlite_sequence (name, seq)
  SELECT replace(name, '_before', ''), seq FROM sqlite_sequence
  WHERE name IN ('sync_runs_before', 'rate_revisions_before');
DROP TABLE rate_revisions_before;
DROP TABLE sync_runs_before;
`

// What was covered before has no instant. The record begins with the oldest instant of a value; but an import brought
// instants of another server along, so that it begins after the last of them.
const RECORD = `
ALTER TABLE meta ADD COLUMN record_from INTEGER;
ALTER TABLE meta ADD COLUMN coverage_from INTEGER;
UPDATE meta SET coverage_from = cast(round(unixepoch('now', 'subsec') * 1000) AS INTEGER);
UPDATE meta SET record_from = coalesce(
  (SELECT cast(round(unixepoch(max(coalesce(finished_at, started_at)), 'subsec') * 1000) AS INTEGER)
    FROM sync_runs WHERE trigger = 'import'),
  (SELECT min(at) FROM (
    SELECT min(stored_at) AS at FROM rates UNION ALL SELECT min(old_stored_at) FROM rate_revisions
  )),
  coverage_from
);
CREATE TABLE coverage_changes (
  id         INTEGER PRIMARY KEY,
  changed_at INTEGER NOT NULL,
  kind       TEXT    NOT NULL CHECK (kind IN ('added', 'imported', 'removed')),
  days_from  TEXT    NOT NULL,
  days_to    TEXT    NOT NULL,
  series     TEXT    NOT NULL,
  CHECK (days_from <= days_to)
) STRICT;
CREATE INDEX coverage_changes_by_time ON coverage_changes (changed_at);
CREATE TABLE catalogue_changes (
  id          INTEGER PRIMARY KEY,
  changed_at  INTEGER NOT NULL,
  kind        TEXT    NOT NULL CHECK (kind IN ('added', 'enabled', 'disabled')),
  provider_id INTEGER REFERENCES providers (id),
  series_id   INTEGER REFERENCES series (id),
  CHECK ((provider_id IS NULL) <> (series_id IS NULL))
) STRICT;
CREATE INDEX catalogue_changes_by_time ON catalogue_changes (changed_at);
CREATE TABLE record_gaps (
  gap_from INTEGER NOT NULL,
  gap_to   INTEGER NOT NULL,
  CHECK (gap_from < gap_to)
) STRICT;
`

// What one released version changed is one entry.
export const MIGRATIONS: readonly string[] = [
  DOCUMENTS,
  TOKENS_OF_A_COMPANY,
  COVERAGE_TO_ROTATION,
  LOGIN_LINKS,
  AGENTS_DESK + HOOKS + IMPORTED_RUNS,
  RECORD,
  ...SHARED_MIGRATIONS.map(({ sql }) => (typeof sql === 'string' ? sql : sql.sqlite)),
]

export const SCHEMA_VERSION = MIGRATIONS.length + 1
