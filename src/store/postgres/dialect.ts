// What PostgreSQL says in its own way. Counterpart of the one for SQLite, function by function.

import { setTimeout as wait } from 'node:timers/promises'
import type { IsoDate } from '../../dates.ts'
import { codeOf } from '../../errors.ts'
import type { Dialect, Together } from '../engine.ts'
import type { Db } from '../tables.ts'
import { ask } from './ask.ts'
import { sharedClaims } from './claims.ts'
import { asNotCommitted, COMMIT_UNKNOWN, wasOvertaken } from './errors.ts'
import { tried } from './retry.ts'

const SECOND_LOOKS = 3
const FIND_OUT_MS = 5000
const FIND_OUT_EVERY_MS = 100

export const postgresDialect: Dialect = {
  atomically,
  snapshot: (db, work) =>
    tried(() =>
      db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
    ),
  readsAhead: true,
  // Series by series, or with coalesce instead of case, it takes half as long again.
  async columnsOfSeries(db, seriesIds) {
    const { rows } = await ask<{ id: number; count: number; lines: string }>(
      db,
      `select series_id as id, count(*) as count, string_agg(
           case when rounded_to is null then rate_date || value else rate_date || value || 'r' || rounded_to end,
           chr(10) order by rate_date
         ) as lines
         from rates where series_id = any($1) group by series_id`,
      [seriesIds],
    )
    return rows
  },
  async upsertRates(db, sent, storedAt) {
    await ask(
      db,
      `insert into rates (series_id, rate_date, value, rounded_to, stored_at)
        select split_part(series.key, ' ', 1)::bigint, substr(rate.value, 1, 10), substr(rate.value, 11),
          nullif(split_part(series.key, ' ', 2), '')::bigint, $2::bigint
        from json_each($1::json) as series, json_array_elements_text(series.value) as rate (value)
        on conflict (series_id, rate_date) do update
          set value = excluded.value, rounded_to = excluded.rounded_to, stored_at = excluded.stored_at`,
      [sent, storedAt],
    )
  },
  async storedAtRuns(db, seriesId) {
    const { rows } = await ask<{ from: IsoDate; storedAt: number }>(
      db,
      `select rate_date as "from", stored_at as "storedAt"
        from (
          select rate_date, stored_at, lag(stored_at) over (order by rate_date) as before
          from rates where series_id = $1
        ) as runs
        where before is distinct from stored_at order by rate_date`,
      [seriesId],
    )
    return rows
  },
  async insertCoverage(db, kind, sent) {
    await ask(
      db,
      `insert into coverage (series_id, kind, covered_from, covered_to)
        select (value ->> 0)::bigint, $2::text, value ->> 1, value ->> 2
        from json_array_elements($1::json) as covered (value)`,
      [sent, kind],
    )
  },
  // Damaged indices are for the administrator's own tools to find.
  async namedBlobs(db) {
    const rows = await db.selectFrom('attachments').select('sha256').distinct().execute()
    return new Set(rows.map(({ sha256 }) => sha256))
  },
  async hasTable(db, name) {
    const { rows } = await ask(
      db,
      `select 1 from information_schema.tables where table_schema = current_schema() and table_name = $1`,
      [name],
    )
    return rows.length > 0
  },
  // What an update returns is worked out when it has the row, so that nobody takes ids before its turn, and those of one turn
  // are all there are until the next.
  async newIds(trx, count) {
    const { rows } = await ask<{ last: number }>(
      trx,
      `update document_order set turn = turn + 1
       returning (
         select setval(ids.name, nextval(ids.name) + $1::bigint - 1)
         from (select pg_get_serial_sequence('documents', 'id')::regclass as name) as ids
       ) as last`,
      [count],
    )
    const first = (rows[0]?.last ?? 0) - count + 1
    return Array.from({ length: count }, (_, at) => first + at)
  },
  async moveIds(db, table, id) {
    const { rows } = await ask<{ name: string }>(db, `select pg_get_serial_sequence($1, 'id') as name`, [
      table,
    ])
    const sequence = rows[0]?.name ?? ''
    // Before its first id the last value of a sequence is 1, as after it.
    await ask(db, `select setval($1::regclass, $2) from ${sequence} where last_value < $2 or not is_called`, [
      sequence,
      id,
    ])
  },
  sharedClaims,
  locking: (query, strength, tables) =>
    strength === 'share' ? query.forShare([...tables]) : query.forUpdate([...tables]),
  async orderContent(trx, sha256) {
    await ask(trx, 'select 1 from contents where sha256 = $1 for update', [sha256])
  },
}

async function atomically<T>(
  db: Db,
  work: (trx: Db) => Promise<T>,
  isThere?: Together<T>['isThere'],
): Promise<T> {
  let done: { result: T } | undefined
  try {
    return await unlessOvertaken(db, async (trx) => {
      const result = await work(trx)
      done = { result }
      return result
    })
  } catch (error) {
    if (!isThere || !done || codeOf(error) !== COMMIT_UNKNOWN) throw error
    const { result } = done
    if (await afterwards(db, (trx) => isThere(trx, result), error)) return result
    throw asNotCommitted(error)
  }
}

/** Asks once all that was being committed is committed or rolled back. @throws `unknown` when that cannot be found out */
async function afterwards<T>(db: Db, work: (trx: Db) => Promise<T>, unknown: unknown): Promise<T> {
  const until = performance.now() + FIND_OUT_MS
  while (true) {
    try {
      return await db.transaction().execute(async (trx) => {
        // A transaction that is acknowledged has changed one of these rows, and holds it until its end.
        await ask(trx, 'select 1 from document_order, meta for no key update')
        return work(trx)
      })
    } catch {
      if (performance.now() + FIND_OUT_EVERY_MS > until) throw unknown
    }
    await wait(FIND_OUT_EVERY_MS)
  }
}

/** What others made in the meantime, such as a row of the same key, a second run finds before it makes its own. */
async function unlessOvertaken<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  let looks = 0
  while (true) {
    try {
      return await tried(() => db.transaction().execute(work))
    } catch (error) {
      looks += 1
      if (!wasOvertaken(error) || looks === SECOND_LOOKS) throw error
    }
  }
}
