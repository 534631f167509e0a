// Migrations of both engines. Append only: entry N takes schema FIRST_SCHEMA + N to the next one.
// Databases of an earlier schema are rejected: 0.2.0 upgrades them first (manual, upgrades).
//
// An entry has the dialect of schema.sql, or a text for each engine. Its statements must be repeatable: PostgreSQL runs
// them one by one, and the next node continues where one died. Nodes of the previous version run at the same time. An
// entry may therefore add tables, indices, columns that are NULL or have a default, and values of such columns. An
// entry may also allow more values in a column. A later entry removes unused parts; its `oldest` is the oldest schema
// that may still run then. Entries after RELEASED_SCHEMA may change until their release (unreleased.ts).

import { EARLIER_MIGRATIONS, type Migration } from './earlier-migrations.ts'

export type { Migration } from './earlier-migrations.ts'

/** Oldest schema that is migrated: that of 0.2.0. */
export const FIRST_SCHEMA = 12
// Oldest schema whose programs work with FIRST_SCHEMA, as PostgreSQL has it since 0.2.0.
const OLDEST_PROGRAM = 7

// Indicators have tables of their own, and a revision of their own.
const INDICATORS = `
ALTER TABLE meta ADD COLUMN indicator_revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN indicator_instant INTEGER NOT NULL DEFAULT 0;
CREATE TABLE indicators (
  code         TEXT    NOT NULL PRIMARY KEY CHECK (length(code) <= 10),
  provider_id  INTEGER NOT NULL REFERENCES providers (id),
  name         TEXT,
  unit         TEXT,
  periodicity  TEXT,
  enabled      INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  state        TEXT    NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'waiting', 'active', 'refused')),
  added_at     INTEGER NOT NULL,
  history_from TEXT,
  history_done INTEGER NOT NULL DEFAULT 0 CHECK (history_done IN (0, 1)),
  asked_at     TEXT,
  tried_at     TEXT,
  history_failure TEXT,
  refusal_day  TEXT,
  refusals     INTEGER NOT NULL DEFAULT 0,
  refusal      TEXT,
  is_named     INTEGER NOT NULL DEFAULT 0 CHECK (is_named IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE TABLE indicator_values (
  code       TEXT    NOT NULL REFERENCES indicators (code),
  value_date TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  stored_at  INTEGER NOT NULL,
  PRIMARY KEY (code, value_date)
) STRICT, WITHOUT ROWID;
CREATE TABLE indicator_coverage (
  code         TEXT NOT NULL REFERENCES indicators (code),
  covered_from TEXT NOT NULL,
  covered_to   TEXT NOT NULL,
  PRIMARY KEY (code, covered_from),
  CHECK (covered_from <= covered_to)
) STRICT, WITHOUT ROWID;
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
  token_hash  TEXT CHECK (length(token_hash) = 64),
  history     INTEGER NOT NULL DEFAULT 0
) STRICT;
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
`

// NULL: the bank, as before.
const KEY_PROVIDERS = `
ALTER TABLE api_keys ADD COLUMN provider TEXT;
`

const SECOND_OPINIONS = `
CREATE TABLE second_opinions (
  source TEXT NOT NULL PRIMARY KEY,
  state  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`

// Invoices among the documents. Earlier documents are read by and by.
const INVOICES = `
CREATE TABLE invoices (
  document_id   INTEGER NOT NULL PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
  company_id    INTEGER NOT NULL,
  source        TEXT    NOT NULL CHECK (source IN ('content', 'name', 'mail')),
  kind          TEXT,
  version       TEXT,
  clave         TEXT CHECK (length(clave) = 50),
  consecutive   TEXT,
  issued_at     TEXT,
  date          TEXT,
  issuer_type   TEXT,
  issuer_id     TEXT,
  issuer_name   TEXT,
  receiver_type TEXT,
  receiver_id   TEXT,
  receiver_name TEXT,
  currency      TEXT,
  exchange_rate TEXT,
  total         TEXT,
  tax           TEXT,
  outcome       TEXT CHECK (outcome IN ('accepted', 'partly_accepted', 'rejected')),
  refs          TEXT,
  warnings      TEXT,
  fault         TEXT,
  reader        INTEGER NOT NULL
) STRICT;
CREATE INDEX invoices_by_clave ON invoices (company_id, clave, kind, document_id);
CREATE INDEX invoices_by_issuer ON invoices (company_id, issuer_id, document_id);
CREATE INDEX invoices_by_date ON invoices (company_id, date, document_id);
`

// Mailboxes, the mails that were taken from them, and the tax ids of companies.
const MAILBOXES = `
ALTER TABLE meta ADD COLUMN invoice_reader INTEGER;
ALTER TABLE meta ADD COLUMN unread_before INTEGER;
ALTER TABLE companies ADD COLUMN tax_ids TEXT;
CREATE TABLE mailboxes (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  name            TEXT    NOT NULL,
  host            TEXT    NOT NULL,
  port            INTEGER NOT NULL,
  security        TEXT    NOT NULL CHECK (security IN ('tls', 'starttls', 'none')),
  user_name       TEXT    NOT NULL,
  password_file   TEXT,
  oauth_file      TEXT,
  folder          TEXT    NOT NULL,
  done            TEXT    NOT NULL,
  rejected        TEXT    NOT NULL,
  company_id      INTEGER NOT NULL REFERENCES companies (id),
  agent_id        INTEGER NOT NULL REFERENCES agents (id),
  owner_id        INTEGER NOT NULL REFERENCES owners (id),
  allow_from      TEXT,
  by_tag          INTEGER NOT NULL DEFAULT 0 CHECK (by_tag IN (0, 1)),
  largest         INTEGER NOT NULL,
  created_at      TEXT    NOT NULL,
  paused_at       TEXT,
  pause_reason    TEXT CHECK (pause_reason IN ('operator', 'restore')),
  deleted_at      TEXT,
  last_round_at   TEXT,
  last_success_at TEXT,
  failing_since   TEXT,
  failure         TEXT,
  failure_code    TEXT,
  failures        INTEGER NOT NULL DEFAULT 0,
  reported_at     TEXT,
  next_round_at   TEXT,
  waiting         INTEGER,
  taken           INTEGER NOT NULL DEFAULT 0,
  refused         INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT mailboxes_secret CHECK ((password_file IS NULL) <> (oauth_file IS NULL))
) STRICT;
CREATE UNIQUE INDEX mailboxes_by_name ON mailboxes (name) WHERE deleted_at IS NULL;
CREATE TABLE mail_messages (
  key           TEXT    NOT NULL PRIMARY KEY CHECK (length(key) = 64),
  mailbox_id    INTEGER NOT NULL REFERENCES mailboxes (id),
  uidvalidity   INTEGER NOT NULL,
  uid           INTEGER NOT NULL,
  taken_uid     INTEGER NOT NULL,
  taken_at      TEXT    NOT NULL,
  last_seen_at  TEXT    NOT NULL,
  moved_at      TEXT,
  move_failures INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_messages_by_uid ON mail_messages (mailbox_id, uidvalidity, uid);
CREATE INDEX mail_messages_by_age ON mail_messages (last_seen_at);
CREATE TABLE mail_refusals (
  mailbox_id  INTEGER NOT NULL REFERENCES mailboxes (id),
  uidvalidity INTEGER NOT NULL,
  uid         INTEGER NOT NULL,
  size        INTEGER NOT NULL,
  reason      TEXT    NOT NULL,
  at          TEXT    NOT NULL,
  PRIMARY KEY (mailbox_id, uidvalidity, uid)
) STRICT, WITHOUT ROWID;
CREATE TABLE document_mail (
  document_id INTEGER NOT NULL PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
  mailbox_id  INTEGER NOT NULL REFERENCES mailboxes (id),
  from_text   TEXT,
  subject     TEXT,
  received_at TEXT    NOT NULL,
  message_id  TEXT
) STRICT;
`

// Sums over the rates, withheld values, and days without a value.
const DOUBTS = `
CREATE TABLE rate_sums (
  series_id  INTEGER NOT NULL REFERENCES series (id),
  part       TEXT    NOT NULL,
  row_count  INTEGER NOT NULL,
  first_sum  INTEGER NOT NULL,
  second_sum INTEGER NOT NULL,
  revision   INTEGER NOT NULL,
  PRIMARY KEY (series_id, part)
) STRICT, WITHOUT ROWID;
CREATE TABLE withheld_rates (
  series_id  INTEGER NOT NULL REFERENCES series (id),
  rate_date  TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  rounded_to INTEGER,
  far_from   TEXT    NOT NULL CHECK (far_from IN ('neighbour', 'range')),
  run_id     INTEGER NOT NULL REFERENCES sync_runs (id),
  PRIMARY KEY (series_id, rate_date)
) STRICT, WITHOUT ROWID;
CREATE TABLE empty_days (
  series_id   INTEGER NOT NULL REFERENCES series (id),
  rate_date   TEXT    NOT NULL,
  answers     INTEGER NOT NULL,
  answered_on TEXT    NOT NULL,
  PRIMARY KEY (series_id, rate_date)
) STRICT, WITHOUT ROWID;
`

// A revision may be `repaired`. SQLite changes no CHECK of a table, so its rows move to a new one.
const REPAIRED_KIND = `CHECK (kind IN ('correction', 'refined', 'discarded', 'repaired'))`
const REPAIRS = {
  sqlite: `
ALTER TABLE rate_revisions RENAME TO former_revisions;
CREATE TABLE rate_revisions (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  series_id      INTEGER NOT NULL REFERENCES series (id),
  rate_date      TEXT    NOT NULL,
  kind           TEXT    NOT NULL ${REPAIRED_KIND},
  old_value      TEXT    NOT NULL,
  old_rounded_to INTEGER,
  old_stored_at  INTEGER,
  new_value      TEXT,
  replaced_at    TEXT    NOT NULL,
  run_id         INTEGER REFERENCES sync_runs (id),
  CONSTRAINT rate_revisions_new_value CHECK ((new_value IS NULL) = (kind = 'discarded')),
  CONSTRAINT rate_revisions_run CHECK ((run_id IS NULL) = (kind = 'discarded'))
) STRICT;
INSERT INTO rate_revisions SELECT * FROM former_revisions;
DROP TABLE former_revisions;
CREATE INDEX rate_revisions_by_series ON rate_revisions (series_id, rate_date);
`,
  postgres: `
ALTER TABLE rate_revisions DROP CONSTRAINT IF EXISTS rate_revisions_kind_check,
  ADD CONSTRAINT rate_revisions_kind_check ${REPAIRED_KIND};
`,
}

// The cause of a run. The messages of earlier runs are read once, here, where their failures have no code for it.
// `firstSemicolon`: its position in a message, where it separates problems.
const runCauses = (firstSemicolon: string) => `
ALTER TABLE sync_runs ADD COLUMN cause TEXT CHECK (cause IN ('interrupted', 'unsynchronized', 'unsynchronized_more'));
UPDATE sync_runs SET cause = 'interrupted'
  WHERE failures LIKE '%"code":"interrupted"%'
  OR (failures IS NULL AND (message = 'interrupted' OR message LIKE '%interrupted: %'));
UPDATE sync_runs
  SET cause = CASE WHEN message LIKE '%the requests of a run did not suffice%'
    THEN 'unsynchronized_more' ELSE 'unsynchronized' END
  WHERE cause IS NULL AND message LIKE 'the source has not synchronized %' AND ${firstSemicolon} = 0;
`
const CAUSES = {
  sqlite: runCauses('instr(message, char(59))'),
  postgres: runCauses('strpos(message, chr(59))'),
}

// An upload adds the documents of all tokens of a name.
const TOKEN_NAMES = `
CREATE INDEX tokens_by_name ON tokens (name);
`

// Headers of hooks, and hooks over plain HTTP in private networks.
const HOOK_HEADERS = `
ALTER TABLE hooks ADD COLUMN allow_http INTEGER NOT NULL DEFAULT 0 CHECK (allow_http IN (0, 1));
ALTER TABLE hooks ADD COLUMN headers TEXT;
ALTER TABLE hooks ADD COLUMN secret_headers BLOB;
`

// Parts of mails that are no documents. A list of mails replaces that of the refused ones, which nodes of 1.0.0 have.
const LEFT_PARTS = `
ALTER TABLE mailboxes ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mailboxes ADD COLUMN ignore_names TEXT;
CREATE TABLE mail_left (
  mailbox_id  INTEGER NOT NULL REFERENCES mailboxes (id),
  uidvalidity INTEGER NOT NULL,
  uid         INTEGER NOT NULL,
  size        INTEGER NOT NULL,
  at          TEXT    NOT NULL,
  from_text   TEXT,
  subject     TEXT,
  reason      TEXT,
  parts       TEXT    NOT NULL,
  PRIMARY KEY (mailbox_id, uidvalidity, uid)
) STRICT, WITHOUT ROWID;
INSERT INTO mail_left (mailbox_id, uidvalidity, uid, size, at, reason, parts)
  SELECT mailbox_id, uidvalidity, uid, size, at, reason, '[]' FROM mail_refusals WHERE true ON CONFLICT DO NOTHING;
ALTER TABLE document_mail ADD COLUMN note TEXT;
`

// Values of a demo, which no source may be named for.
const INVENTED = `
ALTER TABLE providers ADD COLUMN invented INTEGER NOT NULL DEFAULT 0 CHECK (invented IN (0, 1));
`

export const SHARED_MIGRATIONS: readonly Migration[] = [
  ...EARLIER_MIGRATIONS,
  { sql: INDICATORS },
  { sql: KEY_PROVIDERS },
  { sql: SECOND_OPINIONS },
  { sql: INVOICES },
  { sql: MAILBOXES },
  {
    sql: {
      sqlite: DOUBTS + REPAIRS.sqlite + CAUSES.sqlite + TOKEN_NAMES + HOOK_HEADERS + LEFT_PARTS,
      postgres: DOUBTS + REPAIRS.postgres + CAUSES.postgres + TOKEN_NAMES + HOOK_HEADERS + LEFT_PARTS,
    },
  },
  { sql: INVENTED },
]

export const SCHEMA_VERSION = schemaVersion(SHARED_MIGRATIONS)
/** Newest schema of a release, which only a migration changes. */
export const RELEASED_SCHEMA = 25

/** The versions that can be opened, for an error. */
export const KNOWN_SCHEMAS = `this program knows ${FIRST_SCHEMA} to ${SCHEMA_VERSION}`
/** The release that upgrades the schemas before FIRST_SCHEMA, and the commit of its sources. */
export const PREVIOUS_RELEASE = 'cambista 0.2.0 (its release, or commit 8eb66e7)'

/** Schema version of a program with these migrations. */
export function schemaVersion(migrations: readonly Migration[]): number {
  return FIRST_SCHEMA + migrations.length
}

/** Oldest schema whose programs work with the result of these migrations. */
export function oldestProgram(migrations: readonly Migration[]): number {
  return migrations.reduce((oldest, one) => one.oldest ?? oldest, OLDEST_PROGRAM)
}
