// SQL of PostgreSQL. Counterpart of ../sqlite/engine-sql.ts, function by function.

import { setTimeout as wait } from 'node:timers/promises'
import { errorCode } from '../../runtime/errors.ts'
import type { IsoDate } from '../../values/dates.ts'
import type { EngineSql, ScheduleRow, TransactionOptions } from '../engine.ts'
import { invariantError } from '../invariant.ts'
import type { WriteDb } from '../tables.ts'
import { COMMIT_UNKNOWN, isOvertaken, notCommittedError } from './postgres-errors.ts'
import { raw, rawQuery } from './raw-query.ts'
import { withRetry } from './retry.ts'

const MAX_ATTEMPTS = 3
const COMMIT_CHECK_MS = 5000
const COMMIT_CHECK_PAUSE_MS = 100

export const postgresSql: EngineSql = {
  atomically,
  snapshot: (db, work) =>
    withRetry(() =>
      (db as WriteDb)
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(work),
    ),
  consistently: (db, work) =>
    withRetry(() => db.transaction().setIsolationLevel('repeatable read').execute(work)),
  readsAhead: true,
  mayHaveOlderNodes: true,
  // A query for each series, or coalesce instead of case, takes 50 % longer.
  async columnsOfSeries(db, seriesIds) {
    const { rows } = await rawQuery<{ id: number; count: number; lines: string }>(
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
    const { numAffectedRows } = await rawQuery(
      db,
      `insert into rates (series_id, rate_date, value, rounded_to, stored_at)
        select split_part(series.key, ' ', 1)::bigint, substr(rate.value, 1, 10), substr(rate.value, 11),
          nullif(split_part(series.key, ' ', 2), '')::bigint, $2::bigint
        from json_each($1::json) as series, json_array_elements_text(series.value) as rate (value)
        on conflict (series_id, rate_date) do update
          set value = excluded.value, rounded_to = excluded.rounded_to, stored_at = excluded.stored_at`,
      [sent, storedAt],
      'rates',
    )
    return Number(numAffectedRows)
  },
  async addSums(db, sent, revision) {
    await rawQuery(
      db,
      `insert into rate_sums as stored (series_id, part, row_count, first_sum, second_sum, revision)
        select (value ->> 0)::bigint, value ->> 1, (value ->> 2)::bigint, (value ->> 3)::bigint,
          (value ->> 4)::bigint, $2::bigint
        from json_array_elements($1::json) as sums (value)
        on conflict (series_id, part) do update
          set row_count = stored.row_count + excluded.row_count, revision = excluded.revision,
            first_sum = (stored.first_sum + excluded.first_sum) % 4294967296,
            second_sum = (stored.second_sum + excluded.second_sum) % 4294967296`,
      [sent, revision],
      'rate_sums',
    )
  },
  async storedAtRuns(db, seriesId) {
    const { rows } = await rawQuery<{ from: IsoDate; storedAt: number }>(
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
    const { numAffectedRows } = await rawQuery(
      db,
      `insert into coverage (series_id, kind, covered_from, covered_to)
        select (value ->> 0)::bigint, $2::text, value ->> 1, value ->> 2
        from json_array_elements($1::json) as covered (value)`,
      [sent, kind],
      'coverage',
    )
    return Number(numAffectedRows)
  },
  // The administrator's own tools find damaged indices.
  async selectReferencedHashes(db) {
    const rows = await db.selectFrom('attachments').select('sha256').distinct().execute()
    return new Set(rows.map(({ sha256 }) => sha256))
  },
  selectArrivals: (db, after) =>
    db
      .selectFrom('documents')
      .select((of) => ['company_id as companyId', 'agent_id as agentId', of.fn.max('id').as('last')])
      .where('id', '>', after)
      .groupBy(['company_id', 'agent_id'])
      .execute(),
  async selectSchedules(db) {
    const { rows } = await rawQuery<ScheduleRow>(
      db,
      'select code as provider, cron, next_run from scheduler join providers on providers.id = provider_id',
    )
    return rows
  },
  async upsertSchedules(trx, rows) {
    await rawQuery(
      trx,
      `insert into scheduler (provider_id, cron, next_run)
        select id, cron, next_run
        from json_to_recordset($1::json) as row (provider text, cron text, next_run text)
        join providers on code = provider
        on conflict (provider_id) do update set cron = excluded.cron, next_run = excluded.next_run`,
      [JSON.stringify(rows)],
      'scheduler',
    )
  },
  // RETURNING runs under the row lock, so ids are allocated in commit order.
  async allocateIds(trx, count) {
    // The driver reads `turn` (change-counters.ts).
    const { rows } = await rawQuery<{ last: number }>(
      trx,
      `update document_order set turn = turn + 1
       returning turn, (
         select setval(ids.name, nextval(ids.name) + $1::bigint - 1)
         from (select pg_get_serial_sequence('documents', 'id')::regclass as name) as ids
       ) as last`,
      [count],
      'document_order',
    )
    const [row] = rows
    if (!row) throw invariantError('Counter', 'document_order has no row, so ids have no order')
    const first = row.last - count + 1
    return Array.from({ length: count }, (_, at) => first + at)
  },
  async raiseIdSequence(db, table, id) {
    const { rows } = await rawQuery<{ name: string }>(db, `select pg_get_serial_sequence($1, 'id') as name`, [
      table,
    ])
    const sequence = rows[0]?.name ?? ''
    // The last value of a sequence is 1 both before and after its first id; `is_called` differs.
    await rawQuery(
      db,
      `select setval($1::regclass, $2) from ${sequence} where last_value < $2 or not is_called`,
      [sequence, id],
    )
  },
  leases: () => ({
    isOpen: raw(`documents.state in ('new', 'claimed')`),
    now: () => raw('clock_timestamp()'),
    end: (seconds) => raw(`clock_timestamp() + ${seconds ?? 'lease_seconds'} * interval '1 second'`),
    toInstant: (end) => new Date(end),
    isPerProcess: false,
  }),
  lockRows(query, strength, tables) {
    if (strength === 'share') return query.forShare([...tables])
    const locked = query.forUpdate([...tables])
    return strength === 'update' ? locked : locked.skipLocked()
  },
}

async function atomically<T>(
  db: WriteDb,
  work: (trx: WriteDb) => Promise<T>,
  wasCommitted?: TransactionOptions<T>['wasCommitted'],
): Promise<T> {
  let outcome: { result: T } | undefined
  try {
    return await retryOvertaken(db, async (trx) => {
      const result = await work(trx)
      outcome = { result }
      return result
    })
  } catch (error) {
    if (!wasCommitted || !outcome || errorCode(error) !== COMMIT_UNKNOWN) throw error
    const { result } = outcome
    if (await queryAfterCommit(db, (trx) => wasCommitted(trx, result), error)) return result
    throw notCommittedError(error)
  }
}

/**
 * Runs a query after all pending commits have ended.
 * @throws `unknown` when the database does not answer for COMMIT_CHECK_MS
 */
async function queryAfterCommit<T>(
  db: WriteDb,
  work: (trx: WriteDb) => Promise<T>,
  unknown: unknown,
): Promise<T> {
  const until = performance.now() + COMMIT_CHECK_MS
  while (true) {
    try {
      return await db.transaction().execute(async (trx) => {
        // Each acknowledged transaction changes one of these rows, and locks it until its end.
        await rawQuery(trx, 'select 1 from document_order, meta for no key update')
        return work(trx)
      })
    } catch {
      if (performance.now() + COMMIT_CHECK_PAUSE_MS > until) throw unknown
    }
    await wait(COMMIT_CHECK_PAUSE_MS)
  }
}

/** Runs `work` again after a conflict with a concurrent insert or deletion: the next run sees the other's rows. */
async function retryOvertaken<T>(db: WriteDb, work: (trx: WriteDb) => Promise<T>): Promise<T> {
  let attempts = 0
  while (true) {
    try {
      return await withRetry(() => db.transaction().execute(work))
    } catch (error) {
      attempts += 1
      if (!isOvertaken(error) || attempts === MAX_ATTEMPTS) throw error
    }
  }
}
