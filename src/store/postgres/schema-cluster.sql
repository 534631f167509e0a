-- What only a database of several nodes has, beside the tables of schema.sql. Instants are text as there, but for those of
-- leases, which the database compares with its own clock.

-- What the nodes see by one look. `access_revision` rises with keys, tokens and the directory, `documents_revision` with
-- documents and messages for hooks. A program that is older than `oldest_program` may not use this schema.
ALTER TABLE meta ADD COLUMN IF NOT EXISTS access_revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE meta ADD COLUMN IF NOT EXISTS documents_revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE meta ADD COLUMN IF NOT EXISTS schema_version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN IF NOT EXISTS oldest_program BIGINT NOT NULL DEFAULT 0;
-- What the file or the object `cambista-contents` says of the store that has the contents of this database.
ALTER TABLE meta ADD COLUMN IF NOT EXISTS contents_mark TEXT;
-- When the store of contents was last compared with the rows.
ALTER TABLE meta ADD COLUMN IF NOT EXISTS contents_listed_at TEXT;
-- The epoch of the data directory whose data are being moved here, until all are; no node may start before.
ALTER TABLE meta ADD COLUMN IF NOT EXISTS moving_from TEXT;

-- Tasks that one node at a time has. A row stays when its holder lets go, so that `fence` never begins anew: each
-- transaction of a task asks for the fence that it was given, and a holder that slept past its lease writes nothing.
CREATE TABLE leases (
  name       TEXT        PRIMARY KEY,
  holder     TEXT        NOT NULL,
  fence      INTEGER     NOT NULL,
  taken_at   TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);

-- When the lease of a claim ends, by the database's clock: what is later than that any node may claim. It means nothing where a
-- document is not claimed. The index has what a worker may be given, and no more.
ALTER TABLE documents ADD COLUMN IF NOT EXISTS lease_ends TIMESTAMPTZ;
CREATE INDEX documents_open ON documents (agent_id, id) WHERE state IN ('new', 'claimed');

-- Which object of the store has a content; NULL: it is a file by its hash. An upload makes or locks the row, and so does a
-- deletion, so that neither takes it from the other.
CREATE TABLE contents (
  sha256     TEXT    PRIMARY KEY CHECK (length(sha256) = 64),
  object     TEXT    UNIQUE,
  size       INTEGER NOT NULL,
  created_at TEXT    NOT NULL
);

-- Objects, or files by their hash, that no content has any more. They go after a time, for a database that is put back to
-- an earlier moment names them again.
CREATE TABLE removed_objects (
  object     TEXT PRIMARY KEY,
  removed_at TEXT NOT NULL
);
CREATE INDEX removed_objects_by_age ON removed_objects (removed_at);

-- The one row that each upload changes before it takes ids, and holds until its commit: documents are committed in the order
-- of their ids, as where one process writes, so that a reader who goes on after an id misses nothing.
CREATE TABLE document_order (
  id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  turn INTEGER NOT NULL
);
INSERT INTO document_order (id, turn) VALUES (1, 0) ON CONFLICT DO NOTHING;

-- When each provider is synced next, as the node says that has the schedule.
CREATE TABLE scheduler (
  provider_id INTEGER PRIMARY KEY REFERENCES providers (id),
  cron        TEXT    NOT NULL,
  next_run    TEXT
);

-- Sessions of the page, for the next request of a browser may come to another node: SHA-256 of both halves, and of the secrets
-- that they were opened with. `used_at` is right to the minute.
CREATE TABLE page_sessions (
  id        TEXT PRIMARY KEY,
  page      TEXT NOT NULL,
  key       TEXT,
  token     TEXT,
  opened_at TEXT NOT NULL,
  used_at   TEXT NOT NULL
);
CREATE INDEX page_sessions_by_use ON page_sessions (used_at);

-- What a browser may open once with a URL alone: the SHA-256 of its last part, and what it is for.
CREATE TABLE page_tickets (
  hash        TEXT PRIMARY KEY,
  session_id  TEXT NOT NULL,
  document_id INTEGER,
  format      TEXT,
  ends_at     TEXT NOT NULL
);
CREATE INDEX page_tickets_by_end ON page_tickets (ends_at);
