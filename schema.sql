-- The whole schema of a new cambista database. A file of an older version is brought here
-- by src/store/migrations.ts; a test builds a database both ways and compares them.
--
-- Conventions: dates are 'YYYY-MM-DD', instants RFC 3339 in UTC, rates canonical decimals as TEXT
-- (no exponent, no needless zeros), so that the bank's digits are never touched by a float.

-- One row. `data_revision` rises with every transaction that changes rates or the catalogue: caches and
-- ETags hang on it. `epoch` is random and made anew by a restore, so that a revision never means two things.
CREATE TABLE meta (
  id            INTEGER PRIMARY KEY CHECK (id = 1),
  data_revision INTEGER NOT NULL,
  epoch         TEXT    NOT NULL
) STRICT;

CREATE TABLE providers (
  id      INTEGER PRIMARY KEY,
  code    TEXT    NOT NULL UNIQUE,
  name    TEXT    NOT NULL,
  country TEXT    NOT NULL,
  website TEXT,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1))
) STRICT;

-- A series is a provider, a pair and a rate type. Its id is public and never changes.
CREATE TABLE series (
  id             INTEGER PRIMARY KEY,
  provider_id    INTEGER NOT NULL REFERENCES providers (id),
  external_code  TEXT    NOT NULL,                 -- the provider's own code, digits at the BCCR
  name           TEXT    NOT NULL,
  base_currency  TEXT    NOT NULL CHECK (length(base_currency) = 3),
  quote_currency TEXT    NOT NULL CHECK (length(quote_currency) = 3),
  rate_type      TEXT    NOT NULL CHECK (rate_type IN ('compra', 'venta', 'referencia')),
  unit           TEXT,
  periodicity    TEXT,
  enabled        INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  revision       INTEGER NOT NULL DEFAULT 0,       -- the data revision at which its rates last changed
  UNIQUE (provider_id, external_code),
  UNIQUE (provider_id, base_currency, quote_currency, rate_type)
) STRICT;

-- `rounded_to`: the value was read from a source that rounds to so many decimals; NULL is the exact value.
CREATE TABLE rates (
  series_id  INTEGER NOT NULL REFERENCES series (id),
  rate_date  TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  rounded_to INTEGER,
  PRIMARY KEY (series_id, rate_date)
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  provider_id INTEGER NOT NULL REFERENCES providers (id),
  trigger     TEXT    NOT NULL CHECK (trigger IN ('scheduler', 'startup', 'retry', 'cli')),
  status      TEXT    NOT NULL CHECK (status IN ('ok', 'parcial', 'error')),
  date_from   TEXT,
  date_to     TEXT,
  inserted    INTEGER NOT NULL DEFAULT 0,
  updated     INTEGER NOT NULL DEFAULT 0,
  unchanged   INTEGER NOT NULL DEFAULT 0,
  message     TEXT,
  started_at  TEXT    NOT NULL,
  finished_at TEXT                                 -- NULL while it runs
) STRICT;

-- Every published value that was replaced by another one, for the accountant who booked the first.
CREATE TABLE rate_revisions (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  series_id   INTEGER NOT NULL REFERENCES series (id),
  rate_date   TEXT    NOT NULL,
  old_value   TEXT    NOT NULL,
  new_value   TEXT    NOT NULL,
  replaced_at TEXT    NOT NULL,
  run_id      INTEGER NOT NULL REFERENCES sync_runs (id)
) STRICT;
CREATE INDEX rate_revisions_by_series ON rate_revisions (series_id, rate_date);

-- The interval of days, ends included, that was asked for and validly answered: no gap inside it.
CREATE TABLE feeds (
  series_id    INTEGER PRIMARY KEY REFERENCES series (id),
  covered_from TEXT NOT NULL,
  covered_to   TEXT NOT NULL,
  CHECK (covered_from <= covered_to)
) STRICT;

-- Keys of the rates API. Only the SHA-256 of a key is kept.
CREATE TABLE api_keys (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  name         TEXT NOT NULL,
  hash         TEXT NOT NULL UNIQUE,
  created_at   TEXT NOT NULL,
  last_used_at TEXT,                               -- to the minute or so
  revoked_at   TEXT
) STRICT;
CREATE UNIQUE INDEX api_keys_active_name ON api_keys (name) WHERE revoked_at IS NULL;

-- Whose documents they are. Ids may be the ERP's own; the code is what the agent side knows a company by.
CREATE TABLE companies (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  code       TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
) STRICT;

-- An owner belongs to one company, or to none and may then own documents of any.
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
  description TEXT    NOT NULL DEFAULT '',         -- HTML as given; answered as plain text
  active      INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  created_at  TEXT    NOT NULL
) STRICT;
CREATE INDEX agents_by_company ON agents (company_id);

-- Tokens of the documents API. Only the SHA-256 of a token is kept. `allow` lists what it may do, such as
-- 'documents:POST agent:POST'. To a token with a company every other company is not there.
CREATE TABLE tokens (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  name         TEXT NOT NULL,
  hash         TEXT NOT NULL UNIQUE,
  allow        TEXT NOT NULL,
  expires_at   TEXT,
  created_at   TEXT NOT NULL,
  last_used_at TEXT,                               -- to the minute or so
  revoked_at   TEXT,
  company_id   INTEGER REFERENCES companies (id)
) STRICT;
CREATE UNIQUE INDEX tokens_active_name ON tokens (name) WHERE revoked_at IS NULL;

-- One row for each uploaded file. Several may name one blob: contents are stored once, by their SHA-256.
CREATE TABLE attachments (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT    NOT NULL,
  mimetype   TEXT    NOT NULL,
  size       INTEGER NOT NULL,                     -- bytes
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

-- Answers of uploads that named an Idempotency-Key, kept for 24 hours to be given again.
CREATE TABLE idempotency (
  token_id    INTEGER NOT NULL REFERENCES tokens (id),
  key         TEXT    NOT NULL,
  fingerprint TEXT    NOT NULL,                    -- SHA-256 of what was asked for, contents included
  answer      TEXT    NOT NULL,
  created_at  TEXT    NOT NULL,
  PRIMARY KEY (token_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

INSERT INTO meta (id, data_revision, epoch) VALUES (1, 1, lower(hex(randomblob(8))));
