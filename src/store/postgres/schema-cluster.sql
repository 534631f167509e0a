-- Tables and columns of a cluster, in addition to schema.sql. Instants are text as there, except for those of leases,
-- which the database compares with its own clock.

-- Change counters, which nodes poll. `access_revision` rises with keys, tokens and the directory, `documents_revision`
-- with documents and messages for hooks. Programs older than `oldest_program` must not use this schema.
ALTER TABLE meta ADD COLUMN IF NOT EXISTS access_revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE meta ADD COLUMN IF NOT EXISTS documents_revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE meta ADD COLUMN IF NOT EXISTS schema_version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN IF NOT EXISTS oldest_program BIGINT NOT NULL DEFAULT 0;
-- Epoch of the data directory that is being moved here. No node starts before the end of the move.
ALTER TABLE meta ADD COLUMN IF NOT EXISTS moving_from TEXT;

-- The server of the rows: its timeline and its identifier, and the number of renewals of the epoch (lineage.ts).
ALTER TABLE meta ADD COLUMN IF NOT EXISTS timeline BIGINT;
ALTER TABLE meta ADD COLUMN IF NOT EXISTS server_id TEXT;
ALTER TABLE meta ADD COLUMN IF NOT EXISTS generation BIGINT NOT NULL DEFAULT 0;

-- Leases of tasks that one node at a time runs. A row stays after its release, so that `fence` only rises. Each
-- transaction of a task checks its fence, so a holder that was suspended past its lease writes nothing.
CREATE TABLE leases (
  name       TEXT        PRIMARY KEY,
  holder     TEXT        NOT NULL,
  fence      INTEGER     NOT NULL,
  taken_at   TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);

-- A single row, which each upload updates before it allocates ids, and locks until its commit. So documents are
-- committed in the order of their ids, and a client that continues after an id misses none.
CREATE TABLE document_order (
  id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  turn INTEGER NOT NULL
);
INSERT INTO document_order (id, turn) VALUES (1, 0) ON CONFLICT DO NOTHING;

-- Next sync of each provider, as the leader planned it.
CREATE TABLE scheduler (
  provider_id INTEGER PRIMARY KEY REFERENCES providers (id),
  cron        TEXT    NOT NULL,
  next_run    TEXT
);
