// Brings a database file of an older version to today's schema. Append only: entry N takes version N + 1
// to N + 2. schema.sql is what a new file gets, with the reasons; a test compares both ways.

const DOCUMENTS = `
CREATE TABLE companies (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  code       TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
) STRICT;
CREATE TABLE owners (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  company_id INTEGER REFERENCES companies (id),
  created_at TEXT NOT NULL
) STRICT;
CREATE TABLE agents (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  company_id  INTEGER NOT NULL REFERENCES companies (id),
  name        TEXT    NOT NULL,
  description TEXT    NOT NULL DEFAULT '',
  active      INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  created_at  TEXT    NOT NULL
) STRICT;
CREATE INDEX agents_by_company ON agents (company_id);
CREATE TABLE tokens (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  name         TEXT NOT NULL,
  hash         TEXT NOT NULL UNIQUE,
  allow        TEXT NOT NULL,
  expires_at   TEXT,
  created_at   TEXT NOT NULL,
  last_used_at TEXT,
  revoked_at   TEXT
) STRICT;
CREATE UNIQUE INDEX tokens_active_name ON tokens (name) WHERE revoked_at IS NULL;
CREATE TABLE attachments (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT    NOT NULL,
  mimetype   TEXT    NOT NULL,
  size       INTEGER NOT NULL,
  sha256     TEXT    NOT NULL CHECK (length(sha256) = 64),
  created_at TEXT    NOT NULL
) STRICT;
CREATE INDEX attachments_by_blob ON attachments (sha256);
CREATE TABLE documents (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  attachment_id INTEGER NOT NULL UNIQUE REFERENCES attachments (id),
  company_id    INTEGER NOT NULL REFERENCES companies (id),
  agent_id      INTEGER NOT NULL REFERENCES agents (id),
  owner_id      INTEGER NOT NULL REFERENCES owners (id),
  name          TEXT    NOT NULL,
  created_at    TEXT    NOT NULL
) STRICT;
CREATE INDEX documents_by_company ON documents (company_id, id);
CREATE INDEX documents_by_agent ON documents (agent_id, id);
CREATE INDEX documents_by_owner ON documents (owner_id);
CREATE TABLE idempotency (
  token_id    INTEGER NOT NULL REFERENCES tokens (id),
  key         TEXT    NOT NULL,
  fingerprint TEXT    NOT NULL,
  answer      TEXT    NOT NULL,
  created_at  TEXT    NOT NULL,
  PRIMARY KEY (token_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
`

const TOKENS_OF_A_COMPANY = `ALTER TABLE tokens ADD COLUMN company_id INTEGER REFERENCES companies (id)`

export const MIGRATIONS: readonly string[] = [DOCUMENTS, TOKENS_OF_A_COMPANY]

export const SCHEMA_VERSION = MIGRATIONS.length + 1
