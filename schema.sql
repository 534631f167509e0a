-- The whole schema of a new cambista database. A file of an older version is brought here
-- by src/store/sqlite/migrations.ts; a test builds a database both ways and compares them.
--
-- Conventions: dates are 'YYYY-MM-DD', instants RFC 3339 in UTC, rates canonical decimals as TEXT
-- (no exponent, no needless zeros), so that the bank's digits are never touched by a float.

-- One row. `data_revision` rises with every transaction that changes rates or the catalogue: caches and
-- ETags hang on it. `epoch` is random and made anew by a restore, so that a revision never means two things.
-- Of a store that is older than the record below, in milliseconds: `record_from` is since when it knows when its values
-- were stored, `coverage_from` since when changes of the coverage are recorded; NULL: from its beginning on.
CREATE TABLE meta (
  id            INTEGER PRIMARY KEY CHECK (id = 1),
  data_revision INTEGER NOT NULL,
  epoch         TEXT    NOT NULL,
  record_from   INTEGER,
  coverage_from INTEGER
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
-- `stored_at`: when the value, as it stands here, was committed: milliseconds since 1970 in UTC, because an
-- instant as text would double the largest table.
CREATE TABLE rates (
  series_id  INTEGER NOT NULL REFERENCES series (id),
  rate_date  TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  rounded_to INTEGER,
  stored_at  INTEGER NOT NULL,
  PRIMARY KEY (series_id, rate_date)
) STRICT, WITHOUT ROWID;
CREATE INDEX rates_rounded ON rates (rate_date, series_id) WHERE rounded_to IS NOT NULL;

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
  finished_at TEXT,                                -- NULL while it runs
  token_hash  TEXT CHECK (length(token_hash) = 64), -- SHA-256 of the token that the run was given; NULL: none
  token_only  INTEGER NOT NULL DEFAULT 0 CHECK (token_only IN (0, 1)) -- 1: all that failed is that it was refused
) STRICT;

-- Every stored value that was replaced by another one, for the accountant who booked the first. `refined`: the bank
-- corrected nothing, a rounded value became an exact one that it agrees with. `discarded`: an operator removed a value of
-- a day that was yet to come; no other value and no run took its place. `old_stored_at` is NULL where it was not written
-- down yet.
CREATE TABLE rate_revisions (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  series_id      INTEGER NOT NULL REFERENCES series (id),
  rate_date      TEXT    NOT NULL,
  kind           TEXT    NOT NULL CHECK (kind IN ('correction', 'refined', 'discarded')),
  old_value      TEXT    NOT NULL,
  old_rounded_to INTEGER,
  old_stored_at  INTEGER,                          -- as rates.stored_at
  new_value      TEXT,                             -- NULL: discarded
  replaced_at    TEXT    NOT NULL,
  run_id         INTEGER REFERENCES sync_runs (id), -- NULL: discarded
  CONSTRAINT rate_revisions_new_value CHECK ((new_value IS NULL) = (kind = 'discarded')),
  CONSTRAINT rate_revisions_run CHECK ((run_id IS NULL) = (kind = 'discarded'))
) STRICT;
CREATE INDEX rate_revisions_by_series ON rate_revisions (series_id, rate_date);

-- The days of each series that were asked for and validly answered, as intervals, ends included, that neither
-- overlap nor touch. Of these days, `final` are those that were asked for two weeks after their date or later, when
-- nothing is corrected any more, and `exact` those that a source answered that does not round: what is still rounded
-- there need not be asked for again.
CREATE TABLE coverage (
  series_id    INTEGER NOT NULL REFERENCES series (id),
  kind         TEXT    NOT NULL CHECK (kind IN ('answered', 'final', 'exact')),
  covered_from TEXT    NOT NULL,
  covered_to   TEXT    NOT NULL,
  PRIMARY KEY (series_id, kind, covered_from),
  CHECK (covered_from <= covered_to)
) STRICT, WITHOUT ROWID;

-- The record: how coverage and catalogue came to be what they are, to be read backwards from there (decisions 2.22).
-- Instants are those of rates.stored_at. Nothing of it is ever removed.

-- Days that `coverage` has as answered since then, or has no more: one row for all series that changed alike, because a
-- day adds itself to nearly every one. `imported` is no change of coverage: of these days there was no value before, and
-- an import brought values that have the instants of another server.
CREATE TABLE coverage_changes (
  id         INTEGER PRIMARY KEY,
  changed_at INTEGER NOT NULL,
  kind       TEXT    NOT NULL CHECK (kind IN ('added', 'imported', 'removed')),
  days_from  TEXT    NOT NULL,
  days_to    TEXT    NOT NULL,
  series     TEXT    NOT NULL,                     -- their ids, a JSON array
  CHECK (days_from <= days_to)
) STRICT;
CREATE INDEX coverage_changes_by_time ON coverage_changes (changed_at);

-- Providers and series that were added, enabled or disabled.
CREATE TABLE catalogue_changes (
  id          INTEGER PRIMARY KEY,
  changed_at  INTEGER NOT NULL,
  kind        TEXT    NOT NULL CHECK (kind IN ('added', 'enabled', 'disabled')),
  provider_id INTEGER REFERENCES providers (id),
  series_id   INTEGER REFERENCES series (id),
  CHECK ((provider_id IS NULL) <> (series_id IS NULL))
) STRICT;
CREATE INDEX catalogue_changes_by_time ON catalogue_changes (changed_at);

-- What was stored and answered from the making of a backup until it was restored is lost.
CREATE TABLE record_gaps (
  gap_from INTEGER NOT NULL,
  gap_to   INTEGER NOT NULL,
  CHECK (gap_from < gap_to)
) STRICT;

-- Keys of the rates API. Only the SHA-256 of a key is kept. A name is that of one active key. A rotation changes its
-- hash, and nothing else of the row: what goes by id and name goes on. The hash before moves to former_secrets.
-- What ends in the logs of other programs is of a kind of its own, and opens less: one that a client may put into a URL
-- (`url`), and an old token of the bank, which its client sends as ever (`bank`).
CREATE TABLE api_keys (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  name         TEXT NOT NULL,
  hash         TEXT NOT NULL UNIQUE,
  created_at   TEXT NOT NULL,
  last_used_at TEXT,                               -- to the minute or so
  revoked_at   TEXT,
  expires_at   TEXT,                               -- the last day, in Costa Rica, on which it is valid
  kind         TEXT NOT NULL DEFAULT 'header' CHECK (kind IN ('header', 'url', 'bank')),
  side         TEXT NOT NULL DEFAULT 'venta' CHECK (side IN ('compra', 'venta')), -- for shapes that have one rate
  network      TEXT                                -- the networks it is good from, as given; NULL: any
) STRICT;
CREATE UNIQUE INDEX api_keys_active_name ON api_keys (name) WHERE revoked_at IS NULL;

-- Whose documents they are. Ids may be the ERP's own; the code is what the agent side knows a company by. `used` is
-- the sum of the sizes of its documents, kept by the transactions that write and delete them: over a million documents
-- it would take seconds to add up. Equal contents count each time, though they are stored once.
CREATE TABLE companies (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  code       TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  quota      INTEGER,                              -- bytes that its documents may have; NULL: any number
  used       INTEGER NOT NULL DEFAULT 0            -- bytes that they have
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
-- 'documents:POST agent:POST'. To a token with a company every other company is not there. `used` is the sum of the
-- sizes of the documents that it made, as that of a company; what earlier tokens of its name made counts against its
-- quota too.
-- Names and rotations are as with keys: what hangs on the token, such as idempotency keys, stays its own, whatever its
-- secret is today.
CREATE TABLE tokens (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  name         TEXT NOT NULL,
  hash         TEXT NOT NULL UNIQUE,
  allow        TEXT NOT NULL,
  expires_at   TEXT,                               -- as with keys
  created_at   TEXT NOT NULL,
  last_used_at TEXT,                               -- to the minute or so
  revoked_at   TEXT,
  company_id   INTEGER REFERENCES companies (id),
  quota        INTEGER,                            -- bytes; NULL: any number
  used         INTEGER NOT NULL DEFAULT 0,         -- bytes
  agent_id     INTEGER REFERENCES agents (id)      -- the only one whose documents it sees; NULL: any of its companies
) STRICT;
CREATE UNIQUE INDEX tokens_active_name ON tokens (name) WHERE revoked_at IS NULL;

-- What the secret of a key or token was before a rotation. It opens what the row opens, until ends_at and no longer;
-- nothing has to be done then. Several rotations in a row leave several.
CREATE TABLE former_secrets (
  hash         TEXT PRIMARY KEY,
  key_id       INTEGER REFERENCES api_keys (id),
  token_id     INTEGER REFERENCES tokens (id),
  ends_at      TEXT NOT NULL,
  last_used_at TEXT,
  CHECK ((key_id IS NULL) <> (token_id IS NULL))
) STRICT, WITHOUT ROWID;

-- Links that sign a browser in once (cambista web): the SHA-256 of the code in each, and the key, the token or both that it
-- signs in with. A link that is used is deleted; one that is not ends at ends_at, and the next that is made removes it.
CREATE TABLE login_links (
  hash     TEXT PRIMARY KEY CHECK (length(hash) = 64),
  key_id   INTEGER REFERENCES api_keys (id),
  token_id INTEGER REFERENCES tokens (id),
  ends_at  TEXT NOT NULL,
  CHECK (key_id IS NOT NULL OR token_id IS NOT NULL)
) STRICT, WITHOUT ROWID;

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

-- `state`: 'new' until a worker of its agent claims it. A claim is known by `claim_id`, and holds the document for its
-- lease; the process measures how long that is left, for a clock may jump, and gives each its whole length again when it
-- starts. A claim stays valid until another one takes its place, and it is kept when the document is finished or released:
-- the same request, sent again, is known by it. `finished_by` is NULL where the server gave up, after too many attempts.
CREATE TABLE documents (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  attachment_id INTEGER NOT NULL UNIQUE REFERENCES attachments (id),
  company_id    INTEGER NOT NULL REFERENCES companies (id),
  agent_id      INTEGER NOT NULL REFERENCES agents (id),
  owner_id      INTEGER NOT NULL REFERENCES owners (id),
  name          TEXT    NOT NULL,
  created_at    TEXT    NOT NULL,
  created_by    INTEGER REFERENCES tokens (id),    -- NULL: it was not written down yet
  state         TEXT    NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'claimed', 'done', 'failed')),
  attempts      INTEGER NOT NULL DEFAULT 0,        -- how often it was claimed
  claim_id      TEXT,                              -- the last claim; NULL: none, or it was made new by an operator
  lease_seconds INTEGER,                           -- of a document that is claimed
  finished_at   TEXT,
  finished_by   INTEGER REFERENCES tokens (id),
  note          TEXT                               -- what the worker says of its outcome, or why the server gave up
) STRICT;
CREATE INDEX documents_by_company ON documents (company_id, id);
CREATE INDEX documents_by_agent ON documents (agent_id, id);
CREATE INDEX documents_by_agent_state ON documents (agent_id, state, id);
CREATE INDEX documents_by_state ON documents (state, id);
CREATE INDEX documents_by_owner ON documents (owner_id);

-- Contents that are known to be lost: what a restore left out because it was damaged or missing in the backup. An
-- upload of the same bytes removes the row.
CREATE TABLE lost_contents (
  sha256 TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
  fault  TEXT NOT NULL,                            -- what was wrong with it, in words
  since  TEXT NOT NULL                             -- when that became known
) STRICT, WITHOUT ROWID;

-- What was done to documents, by which token or user, and with which key or token a link signed a browser in: kept for
-- --keep-events days, also after the document is gone, which is why nothing here refers to another table. A key or token
-- is named as it was then. Of what is deleted the file name is not kept. That a document was created stands in its own
-- row; `created_at` and `created_by` are what that row said when it was deleted.
CREATE TABLE events (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          TEXT    NOT NULL,
  kind        TEXT    NOT NULL,                    -- 'created', 'claimed', 'released', 'done', 'failed', 'retried',
                                                   -- 'deleted', or 'login' by a link, which has no document
  via         TEXT    NOT NULL CHECK (via IN ('key', 'token', 'cli', 'server')),
  actor       TEXT    NOT NULL,                    -- the name of the key or token, or the user of the system
  document_id INTEGER,
  company_id  INTEGER,
  sha256      TEXT CHECK (length(sha256) = 64),    -- of the content that was deleted
  created_at  TEXT,
  created_by  TEXT                                 -- the name of the token
) STRICT;
CREATE INDEX events_by_document ON events (document_id, id);
CREATE INDEX events_by_age ON events (at);

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

-- Addresses of the operator's that are told of what happens here (cambista hook). `secret` signs what is sent to one. It is
-- encrypted with hook.key, a file beside this database that is in no backup: a copy of this file alone signs nothing.
CREATE TABLE hooks (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  url            TEXT    NOT NULL,
  events         TEXT    NOT NULL,                 -- such as 'document.created sync.failed'
  company_id     INTEGER REFERENCES companies (id), -- of documents it is told of those of this company alone
  agent_id       INTEGER REFERENCES agents (id),   -- and of those for this agent alone
  secret         BLOB    NOT NULL,                 -- AES-256-GCM: nonce, text, tag
  former_secret  BLOB,                             -- from before a rotation, signs too until former_ends_at
  former_ends_at TEXT,
  created_at     TEXT    NOT NULL,
  sent_at        TEXT,                             -- when a message arrived last
  failing_since  TEXT,                             -- when the first try after that failed
  failure        TEXT,                             -- why the last one did
  off_at         TEXT,                             -- its receiver wanted no more (410): it gets none
  given_up       INTEGER NOT NULL DEFAULT 0        -- messages that never arrived
) STRICT;
CREATE INDEX hooks_by_agent ON hooks (agent_id);

-- What hooks are still to be told. A row is written by the transaction that it tells of, and deleted when it has arrived or
-- is given up. There are no more than 10,000 for a hook.
CREATE TABLE hook_messages (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  hook_id    INTEGER NOT NULL REFERENCES hooks (id),
  message_id TEXT    NOT NULL,                     -- the same in each try, so that its receiver knows it again
  type       TEXT    NOT NULL,
  body       TEXT    NOT NULL,                     -- what is signed and sent, as it is
  created_at TEXT    NOT NULL,
  tries      INTEGER NOT NULL DEFAULT 0,           -- that failed
  due_at     TEXT    NOT NULL
) STRICT;
CREATE INDEX hook_messages_by_hook ON hook_messages (hook_id);
CREATE INDEX hook_messages_due ON hook_messages (hook_id, due_at);

-- Days for which a side of a provider's benchmark was stored, and of which hooks were not told yet: the end of its next run
-- tells of them, also when the run that stored them was killed. Empty where no hook wants to know.
CREATE TABLE hook_days (
  provider_id INTEGER NOT NULL REFERENCES providers (id),
  day         TEXT    NOT NULL,
  PRIMARY KEY (provider_id, day)
) STRICT, WITHOUT ROWID;

INSERT INTO meta (id, data_revision, epoch) VALUES (1, 1, lower(hex(randomblob(8))));
