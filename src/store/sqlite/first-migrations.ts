// The migrations up to version 4 (migrations.ts has the list and what came later).

export const DOCUMENTS = `
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

export const TOKENS_OF_A_COMPANY = `ALTER TABLE tokens ADD COLUMN company_id INTEGER REFERENCES companies (id)`

// What was stored before is known since now. Each covered interval stays; values outside of it are intervals of their
// own runs of days (decisions 2.6). The counters go over too, so that no id is given a second time.
const COVERAGE_AND_HISTORY = `
ALTER TABLE rates RENAME TO rates_before;
CREATE TABLE rates (
  series_id  INTEGER NOT NULL REFERENCES series (id),
  rate_date  TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  rounded_to INTEGER,
  stored_at  INTEGER NOT NULL,
  PRIMARY KEY (series_id, rate_date)
) STRICT, WITHOUT ROWID;
INSERT INTO rates
  SELECT series_id, rate_date, value, rounded_to, now
  FROM rates_before, (SELECT cast(round(unixepoch('now', 'subsec') * 1000) AS INTEGER) AS now)
  ORDER BY series_id, rate_date;
DROP TABLE rates_before;
CREATE INDEX rates_rounded ON rates (rate_date, series_id) WHERE rounded_to IS NOT NULL;

CREATE TABLE coverage (
  series_id    INTEGER NOT NULL REFERENCES series (id),
  kind         TEXT    NOT NULL CHECK (kind IN ('answered', 'final', 'exact')),
  covered_from TEXT    NOT NULL,
  covered_to   TEXT    NOT NULL,
  PRIMARY KEY (series_id, kind, covered_from),
  CHECK (covered_from <= covered_to)
) STRICT, WITHOUT ROWID;
WITH pieces AS (
  SELECT series_id, covered_from, covered_to FROM feeds
  UNION ALL
  SELECT series_id, rate_date, rate_date FROM rates
  WHERE NOT EXISTS (
    SELECT 1 FROM feeds WHERE feeds.series_id = rates.series_id AND rate_date BETWEEN covered_from AND covered_to
  )
), joined AS (
  SELECT *, covered_from > date(lag(covered_to) OVER by_day, '+1 day') IS NOT FALSE AS begins
  FROM pieces WINDOW by_day AS (PARTITION BY series_id ORDER BY covered_from)
), runs AS (
  SELECT *, sum(begins) OVER (PARTITION BY series_id ORDER BY covered_from) AS run FROM joined
)
INSERT INTO coverage
  SELECT series_id, 'answered', min(covered_from), max(covered_to) FROM runs GROUP BY series_id, run;
INSERT INTO coverage
  SELECT series_id, 'final', covered_from, date(covered_to, '-16 days') FROM feeds
  WHERE covered_from <= date(covered_to, '-16 days');
DROP TABLE feeds;

DROP INDEX rate_revisions_by_series;
ALTER TABLE rate_revisions RENAME TO rate_revisions_before;
ALTER TABLE sync_runs RENAME TO sync_runs_before;
CREATE TABLE sync_runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  provider_id INTEGER NOT NULL REFERENCES providers (id),
  trigger     TEXT    NOT NULL CHECK (trigger IN ('scheduler', 'startup', 'retry', 'cli', 'refine')),
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
INSERT INTO sync_runs SELECT *, NULL, 0 FROM sync_runs_before;
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
INSERT INTO rate_revisions
  SELECT id, series_id, rate_date, 'correction', old_value, NULL, NULL, new_value, replaced_at, run_id
  FROM rate_revisions_before;
CREATE INDEX rate_revisions_by_series ON rate_revisions (series_id, rate_date);
DELETE FROM sqlite_sequence WHERE name IN ('sync_runs', 'rate_revisions');
INSERT INTO sqlite_sequence (name, seq)
  SELECT replace(name, '_before', ''), seq FROM sqlite_sequence
  WHERE name IN ('sync_runs_before', 'rate_revisions_before');
DROP TABLE rate_revisions_before;
DROP TABLE sync_runs_before;
`

const LOST_CONTENTS = `
CREATE TABLE lost_contents (
  sha256 TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
  fault  TEXT NOT NULL,
  since  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`

// Who made the documents that are there is not known; what their companies use is.
const ACTORS_AND_QUOTAS = `
ALTER TABLE companies ADD COLUMN quota INTEGER;
ALTER TABLE companies ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
UPDATE companies SET used = (
  SELECT coalesce(sum(size), 0) FROM documents JOIN attachments ON attachments.id = documents.attachment_id
  WHERE documents.company_id = companies.id
);
ALTER TABLE tokens ADD COLUMN quota INTEGER;
ALTER TABLE tokens ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN created_by INTEGER REFERENCES tokens (id);
CREATE TABLE events (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          TEXT    NOT NULL,
  kind        TEXT    NOT NULL,
  via         TEXT    NOT NULL CHECK (via IN ('token', 'cli')),
  actor       TEXT    NOT NULL,
  document_id INTEGER NOT NULL,
  company_id  INTEGER NOT NULL,
  sha256      TEXT CHECK (length(sha256) = 64)
) STRICT;
CREATE INDEX events_by_document ON events (document_id, id);
CREATE INDEX events_by_age ON events (at);
`

const ROTATION = `
ALTER TABLE api_keys ADD COLUMN expires_at TEXT;
ALTER TABLE api_keys ADD COLUMN kind TEXT NOT NULL DEFAULT 'header' CHECK (kind IN ('header', 'url', 'bank'));
ALTER TABLE api_keys ADD COLUMN side TEXT NOT NULL DEFAULT 'venta' CHECK (side IN ('compra', 'venta'));
ALTER TABLE api_keys ADD COLUMN network TEXT;
CREATE TABLE former_secrets (
  hash         TEXT PRIMARY KEY,
  key_id       INTEGER REFERENCES api_keys (id),
  token_id     INTEGER REFERENCES tokens (id),
  ends_at      TEXT NOT NULL,
  last_used_at TEXT,
  CHECK ((key_id IS NULL) <> (token_id IS NULL))
) STRICT, WITHOUT ROWID;
`

// What one released version changed is one entry.
export const COVERAGE_TO_ROTATION = COVERAGE_AND_HISTORY + LOST_CONTENTS + ACTORS_AND_QUOTAS + ROTATION
