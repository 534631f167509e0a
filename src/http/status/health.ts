import * as v from 'valibot'
import type { DatabaseState } from '../../domain/database-watch.ts'
import { type HealthQuestion, type RateHealth, rateHealth } from '../../domain/rates/health.ts'
import type { RateCache } from '../../domain/rates/rate-cache.ts'
import { reasonOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { MOST_OFF_MS } from '../../store/engine.ts'
import { selectLastFinishedRun } from '../../store/sync-runs.ts'
import type { Db } from '../../store/tables.ts'
import type { Schedulers } from '../../sync/schedulers.ts'
import { type AnyEndpoint, freshReply, get } from '../api/endpoint.ts'
import { booleanParam } from '../api/params.ts'
import { Day, Instant, Pair, RateTypeOut } from '../api/shapes.ts'

const Count = v.pipe(v.number(), v.integer())

const Detail = v.object({
  reasons: v.optional(v.pipe(v.array(v.string()), v.metadata({ description: 'Why the status is not ok' }))),
  history: v.optional(
    v.pipe(
      v.object({
        read_since: v.nullable(Day),
        wanted_since: Day,
        years_read: v.optional(v.number()),
        requests_left: v.optional(Count),
        done_at: v.optional(Instant),
      }),
      v.metadata({ description: "How far the first reading of the dollar's history is" }),
    ),
  ),
  holes: v.optional(
    v.pipe(
      v.array(v.object({ series_id: Count, pair: Pair, rate_type: RateTypeOut, from: Day, to: Day })),
      v.metadata({ description: 'Days that were not synchronized, between others that were: the first 20' }),
    ),
  ),
  holes_total: v.optional(Count),
  rounded: v.optional(v.pipe(v.string(), v.metadata({ description: 'What makes rounded values exact' }))),
})

const HealthOut = v.pipe(
  v.object({
    status: v.picklist(['ok', 'degraded', 'error']),
    database: v.picklist(['ok', 'error']),
    scheduler: v.picklist(['running', 'disabled', 'stopped']),
    providers: Count,
    series: Count,
    rates: Count,
    last_sync: v.nullable(Instant),
    exact: v.optional(
      v.pipe(v.literal(false), v.metadata({ description: 'There when a stored value is rounded' })),
    ),
    detail: v.optional(Detail),
  }),
  v.title('Health'),
)

const Up = v.pipe(
  v.object({ status: v.string(), detail: v.optional(v.array(v.string())) }),
  v.title('ServerState'),
)

export type HealthDeps = HealthQuestion & {
  db: Db
  isReady: () => Promise<boolean>
  database: DatabaseState
  cache: RateCache
  scheduler: Pick<Schedulers, 'state'>
  log: Log
}

const HOLES_NAMED = 20
const FLAG = 'Whether it is enough that rates can be answered'
// A probe that names it says yes: `/readyz?rates`.
const Flag = v.pipe(
  v.string(),
  v.metadata({ description: FLAG, type: 'boolean' }),
  v.transform((text) => text || 'true'),
  booleanParam(FLAG),
)

export function healthEndpoints(deps: HealthDeps): AnyEndpoint[] {
  const { db, isReady, cache, scheduler, log, database } = deps
  return [
    get({
      path: '/api/v1/health',
      summary: 'Service status and stored counts',
      about: 'Degraded, with reasons, when a rate is late, a day is missing or a value is rounded.',
      answer: HealthOut,
      unavailable: 'The database does not answer',
      async handle() {
        const snapshot = cache.snapshot()
        const counts = { providers: snapshot.providers.length, series: snapshot.series.length }
        let state: v.InferOutput<typeof HealthOut>['scheduler'] = 'stopped'
        try {
          state = await scheduler.state()
          const rates = (await snapshot.countRates()).all
          const last = await selectLastFinishedRun(db)
          const health = await healthOf(deps)
          return freshReply({
            status: health.reasons.length > 0 ? 'degraded' : 'ok',
            database: 'ok',
            scheduler: state,
            ...counts,
            rates,
            last_sync: last?.finished_at ?? null,
            ...(health.exact ? {} : { exact: false }),
            detail: detailOf(health),
          })
        } catch (error) {
          // The one answer that must not become a 500: it is here to say that the database does not answer.
          log.error('database does not answer', { reason: reasonOf(error) })
          const [why = 'the database does not answer; the log says why'] = whyNotReady(database)
          const broken = {
            status: 'error',
            database: 'error',
            scheduler: state,
            ...counts,
            rates: 0,
            last_sync: null,
            detail: { reasons: [why] },
          }
          return freshReply(broken, 503)
        }
      },
    }),

    get({
      path: '/healthz',
      summary: 'The process answers',
      about: 'Without a look at the database.',
      open: true,
      answer: Up,
      handle: () => freshReply({ status: 'ok' }),
    }),

    get({
      path: '/readyz',
      summary: 'The server can answer',
      about:
        'The database is open and its schema current; with fresh=true, the dollar is not older than two days. Of several ' +
        'nodes over one database: with rates, whether rates can be answered, which are for a time without it.',
      unavailable:
        'The database does not answer or has another schema, or its time is more than a minute off; with fresh=true, a ' +
        'side of the dollar is stale',
      open: true,
      query: v.object({
        fresh: v.optional(booleanParam('Whether the dollar must be fresh, too'), 'false'),
        rates: v.optional(Flag, 'false'),
      }),
      answer: Up,
      async handle({ query }) {
        const ready = !database.isAway() && (await isReady().catch(() => false))
        const detail = ready ? [] : whyNotReady(database)
        const isEnough = query.rates && database.isShared && isBelievable(database)
        if (!ready && !isEnough) {
          return freshReply({ status: 'error', ...(detail.length > 0 && { detail }) }, 503)
        }
        const stale = query.fresh ? (await healthOf(deps)).stale : []
        return stale.length === 0
          ? freshReply({ status: 'ok', ...(detail.length > 0 && { detail }) })
          : freshReply({ status: 'stale', detail: stale }, 503)
      },
    }),
  ]
}

function isBelievable({ memoryAge }: DatabaseState): boolean {
  try {
    memoryAge()
    return true
  } catch {
    return false
  }
}

/** What is known of it beside that it is so. */
function whyNotReady({ isAway, silentSeconds, clockOffsetSeconds }: DatabaseState): string[] {
  if (isAway()) return [`the database has not answered for ${Math.ceil(silentSeconds())} s`]
  const offset = Math.round(clockOffsetSeconds() ?? 0)
  if (Math.abs(offset) * 1000 <= MOST_OFF_MS) return []
  return [
    `the clock of this machine is ${Math.abs(offset)} s ${offset > 0 ? 'behind' : 'ahead of'} the database's`,
  ]
}

function healthOf(deps: HealthDeps): Promise<RateHealth> {
  return Promise.resolve(deps.cache.read((snapshot) => rateHealth(deps.db, snapshot, deps)))
}

/** What there is to say beside the contract's fields; undefined: nothing (decisions 1.10). */
function detailOf(health: RateHealth): v.InferOutput<typeof Detail> | undefined {
  const { reasons, history, holes, exact, rounded } = health
  if (reasons.length === 0 && holes.length === 0 && exact) return undefined
  return {
    reasons: reasons.length > 0 ? reasons : undefined,
    history,
    holes: holes.length > 0 ? holes.slice(0, HOLES_NAMED) : undefined,
    holes_total: holes.length > HOLES_NAMED ? holes.length : undefined,
    rounded: exact ? undefined : rounded.join('; '),
  }
}
