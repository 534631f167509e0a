-- The whole schema of a new cambista database, version 1. A file of an older version is brought here
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

INSERT INTO meta (id, data_revision, epoch) VALUES (1, 1, lower(hex(randomblob(8))));
