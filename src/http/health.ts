import * as v from 'valibot'
import { addDays, type Clock, todayIn } from '../dates.ts'
import { rateOn } from '../domain/rates.ts'
import { reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { isReady } from '../store/database.ts'
import type { RateBook } from '../store/rate-book.ts'
import { selectLastFinishedRun } from '../store/sync-runs.ts'
import type { Db } from '../store/tables.ts'
import type { Scheduler } from '../sync/scheduler.ts'
import { type Api, freshReply } from './api.ts'
import { seriesMatching } from './rates.ts'
import { Instant } from './shapes.ts'

const STALE_DAYS = 2
const FAR_FUTURE = '2999-12-31'
const Count = v.pipe(v.number(), v.integer())

const HealthOut = v.object({
  status: v.picklist(['ok', 'degraded', 'error']),
  database: v.picklist(['ok', 'error']),
  scheduler: v.picklist(['running', 'disabled', 'stopped']),
  providers: Count,
  series: Count,
  rates: Count,
  last_sync: v.nullable(Instant),
})

const Up = v.object({ status: v.string() })

export function mountHealth(
  api: Api,
  deps: { db: Db; book: RateBook; clock: Clock; scheduler: Scheduler; log: Log },
): void {
  const { db, book, clock, scheduler, log } = deps
  api.get({
    path: '/api/v1/health',
    summary: 'Service status and stored counts',
    answer: HealthOut,
    unavailable: 'The database does not answer',
    async handle() {
      const page = book.page()
      const counts = { providers: page.providers.length, series: page.series.length }
      const { state } = scheduler.status()
      try {
        const last = await selectLastFinishedRun(db)
        const newest = await newestDollar(book)
        const stale = newest === undefined || newest < addDays(todayIn(clock), -STALE_DAYS)
        return freshReply({
          status: stale || last?.status === 'error' ? 'degraded' : 'ok',
          database: 'ok',
          scheduler: state,
          ...counts,
          rates: await page.countRates(),
          last_sync: last?.finished_at ?? null,
        })
      } catch (error) {
        // The one answer that must not become a 500: it is here to say that the database does not answer.
        log.error('database does not answer', { reason: reasonOf(error) })
        const broken = {
          status: 'error',
          database: 'error',
          scheduler: state,
          ...counts,
          rates: 0,
          last_sync: null,
        }
        return freshReply(broken, 503)
      }
    },
  })

  api.get({
    path: '/healthz',
    summary: 'The process answers',
    access: 'open',
    answer: Up,
    handle: () => freshReply({ status: 'ok' }),
  })

  api.get({
    path: '/readyz',
    summary: 'The database is open and its schema current',
    unavailable: 'The database does not answer, or has another schema',
    access: 'open',
    answer: Up,
    async handle() {
      const ready = await isReady(db).catch(() => false)
      return ready ? freshReply({ status: 'ok' }) : freshReply({ status: 'error' }, 503)
    },
  })
}

/** The newest day with a value of the dollar in colones, tomorrow's included. */
export async function newestDollar(book: RateBook): Promise<string | undefined> {
  const page = book.page()
  const columns = await page.columns(seriesMatching(page, { base: 'USD', quote: 'CRC' }))
  const days = columns.map((column) => rateOn(column, FAR_FUTURE)?.rate_date ?? '')
  return days.sort().at(-1) || undefined
}
