// SQL of SQLite. Only one connection writes, so ids rise in the order of the commits. A transaction is retried only after
// the ballast made room.

import { sql } from 'kysely'
import { hasNewRoom } from '../ballast.ts'
import type { EngineSql } from '../engine.ts'
import type { WriteDb } from '../tables.ts'

export const sqliteSql: EngineSql = {
  atomically: runTransaction,

  snapshot: (db, work) => (db as WriteDb).transaction().setAccessMode('read only').execute(work),

  consistently: runTransaction,

  readsAhead: false,
  mayHaveOlderNodes: false,

  async columnsOfSeries(db, seriesIds) {
    const columns: { id: number; count: number; lines: string }[] = []
    for (const id of seriesIds) {
      const { rows } = await sql<{ count: number; lines: Buffer | null }>`
        select count(*) as count, cast(group_concat(line, char(10)) as blob) as lines
        from (
          select coalesce(rate_date, '') || coalesce(value, '') || coalesce('r' || rounded_to, '') as line
          from rates where series_id = ${id} order by rate_date
        )
      `.execute(db)
      // A blob, because latin1 bytes are read twice as fast as text.
      for (const { count, lines } of rows) columns.push({ id, count, lines: lines?.toString('latin1') ?? '' })
    }
    return columns
  },

  async upsertRates(db, sent, storedAt) {
    const { numAffectedRows } = await sql`
      insert into rates (series_id, rate_date, value, rounded_to, stored_at)
      select cast(series.key as integer), substr(rate.value, 1, 10), substr(rate.value, 11),
        nullif(substr(series.key, instr(series.key, ' ') + 1), ''), ${storedAt}
      from json_each(${sent}) as series, json_each(series.value) as rate where true
      on conflict (series_id, rate_date) do update
        set value = excluded.value, rounded_to = excluded.rounded_to, stored_at = excluded.stored_at
    `.execute(db)
    return Number(numAffectedRows)
  },

  async addSums(db, sent, revision) {
    await sql`
      insert into rate_sums (series_id, part, row_count, first_sum, second_sum, revision)
      select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, ${revision}
      from json_each(${sent}) where true
      on conflict (series_id, part) do update
        set row_count = row_count + excluded.row_count, revision = excluded.revision,
          first_sum = (first_sum + excluded.first_sum) % 4294967296,
          second_sum = (second_sum + excluded.second_sum) % 4294967296
    `.execute(db)
  },

  async storedAtRuns(db, seriesId) {
    const { rows } = await sql<{ from: string; storedAt: number }>`
      select rate_date as "from", stored_at as storedAt
      from (
        select rate_date, stored_at, lag(stored_at) over (order by rate_date) as before
        from rates where series_id = ${seriesId}
      )
      where before is not stored_at order by rate_date
    `.execute(db)
    return rows
  },

  async insertCoverage(db, kind, sent) {
    const { numAffectedRows } = await sql`
      insert into coverage (series_id, kind, covered_from, covered_to)
      select value ->> 0, ${kind}, value ->> 1, value ->> 2 from json_each(${sent})
    `.execute(db)
    return Number(numAffectedRows)
  },

  async selectReferencedHashes(db) {
    const { rows } = await sql<{ sha256: string }>`select sha256 from attachments not indexed`.execute(db)
    return new Set(rows.map(({ sha256 }) => sha256))
  },

  allocateIds: async () => undefined,

  raiseIdSequence: async () => {}, // AUTOINCREMENT does

  leases({ clock, ticks = () => performance.now() }) {
    let clockLead = 0 // clock minus ticks when an end was set; the clock may be changed later
    const readTicks = () => {
      const now = Math.ceil(ticks())
      clockLead = clock().getTime() - now
      return now
    }
    return {
      isOpen: sql`documents.state in ('new', 'claimed')`,
      now: () => sql`${ticks()}`,
      end: (seconds) => sql`${readTicks()} + 1000 * ${seconds ?? sql.ref('lease_seconds')}`,
      toInstant: (end) => new Date(Number(end) + clockLead),
      isPerProcess: true,
    }
  },

  lockRows: (query) => query, // a transaction that writes is alone

  selectArrivals: async () => [],

  selectSchedules: async () => [],

  upsertSchedules: async () => {},
}

async function runTransaction<T>(db: WriteDb, work: (trx: WriteDb) => Promise<T>): Promise<T> {
  try {
    return await db.transaction().execute(work)
  } catch (error) {
    if (!hasNewRoom(error)) throw error
    return db.transaction().execute(work)
  }
}
