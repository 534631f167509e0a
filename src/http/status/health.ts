import * as v from 'valibot'
import { selectIndicatorStates, staleIndicators } from '../../domain/indicators/indicator-freshness.ts'
import type { DatabaseState } from '../../domain/operations/database-watch.ts'
import type { Samples } from '../../domain/operations/sample-reads.ts'
import { type HealthQuery, type RateHealth, rateHealth } from '../../domain/rates/health.ts'
import type { RateCache } from '../../domain/rates/rate-cache.ts'
import { findOpinionReport, type OpinionReport } from '../../domain/rates/second-opinion.ts'
import { errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import { blockReason, MAX_CLOCK_OFFSET_MS } from '../../store/engine.ts'
import { selectLastFinishedRun } from '../../store/rates/sync-runs.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { Schedulers } from '../../sync/schedulers.ts'
import {
  Day,
  DecimalText,
  Instant,
  Integer,
  Pair,
  RateTypeOut,
  titledObject,
  withDescription,
} from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, get } from '../endpoint/endpoint.ts'
import { booleanParam } from '../endpoint/params.ts'
import { ReasonOut } from './reason-out.ts'

const Detail = v.object({
  reasons: v.optional(withDescription(v.array(v.string()), 'Why the status is not ok')),
  reason_codes: withDescription(
    v.optional(v.array(ReasonOut)),
    'The same reasons as codes, but no full disk',
  ),
  history: v.optional(
    withDescription(
      v.object({
        read_since: v.nullable(Day),
        wanted_since: Day,
        years_read: v.optional(v.number()),
        requests_left: v.optional(Integer),
        done_at: v.optional(Instant),
      }),
      "How far the first reading of the dollar's history is",
    ),
  ),
  holes: v.optional(
    withDescription(
      v.array(v.object({ series_id: Integer, pair: Pair, rate_type: RateTypeOut, from: Day, to: Day })),
      'Days that were not synchronized, between others that were: the first 20',
    ),
  ),
  holes_total: v.optional(Integer),
  rounded: v.optional(withDescription(v.string(), 'What makes rounded values exact')),
  second_opinion: v.optional(
    withDescription(
      v.object({
        source: v.string(),
        asked_at: Instant,
        message: v.string(),
        differences: withDescription(
          v.array(
            v.object({ rate_type: RateTypeOut, rate_date: Day, value: DecimalText, other: DecimalText }),
          ),
          'The stored values, and those of the source; empty: there is no opinion',
        ),
      }),
      'A second opinion on the dollar that differs; the status stays as it is',
    ),
  ),
  indicators: v.optional(
    withDescription(
      v.array(v.string()),
      'Indicators without a new value for long; the status does not depend on them',
    ),
  ),
})

export const HealthOut = titledObject('Health', {
  status: v.picklist(['ok', 'degraded', 'error']),
  database: v.picklist(['ok', 'error']),
  scheduler: v.picklist(['running', 'disabled', 'stopped']),
  providers: Integer,
  series: Integer,
  rates: Integer,
  last_sync: v.nullable(Instant),
  exact: v.optional(withDescription(v.literal(false), 'There when a stored value is rounded')),
  detail: v.optional(Detail),
})

const Up = titledObject('ServerState', { status: v.string(), detail: v.optional(v.array(v.string())) })

export type HealthDeps = {
  db: ReadDb
  health: HealthQuery
  isReady: () => Promise<boolean>
  database: DatabaseState
  cache: RateCache
  samples: () => Samples | undefined
  onlyReads: boolean
  scheduler: Pick<Schedulers, 'state'>
  log: Log
}

const MOST_HOLES = 20

/** A parameter whose name alone means true: `/readyz?rates`. */
function flagParam(description: string) {
  return v.pipe(
    v.string(),
    v.metadata({ description, type: 'boolean' }),
    v.transform((text) => text || 'true'),
    booleanParam(description),
  )
}

export function healthEndpoints(deps: HealthDeps): AnyEndpoint[] {
  return [
    healthEndpoint(deps),
    get({
      path: '/healthz',
      about: 'The process answers, without a query of the database.',
      answer: Up,
      handle: () => freshReply({ status: 'ok' }),
    }),
    readyEndpoint(deps),
  ]
}

function healthEndpoint(deps: HealthDeps): AnyEndpoint {
  const { db, cache, scheduler, log, database } = deps
  return get({
    path: '/api/v1/health',
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
        const healthOfRates = await loadHealth(deps)
        const health = { ...healthOfRates, reasons: [...describeDisk(deps), ...healthOfRates.reasons] }
        const opinion = deps.health.hasSecondOpinion ? await findOpinionReport(db, deps.health) : undefined
        const indicators = staleIndicators(await selectIndicatorStates(db, deps.health.clock))
        return freshReply({
          status: health.reasons.length > 0 ? 'degraded' : 'ok',
          database: 'ok',
          scheduler: state,
          ...counts,
          rates,
          last_sync: last?.finished_at ?? null,
          ...(health.exact ? {} : { exact: false }),
          detail: healthDetail(health, { opinion, indicators }),
        })
      } catch (error) {
        // Not a 500: this endpoint reports that the database does not answer.
        log.error('database does not answer', { reason: errorReason(error) })
        const [why = 'the database does not answer; the log says why'] = whyNotReady(database)
        const broken = { status: 'error', database: 'error', scheduler: state, ...counts, rates: 0 }
        return freshReply({ ...broken, last_sync: null, detail: { reasons: [why] } }, 503)
      }
    },
  })
}

function readyEndpoint(deps: HealthDeps): AnyEndpoint {
  const { isReady, database } = deps
  return get({
    path: '/readyz',
    about:
      'The database is open and its schema current; with fresh=true, the dollar is not older than two days. Of ' +
      'several nodes over one database: with rates, whether rates can be answered, which are for a time without ' +
      'it.',
    unavailable:
      'The database does not answer or has another schema, it is a former primary or a copy, or its time is more ' +
      'than a minute off; with fresh=true, a side of the dollar is stale',
    query: v.object({
      fresh: v.optional(booleanParam('Whether the dollar must be fresh, too'), 'false'),
      rates: v.optional(flagParam('Whether it is enough that rates can be answered'), 'false'),
      verbose: v.optional(flagParam('Whether a ready node names what delays it'), 'false'),
    }),
    answer: Up,
    async handle({ query }) {
      // A poll that fails is no readiness; the watch logs the outage.
      const ready = !database.isAway() && (await isReady().catch(() => false))
      const delays = query.verbose ? describeDelays(database) : []
      const detail = ready
        ? [...describeDisk(deps), ...describeProbation(deps.samples()), ...delays]
        : whyNotReady(database)
      const isEnough = query.rates && database.servesFromMemory() && database.blocks().program === undefined
      if (!ready && !isEnough) {
        return freshReply({ status: 'error', ...(detail.length > 0 && { detail }) }, 503)
      }
      const stale = query.fresh ? (await loadHealth(deps)).requiredStale : []
      return stale.length === 0
        ? freshReply({ status: 'ok', ...(detail.length > 0 && { detail }) })
        : freshReply({ status: 'stale', detail: stale }, 503)
    },
  })
}

function describeDisk({ onlyReads }: HealthDeps): string[] {
  return onlyReads ? ['the disk is full: the server only reads until there is room'] : []
}

/** Names what a server on probation has read. */
function describeProbation(samples: Samples | undefined): string[] {
  if (!samples) return []
  const { rate, document } = samples
  const what = [rate && `rates up to ${rate}`, document && `document ${document}`].filter(Boolean)
  return [
    `on probation after an upgrade, it only reads: it has read ${what.join(' and ') || 'an empty database'}`,
  ]
}

/** Names what delays uploads of a node that is ready. */
function describeDelays(database: DatabaseState): string[] {
  return (database.metrics()?.waitingCommits ?? 0) > 0 ? ['commits wait for a synchronous standby'] : []
}

/** Returns the known reason, or none. */
function whyNotReady(database: DatabaseState): string[] {
  const reason = blockReason(database.blocks())
  if (reason !== undefined) return [reason]
  if (database.isAway()) return [`the database has not answered for ${Math.ceil(database.silentSeconds())} s`]
  const offset = Math.round(database.clockOffsetSeconds() ?? 0)
  if (Math.abs(offset) * 1000 <= MAX_CLOCK_OFFSET_MS) return []
  return [
    `the clock of this machine is ${Math.abs(offset)} s ${offset > 0 ? 'behind' : 'ahead of'} the database's`,
  ]
}

function loadHealth(deps: HealthDeps): Promise<RateHealth> {
  return Promise.resolve(deps.cache.read((snapshot) => rateHealth(deps.db, snapshot, deps.health)))
}

/** Details beside the contract's fields; undefined: there are none (decisions#additions). */
function healthDetail(
  health: RateHealth,
  { opinion, indicators }: { opinion: OpinionReport | undefined; indicators: readonly string[] },
): v.InferOutput<typeof Detail> | undefined {
  const { reasons, reasonCodes, history, holes, exact, rounded } = health
  const hasReport = opinion !== undefined || indicators.length > 0
  if (reasons.length === 0 && holes.length === 0 && exact && !hasReport) return undefined
  return {
    reasons: reasons.length > 0 ? reasons : undefined,
    reason_codes: reasonCodes.length > 0 ? reasonCodes : undefined,
    history,
    holes: holes.length > 0 ? holes.slice(0, MOST_HOLES) : undefined,
    holes_total: holes.length > MOST_HOLES ? holes.length : undefined,
    rounded: exact ? undefined : rounded.join('; '),
    second_opinion: opinion,
    indicators: indicators.length > 0 ? [...indicators] : undefined,
  }
}
