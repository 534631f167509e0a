-- The whole schema of a new cambista database. src/store/migrations.ts upgrades a file of an older version.
-- A test builds a database both ways and compares them.
--
-- Conventions: dates are 'YYYY-MM-DD', instants RFC 3339 in UTC. Rates are canonical decimals as TEXT (no exponent, no
-- needless zeros), so that no float changes the bank's digits.

-- Has one row. Each transaction that changes rates or the catalogue raises `data_revision`; caches and ETags depend
-- on it. `epoch` is random, and a restore renews it, so that a revision never means two things. `record_from`, in
-- milliseconds: since when the store records the instants of its values. `coverage_from`: since when it records
-- changes of the coverage. NULL: since its beginning; only a store older than the record has values.
-- `contents_mark`: text of the file or object `cambista-contents` in a store that several nodes share.
-- `contents_listed_at`: instant of the last comparison of a store with the rows.
CREATE TABLE meta (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  data_revision      INTEGER NOT NULL,
  epoch              TEXT    NOT NULL,
  record_from        INTEGER,
  coverage_from      INTEGER,
  contents_mark      TEXT,
  contents_listed_at TEXT,
  indicator_revision INTEGER NOT NULL DEFAULT 0, -- as data_revision, of the indicators alone
  indicator_instant  INTEGER NOT NULL DEFAULT 0, -- newest instant of their values, in milliseconds since 1970
  invoice_reader     INTEGER,                    -- version of the program's reader that reads older documents; NULL: none
  unread_before      INTEGER                     -- id before which documents wait for that reader; 0: none
) STRICT;

CREATE TABLE providers (
  id      INTEGER PRIMARY KEY,
  code    TEXT    NOT NULL UNIQUE,
  name    TEXT    NOT NULL,
  country TEXT    NOT NULL,
  website TEXT,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  reported_revision INTEGER NOT NULL DEFAULT 0,    -- newest of rate_revisions when hooks were last notified of corrections
  invented INTEGER NOT NULL DEFAULT 0 CHECK (invented IN (0, 1)) -- 1: invented values of a demo, never synchronized with the source
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

-- `rounded_to`: decimals of a source that rounds; NULL: the exact value.
-- `stored_at`: instant of the commit of this value, in milliseconds since 1970 in UTC. An instant as text would double
-- the largest table.
CREATE TABLE rates (
  series_id  INTEGER NOT NULL REFERENCES series (id),
  rate_date  TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  rounded_to INTEGER,
  stored_at  INTEGER NOT NULL,
  PRIMARY KEY (series_id, rate_date)
) STRICT, WITHOUT ROWID;
CREATE INDEX rates_rounded ON rates (rate_date, series_id) WHERE rounded_to IS NOT NULL;

-- Two sums modulo 2^32 over the rows of a series, which differ once a row is damaged. `part`: a year of its
-- rates, such as 2026, or `revisions`. `revision`: that of the series after the transaction that wrote the sums. Where
-- the newest of a series is older than the series, an older program has written since.
CREATE TABLE rate_sums (
  series_id  INTEGER NOT NULL REFERENCES series (id),
  part       TEXT    NOT NULL,
  row_count  INTEGER NOT NULL,
  first_sum  INTEGER NOT NULL,
  second_sum INTEGER NOT NULL,
  revision   INTEGER NOT NULL,
  PRIMARY KEY (series_id, part)
) STRICT, WITHOUT ROWID;

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
  token_hash  TEXT CHECK (length(token_hash) = 64), -- SHA-256 of the token of the run; NULL: none
  token_only  INTEGER NOT NULL DEFAULT 0 CHECK (token_only IN (0, 1)), -- 1: the refusal of the token is the only failure
  failures    TEXT, -- JSON of the failures, by their codes; NULL: not recorded
  -- Later runs and health decide by this cause; NULL: none, or another one. `unsynchronized`: the source lacks days, and
  -- nothing else failed. `unsynchronized_more`: the run had no requests left for the days around them, too.
  cause       TEXT CHECK (cause IN ('interrupted', 'unsynchronized', 'unsynchronized_more'))
) STRICT;

-- Published values that were not stored, because they are too far from others. `far_from`: from the nearest value of the
-- series, or from the plausible range of the catalogue. `run_id`: the run that read this value first.
CREATE TABLE withheld_rates (
  series_id  INTEGER NOT NULL REFERENCES series (id),
  rate_date  TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  rounded_to INTEGER,
  far_from   TEXT    NOT NULL CHECK (far_from IN ('neighbour', 'range')),
  run_id     INTEGER NOT NULL REFERENCES sync_runs (id),
  PRIMARY KEY (series_id, rate_date)
) STRICT, WITHOUT ROWID;

-- Days without a value of a source that publishes every day. `answers`: its runs on different days in Costa Rica without
-- one; `answered_on`: the last of these days.
CREATE TABLE empty_days (
  series_id   INTEGER NOT NULL REFERENCES series (id),
  rate_date   TEXT    NOT NULL,
  answers     INTEGER NOT NULL,
  answered_on TEXT    NOT NULL,
  PRIMARY KEY (series_id, rate_date)
) STRICT, WITHOUT ROWID;

-- Second opinion on the dollar, by its source.
CREATE TABLE second_opinions (
  source TEXT NOT NULL PRIMARY KEY,
  state  TEXT NOT NULL -- JSON: day of the last request in Costa Rica, number of its requests, end of a pause, newest answer
) STRICT, WITHOUT ROWID;

-- Every replaced value, for the accountant who booked the old one. `refined`: the bank corrected nothing; an exact
-- value replaced a rounded one that agrees with it. `discarded`: an operator removed a value of a future day; it has
-- no new value and no run. `repaired`: the stored value was damaged, and the source answered again. `old_stored_at` is
-- NULL where it was not recorded yet.
CREATE TABLE rate_revisions (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  series_id      INTEGER NOT NULL REFERENCES series (id),
  rate_date      TEXT    NOT NULL,
  kind           TEXT    NOT NULL CHECK (kind IN ('correction', 'refined', 'discarded', 'repaired')),
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

-- Validly answered days of each series, as intervals, ends included, that neither overlap nor touch. `final`: days that
-- were requested two weeks after their date or later, after the last corrections. `exact`: days that a source without
-- rounding answered; values still rounded there need no further request.
CREATE TABLE coverage (
  series_id    INTEGER NOT NULL REFERENCES series (id),
  kind         TEXT    NOT NULL CHECK (kind IN ('answered', 'final', 'exact')),
  covered_from TEXT    NOT NULL,
  covered_to   TEXT    NOT NULL,
  PRIMARY KEY (series_id, kind, covered_from),
  CHECK (covered_from <= covered_to)
) STRICT, WITHOUT ROWID;

-- The record: changes of coverage and catalogue, read backwards from the present (decisions#as-of). Instants are
-- those of rates.stored_at. No row is ever removed.

-- Days added to the answered days of `coverage`, or removed from them. Series with the same change share one
-- row, because a day adds itself to nearly every one. `imported` does not change coverage: it marks days
-- without a value before, whose imported values have the instants of another server.
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

-- Lost intervals of the record: from the making of a backup to its restore.
CREATE TABLE record_gaps (
  gap_from INTEGER NOT NULL,
  gap_to   INTEGER NOT NULL,
  CHECK (gap_from < gap_to)
) STRICT;

-- Newest instant of the record, a single row. A transaction that changes rates or the catalogue locks the row before its
-- changes, and has a later instant. `revision`: meta.data_revision after that transaction; any other revision belongs to
-- a program without this table, or to a restore.
CREATE TABLE record_end (
  id          INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  recorded_at INTEGER NOT NULL,
  revision    INTEGER NOT NULL
) STRICT;
INSERT INTO record_end (id, recorded_at, revision) VALUES (1, 0, 0) ON CONFLICT DO NOTHING;

-- Indicators: other series of a provider, by its codes. Their tables share nothing with those of the rates. A row
-- exists once its code was enabled. `state`: `new` before the first answer, `waiting` for the token.
CREATE TABLE indicators (
  code         TEXT    NOT NULL PRIMARY KEY CHECK (length(code) <= 10),
  provider_id  INTEGER NOT NULL REFERENCES providers (id),
  name         TEXT,                               -- NULL: no answer has it yet
  unit         TEXT,                               -- NULL: not known
  periodicity  TEXT,                               -- NULL: not known
  enabled      INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  state        TEXT    NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'waiting', 'active', 'refused')),
  added_at     INTEGER NOT NULL,                   -- milliseconds since 1970: its record begins
  history_from TEXT,                               -- first day to read; NULL: until a year has no values
  history_done INTEGER NOT NULL DEFAULT 0 CHECK (history_done IN (0, 1)), -- 1: a year had none
  asked_at     TEXT,                               -- last valid answer for the newest days
  tried_at     TEXT,                               -- last request for the newest days
  history_failure TEXT,                                 -- last day on which its history failed
  refusal_day  TEXT,                                -- last day on which the source refused the code
  refusals     INTEGER NOT NULL DEFAULT 0,         -- days with a refusal since the last answer
  refusal      TEXT,                               -- words of the source
  is_named     INTEGER NOT NULL DEFAULT 0 CHECK (is_named IN (0, 1)) -- 1: an answer had a name
) STRICT, WITHOUT ROWID;

-- Canonical decimals of any sign. `stored_at` as in rates.
CREATE TABLE indicator_values (
  code       TEXT    NOT NULL REFERENCES indicators (code),
  value_date TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  stored_at  INTEGER NOT NULL,
  PRIMARY KEY (code, value_date)
) STRICT, WITHOUT ROWID;

-- Validly answered days of each indicator, as in coverage.
CREATE TABLE indicator_coverage (
  code         TEXT NOT NULL REFERENCES indicators (code),
  covered_from TEXT NOT NULL,
  covered_to   TEXT NOT NULL,
  PRIMARY KEY (code, covered_from),
  CHECK (covered_from <= covered_to)
) STRICT, WITHOUT ROWID;

-- Record of the coverage, as coverage_changes.
CREATE TABLE indicator_changes (
  id         INTEGER PRIMARY KEY,
  code       TEXT    NOT NULL REFERENCES indicators (code),
  changed_at INTEGER NOT NULL,
  kind       TEXT    NOT NULL CHECK (kind IN ('added', 'removed')),
  days_from  TEXT    NOT NULL,
  days_to    TEXT    NOT NULL,
  CHECK (days_from <= days_to)
) STRICT;
CREATE INDEX indicator_changes_by_code ON indicator_changes (code, changed_at);

-- Runs over indicators, with the columns of sync_runs. No rule of the rates reads them.
CREATE TABLE indicator_runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  provider_id INTEGER NOT NULL REFERENCES providers (id),
  trigger     TEXT    NOT NULL CHECK (trigger IN ('scheduler', 'cli', 'import')),
  status      TEXT    NOT NULL CHECK (status IN ('ok', 'parcial', 'error')),
  date_from   TEXT,
  date_to     TEXT,
  inserted    INTEGER NOT NULL DEFAULT 0,
  updated     INTEGER NOT NULL DEFAULT 0,
  unchanged   INTEGER NOT NULL DEFAULT 0,
  message     TEXT,
  started_at  TEXT    NOT NULL,
  finished_at TEXT,
  failures    TEXT,
  token_hash  TEXT CHECK (length(token_hash) = 64),      -- SHA-256 of a refused token; NULL: none was refused
  history     INTEGER NOT NULL DEFAULT 0                 -- requests for history
) STRICT;

-- Every replaced value, as rate_revisions.
CREATE TABLE indicator_revisions (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  code          TEXT    NOT NULL REFERENCES indicators (code),
  value_date    TEXT    NOT NULL,
  old_value     TEXT    NOT NULL,
  old_stored_at INTEGER NOT NULL,
  new_value     TEXT    NOT NULL,
  replaced_at   TEXT    NOT NULL,
  run_id        INTEGER NOT NULL REFERENCES indicator_runs (id)
) STRICT;
CREATE INDEX indicator_revisions_by_code ON indicator_revisions (code, value_date);

-- Keys of the rates API. Only the SHA-256 of a key is stored. A name is that of one active key. A rotation changes
-- only the hash of the row, so that id and name stay valid. The old hash moves to former_secrets. Keys that end in
-- the logs of other programs have kinds of their own, and open less. A client may put a `url` key into a URL. A
-- `bank` key is an old token of the bank, which its client continues to send.
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
  network      TEXT,                               -- networks that may use it, as given; NULL: any
  origins      TEXT,                               -- websites that may read its answers, as given; NULL: those of the server
  provider     TEXT                                -- code of the provider whose rates formats of other services have; NULL: the bank
) STRICT;
CREATE UNIQUE INDEX api_keys_active_name ON api_keys (name) WHERE revoked_at IS NULL;

-- Requests of each key by day of Costa Rica, for 30 days, and its newest networks. Written each minute.
CREATE TABLE key_use (
  key_id   INTEGER NOT NULL REFERENCES api_keys (id),
  day      TEXT    NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (key_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE key_networks (
  key_id       INTEGER NOT NULL REFERENCES api_keys (id),
  network      TEXT    NOT NULL,                    -- 192.0.2.0/24 or 2001:db8:1::/48
  last_used_at TEXT    NOT NULL,
  PRIMARY KEY (key_id, network)
) STRICT, WITHOUT ROWID;

-- Companies own documents. Ids may be the ERP's own; agents know a company by its code. `used` is the sum of the
-- sizes of its documents. The transactions that write and delete documents maintain it, since a sum of a million
-- takes seconds. Equal blobs count each time, though they are stored once.
CREATE TABLE companies (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  code       TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  quota      INTEGER,                              -- limit of `used` in bytes; NULL: none
  used       INTEGER NOT NULL DEFAULT 0,           -- bytes
  tax_ids    TEXT                                  -- digits with commas; NULL: none
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

-- Tokens of the documents API. Only the SHA-256 of a token is stored. `allow` lists its permissions, such as
-- 'documents:POST agent:POST'. A token with a company sees no other company. `used` is the sum of the sizes of its
-- documents, as that of a company. Documents of earlier tokens of its name count against its quota too.
-- Names and rotations are as with keys: its data, such as idempotency keys, stay its own after a rotation.
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
CREATE INDEX tokens_by_name ON tokens (name);

-- Secrets of keys and tokens from before a rotation. Each is valid for its row until ends_at, without a clean-up.
-- Several rotations in a row leave several.
CREATE TABLE former_secrets (
  hash         TEXT PRIMARY KEY,
  key_id       INTEGER REFERENCES api_keys (id),
  token_id     INTEGER REFERENCES tokens (id),
  ends_at      TEXT NOT NULL,
  last_used_at TEXT,
  CHECK ((key_id IS NULL) <> (token_id IS NULL))
) STRICT, WITHOUT ROWID;

-- Links that sign a browser in once (cambista web). A row has the SHA-256 of the link's code, and its key, token or
-- both. Use deletes a link. An unused one ends at ends_at, and the next new link removes it.
CREATE TABLE login_links (
  hash     TEXT PRIMARY KEY CHECK (length(hash) = 64),
  key_id   INTEGER REFERENCES api_keys (id),
  token_id INTEGER REFERENCES tokens (id),
  ends_at  TEXT NOT NULL,
  person   TEXT, -- NULL: a link for nobody by name
  CHECK (key_id IS NOT NULL OR token_id IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- Sessions of the page. `id` and `page` are the SHA-256 of both halves, `key` and `token` of the secrets that opened
-- the session. `used_at` may be ten minutes older than the last use. A session that ended has neither key nor token.
-- Its row has the reason, and signing in deletes it 30 days later.
CREATE TABLE page_sessions (
  id        TEXT PRIMARY KEY,
  page      TEXT NOT NULL,
  key       TEXT,
  token     TEXT,
  opened_at TEXT NOT NULL,
  used_at   TEXT NOT NULL,
  person    TEXT,
  remember  INTEGER NOT NULL DEFAULT 0 CHECK (remember IN (0, 1)), -- 1: for 30 days without a use, else for 12 hours
  ended_at  TEXT, -- NULL: open, until it expires or its secrets end
  end_reason TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX page_sessions_by_use ON page_sessions (used_at);
CREATE INDEX page_sessions_by_page ON page_sessions (page);

-- Tickets of the page: the SHA-256 of the last part of a URL. A browser may open that once, while the session is
-- open, for one document or one export. Use deletes a ticket. Adding one deletes those that ended.
CREATE TABLE page_tickets (
  hash        TEXT PRIMARY KEY,
  session_id  TEXT NOT NULL,
  document_id INTEGER,
  format      TEXT,
  ends_at     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX page_tickets_by_end ON page_tickets (ends_at);

-- Links for one document each. A row has the SHA-256 of the last part of the URL, and describes the document. The
-- link is valid until ends_at. Its upload is stored once (idempotency). Adding a link deletes those that ended.
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

-- Uploaded files, one row each. Several may reference one blob: blobs are stored once, by their SHA-256.
CREATE TABLE attachments (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT    NOT NULL,
  mimetype   TEXT    NOT NULL,
  size       INTEGER NOT NULL,                     -- bytes
  sha256     TEXT    NOT NULL CHECK (length(sha256) = 64),
  created_at TEXT    NOT NULL
) STRICT;
CREATE INDEX attachments_by_blob ON attachments (sha256);

-- `state`: 'new' until a worker of its agent claims it. `claim_id` identifies the claim, and is valid until another
-- claim replaces it. A finish or release leaves it, so that a repeated request is recognized. `lease_ends` is valid
-- while `state` is 'claimed'. In a file it counts milliseconds since the start of the server, for a clock may jump.
-- Each server sets it again when it starts. PostgreSQL has an instant of its own clock there. The index
-- documents_open has only the documents that a worker may claim. `finished_by` is NULL where the server failed the
-- document after too many attempts.
CREATE TABLE documents (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  attachment_id INTEGER NOT NULL UNIQUE REFERENCES attachments (id),
  company_id    INTEGER NOT NULL REFERENCES companies (id),
  agent_id      INTEGER NOT NULL REFERENCES agents (id),
  owner_id      INTEGER NOT NULL REFERENCES owners (id),
  name          TEXT    NOT NULL,
  created_at    TEXT    NOT NULL,
  created_by    INTEGER REFERENCES tokens (id),    -- NULL: not recorded yet
  state         TEXT    NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'claimed', 'done', 'failed')),
  attempts      INTEGER NOT NULL DEFAULT 0,        -- number of claims
  claim_id      TEXT,                              -- the last claim; NULL: none, or it was made new by an operator
  lease_seconds INTEGER,                           -- length of the lease of a claimed document
  finished_at   TEXT,
  finished_by   INTEGER REFERENCES tokens (id),
  note          TEXT,                              -- the worker's note on the outcome, or the server's reason
  lease_ends    INTEGER,                           -- end of the lease
  claimed_at    TEXT,                              -- instant of the last claim
  name_folded   TEXT,                              -- the name without marks and capitals; NULL: not computed yet
  priority      INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 9) -- claims take the highest first
) STRICT;
CREATE INDEX documents_by_company ON documents (company_id, id);
CREATE INDEX documents_by_agent ON documents (agent_id, id);
CREATE INDEX documents_by_agent_state ON documents (agent_id, state, id);
CREATE INDEX documents_by_state ON documents (state, id);
CREATE INDEX documents_by_owner ON documents (owner_id);
CREATE INDEX documents_open ON documents (agent_id, id) WHERE state IN ('new', 'claimed');
CREATE INDEX documents_by_priority ON documents (agent_id, priority DESC, id) WHERE state IN ('new', 'claimed');
CREATE INDEX documents_by_arrival ON documents (created_at, id);
CREATE INDEX documents_unfolded ON documents (id) WHERE name_folded IS NULL;

-- Result of the last outcome of a document, as its worker wrote it, counted in the quotas of the document.
CREATE TABLE document_results (
  document_id INTEGER NOT NULL PRIMARY KEY REFERENCES documents (id),
  result      TEXT    NOT NULL,                    -- JSON, to the letter
  size        INTEGER NOT NULL                     -- bytes in UTF-8
) STRICT;

-- Facts of documents that are Costa Rican electronic invoices. A file that belongs to one has `source` 'name' or 'mail',
-- and a clave alone. Names, numbers and references are text of strangers. A fault excludes all facts but the kind.
CREATE TABLE invoices (
  document_id   INTEGER NOT NULL PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
  company_id    INTEGER NOT NULL,                  -- as in documents
  source        TEXT    NOT NULL CHECK (source IN ('content', 'name', 'mail')),
  kind          TEXT,                              -- the root element
  version       TEXT,                              -- '4.2', '4.3', '4.4'; NULL without a namespace
  clave         TEXT CHECK (length(clave) = 50),
  consecutive   TEXT,
  issued_at     TEXT,                              -- FechaEmision, to the letter
  date          TEXT,
  issuer_type   TEXT,
  issuer_id     TEXT,                              -- without leading zeros
  issuer_name   TEXT,
  receiver_type TEXT,
  receiver_id   TEXT,
  receiver_name TEXT,
  currency      TEXT,
  exchange_rate TEXT,
  total         TEXT,
  tax           TEXT,
  outcome       TEXT CHECK (outcome IN ('accepted', 'partly_accepted', 'rejected')),
  refs          TEXT,                              -- JSON: [{type, number, code}]
  warnings      TEXT,                              -- with spaces
  fault         TEXT,                              -- a sentence
  reader        INTEGER NOT NULL                   -- version of the program's reader
) STRICT;
CREATE INDEX invoices_by_clave ON invoices (company_id, clave, kind, document_id);
CREATE INDEX invoices_by_issuer ON invoices (company_id, issuer_id, document_id);
CREATE INDEX invoices_by_date ON invoices (company_id, date, document_id);

-- Counters of documents as a journal: a sum over the rows is the present number. Each transaction that changes documents
-- adds rows, so no two of them wait for a counter. The server merges old rows. `day` is the day of an outcome in Costa
-- Rica; merged rows of earlier days have NULL. A row of the agent 0 marks documents that were never counted.
CREATE TABLE document_counts (
  id         INTEGER PRIMARY KEY,
  agent_id   INTEGER NOT NULL,
  day        TEXT,
  seconds    INTEGER,                              -- from the arrival to the outcome `done`, rounded down
  new        INTEGER NOT NULL DEFAULT 0,
  claimed    INTEGER NOT NULL DEFAULT 0,
  done       INTEGER NOT NULL DEFAULT 0,
  failed     INTEGER NOT NULL DEFAULT 0,
  bytes      INTEGER NOT NULL DEFAULT 0,
  changes    INTEGER NOT NULL DEFAULT 0,           -- arrivals, events and deletions
  failed_at  TEXT,                                 -- instant of the last failure
  claimed_at TEXT,                                 -- instant of the last claim
  claimed_by TEXT                                  -- name of its token
) STRICT;

-- Blobs in the store, each once. `object` is the object of a bucket; NULL: a file by its hash. An upload adds or
-- locks the row. A deletion locks it, so that neither takes the blob from the other.
CREATE TABLE contents (
  sha256     TEXT    NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
  object     TEXT,
  size       INTEGER NOT NULL,
  created_at TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX contents_by_object ON contents (object) WHERE object IS NOT NULL;

-- Objects, or files by their hash, that no document needs. A single machine removes them at once. Nodes wait for
-- `--keep-removed` days: a database restored to an earlier moment references them again.
CREATE TABLE removed_objects (
  object     TEXT NOT NULL PRIMARY KEY,
  removed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_objects_by_age ON removed_objects (removed_at);

-- Lost blobs: a restore left them out because they were damaged or missing in the backup. An upload of the same bytes
-- removes the row.
CREATE TABLE lost_contents (
  sha256 TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
  fault  TEXT NOT NULL,                            -- the fault in words
  since  TEXT NOT NULL                             -- instant of the discovery
) STRICT, WITHOUT ROWID;

-- Times whose acknowledged documents may be lost, one for each failover of a shared database. The operator accepts them.
CREATE TABLE losses (
  lost_from TEXT NOT NULL,
  lost_to   TEXT NOT NULL
) STRICT;

-- Blobs of these times that no document names; `object` is the name in the store.
CREATE TABLE orphaned_contents (
  object    TEXT    NOT NULL PRIMARY KEY,
  sha256    TEXT    NOT NULL,
  size      INTEGER NOT NULL,
  stored_at TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Audit log of documents and of links that signed a browser in. Rows exist for --keep-events days, even without the
-- document, so rows reference no other table. A key or token is named as it was then. The file name of a deleted
-- document is omitted. A creation has no event: the document's row records it. `created_at` and `created_by` copy
-- that row at its deletion.
CREATE TABLE events (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          TEXT    NOT NULL,
  kind        TEXT    NOT NULL,                    -- 'created', 'claimed', 'released', 'done', 'failed', 'retried',
                                                   -- 'deleted', or 'login' by a link, which has no document
  via         TEXT    NOT NULL CHECK (via IN ('key', 'token', 'cli', 'server')),
  actor       TEXT    NOT NULL,                    -- name of the key or token, or the system user
  document_id INTEGER,
  company_id  INTEGER,
  sha256      TEXT CHECK (length(sha256) = 64),    -- SHA-256 of the deleted blob, or of an outcome's result
  created_at  TEXT,
  created_by  TEXT,                                -- the name of the token
  person      TEXT,                                -- the person who used the key or token
  attempt     INTEGER,                             -- number of the claim
  note        TEXT,                                -- the note of an outcome; removed with the document
  size        INTEGER                              -- bytes of the result of an outcome
) STRICT;
CREATE INDEX events_by_document ON events (document_id, id);
CREATE INDEX events_by_age ON events (at);

-- Answers of uploads with an Idempotency-Key, stored for 24 hours and repeated.
CREATE TABLE idempotency (
  token_id    INTEGER NOT NULL REFERENCES tokens (id),
  key         TEXT    NOT NULL,
  fingerprint TEXT    NOT NULL,                    -- SHA-256 of the request, blobs included
  answer      TEXT    NOT NULL,
  created_at  TEXT    NOT NULL,
  PRIMARY KEY (token_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- The operator's addresses for notifications (cambista hook). `secret` signs the messages of a hook. Its
-- encryption key is hook.key, a file beside this database and in no backup. A copy of this file alone signs nothing.
CREATE TABLE hooks (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  url            TEXT    NOT NULL,
  events         TEXT    NOT NULL,                 -- types of events, as 'document.created sync.failed'
  company_id     INTEGER REFERENCES companies (id), -- filter of documents: this company alone
  agent_id       INTEGER REFERENCES agents (id),   -- filter of documents: this agent alone
  secret         BLOB    NOT NULL,                 -- AES-256-GCM: nonce, text, tag
  former_secret  BLOB,                             -- from before a rotation, signs too until former_ends_at
  former_ends_at TEXT,
  created_at     TEXT    NOT NULL,
  sent_at        TEXT,                             -- last delivery
  failing_since  TEXT,                             -- first failed try after that
  failure        TEXT,                             -- reason of the last failed try
  off_at         TEXT,                             -- the receiver answered 410: it gets no more messages
  given_up       INTEGER NOT NULL DEFAULT 0,       -- messages that never arrived
  allow_http     INTEGER NOT NULL DEFAULT 0 CHECK (allow_http IN (0, 1)), -- plain HTTP to private networks
  headers        TEXT,                             -- JSON: values by name, null for those in secret_headers
  secret_headers BLOB                              -- the values of these, encrypted like the secret
) STRICT;
CREATE INDEX hooks_by_agent ON hooks (agent_id);

-- Queued messages of hooks. A row is written by the transaction that it reports, and deleted when it was delivered or
-- given up. A hook has at most 10,000.
CREATE TABLE hook_messages (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  hook_id    INTEGER NOT NULL REFERENCES hooks (id),
  message_id TEXT    NOT NULL,                     -- the same in each try, so that the receiver recognizes it
  type       TEXT    NOT NULL,
  body       TEXT    NOT NULL,                     -- the signed text, sent unchanged
  created_at TEXT    NOT NULL,
  tries      INTEGER NOT NULL DEFAULT 0,           -- failed tries
  due_at     TEXT    NOT NULL
) STRICT;
CREATE INDEX hook_messages_by_hook ON hook_messages (hook_id);
CREATE INDEX hook_messages_due ON hook_messages (hook_id, due_at);

-- Messages of hooks that ended: delivered, or given up. The last 30 days, at most 10,000 messages of a hook.
CREATE TABLE hook_deliveries (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  hook_id    INTEGER NOT NULL REFERENCES hooks (id),
  message_id TEXT    NOT NULL,                     -- as in hook_messages; a message that was sent again has further rows
  type       TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  created_at TEXT    NOT NULL,
  tries      INTEGER NOT NULL,
  ended_at   TEXT    NOT NULL,
  status     INTEGER,                              -- HTTP status of the last answer; NULL: none
  failure    TEXT                                  -- NULL: delivered
) STRICT;
CREATE INDEX hook_deliveries_by_hook ON hook_deliveries (hook_id, id);
CREATE INDEX hook_deliveries_by_end ON hook_deliveries (ended_at);

-- Days with a stored side of a provider's benchmark that hooks were not notified of yet. The end of the provider's next
-- run reports them, even if the run that stored them was killed. Empty without hooks for them.
CREATE TABLE hook_days (
  provider_id INTEGER NOT NULL REFERENCES providers (id),
  day         TEXT    NOT NULL,
  PRIMARY KEY (provider_id, day)
) STRICT, WITHOUT ROWID;

-- Folders on IMAP servers whose mails become documents (cambista mailbox). Passwords and tokens are in files, and never
-- here. A restore pauses every mailbox: two servers must not take mails of one folder.
CREATE TABLE mailboxes (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  name            TEXT    NOT NULL,                -- in `created_by` of documents
  host            TEXT    NOT NULL,
  port            INTEGER NOT NULL,
  security        TEXT    NOT NULL CHECK (security IN ('tls', 'starttls', 'none')),
  user_name       TEXT    NOT NULL,
  password_file   TEXT,                            -- absolute path; a mailbox has a password or OAuth
  oauth_file      TEXT,
  folder          TEXT    NOT NULL,
  done            TEXT    NOT NULL,                -- folder of mails whose parts are documents
  rejected        TEXT    NOT NULL,                -- folder of refused mails
  company_id      INTEGER NOT NULL REFERENCES companies (id),
  agent_id        INTEGER NOT NULL REFERENCES agents (id),
  owner_id        INTEGER NOT NULL REFERENCES owners (id),
  allow_from      TEXT,                            -- addresses and domains with commas; NULL: every sender
  by_tag          INTEGER NOT NULL DEFAULT 0 CHECK (by_tag IN (0, 1)), -- the tag of an address chooses the agent
  largest         INTEGER NOT NULL,                -- bytes of the largest mail that is downloaded
  created_at      TEXT    NOT NULL,
  paused_at       TEXT,                            -- NULL: active
  pause_reason    TEXT CHECK (pause_reason IN ('operator', 'restore')),
  deleted_at      TEXT,                            -- the row remains for the documents
  last_round_at   TEXT,
  last_success_at TEXT,
  failing_since   TEXT,                            -- first failed round after that
  failure         TEXT,                            -- reason of the last failed round
  failure_code    TEXT,                            -- its cause, for the page
  failures        INTEGER NOT NULL DEFAULT 0,      -- failed rounds in a row
  reported_at     TEXT,                            -- last notification of hooks about the present failure
  next_round_at   TEXT,                            -- NULL: due
  waiting         INTEGER,                         -- mails in the folder after the last round
  taken           INTEGER NOT NULL DEFAULT 0,      -- mails
  refused         INTEGER NOT NULL DEFAULT 0,      -- mails
  left_out        INTEGER NOT NULL DEFAULT 0,      -- parts of the mails that were taken
  ignore_names    TEXT,                            -- patterns with commas, of files to leave out
  CONSTRAINT mailboxes_secret CHECK ((password_file IS NULL) <> (oauth_file IS NULL))
) STRICT;
CREATE UNIQUE INDEX mailboxes_by_name ON mailboxes (name) WHERE deleted_at IS NULL;

-- Mails whose parts became documents, so that none does twice. `key` is the SHA-256 of the mailbox, the Message-ID and
-- the SHA-256 of the parts. With --by-tag this row has `taken_uid` 0 and is for programs of 1.0.0. Each agent of the mail
-- then has a row, whose key has the agent too. A row exists until 400 days after a round last saw the mail, even without
-- its documents.
CREATE TABLE mail_messages (
  key           TEXT    NOT NULL PRIMARY KEY CHECK (length(key) = 64),
  mailbox_id    INTEGER NOT NULL REFERENCES mailboxes (id),
  uidvalidity   INTEGER NOT NULL,                  -- with `uid`: where the mail was last seen
  uid           INTEGER NOT NULL,
  taken_uid     INTEGER NOT NULL,                  -- when its parts became documents
  taken_at      TEXT    NOT NULL,
  last_seen_at  TEXT    NOT NULL,                  -- by a round
  moved_at      TEXT,                              -- NULL: the mail is still in the folder
  move_failures INTEGER NOT NULL DEFAULT 0         -- in a row
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_messages_by_uid ON mail_messages (mailbox_id, uidvalidity, uid);
CREATE INDEX mail_messages_by_age ON mail_messages (last_seen_at);

-- Refused mails of a mailbox, the last 20, which nodes of 1.0.0 read and write.
CREATE TABLE mail_refusals (
  mailbox_id  INTEGER NOT NULL REFERENCES mailboxes (id),
  uidvalidity INTEGER NOT NULL,
  uid         INTEGER NOT NULL,
  size        INTEGER NOT NULL,                    -- bytes
  reason      TEXT    NOT NULL,
  at          TEXT    NOT NULL,
  PRIMARY KEY (mailbox_id, uidvalidity, uid)
) STRICT, WITHOUT ROWID;

-- The last 20 mails of a mailbox that were refused, or of which parts were left out. The texts are of strangers, without
-- control characters, at most 200 characters, and null without a text.
CREATE TABLE mail_left (
  mailbox_id  INTEGER NOT NULL REFERENCES mailboxes (id),
  uidvalidity INTEGER NOT NULL,
  uid         INTEGER NOT NULL,
  size        INTEGER NOT NULL,                    -- bytes
  at          TEXT    NOT NULL,
  from_text   TEXT,
  subject     TEXT,
  reason      TEXT,                                -- reason of a refusal; NULL: the mail became documents
  parts       TEXT    NOT NULL,                    -- JSON: [{name, reason}], the first 100
  PRIMARY KEY (mailbox_id, uidvalidity, uid)
) STRICT, WITHOUT ROWID;

-- The mail that brought a document. Its texts are of strangers, without control characters, at most 200 characters.
CREATE TABLE document_mail (
  document_id INTEGER NOT NULL PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
  mailbox_id  INTEGER NOT NULL REFERENCES mailboxes (id),
  from_text   TEXT,
  subject     TEXT,
  received_at TEXT    NOT NULL,                    -- instant in which the server got it
  message_id  TEXT,
  note        TEXT                                 -- reason to leave a container whole
) STRICT;

INSERT INTO meta (id, data_revision, epoch) VALUES (1, 1, lower(hex(randomblob(8))));
