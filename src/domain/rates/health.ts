// What there is to say of the stored rates: why they are not well, how far the first history is, which days are missing
// between others, whether values are rounded (decisions 2.11). Holes and rounded values are no reason to be degraded.

import { type IsoDate, isoOf } from '../../dates.ts'
import { gapsIn, type Interval } from '../../intervals.ts'
import type { RateType } from '../../providers/provider.ts'
import type { SeriesRow } from '../../store/series.ts'
import { selectNewestRun } from '../../store/sync-runs.ts'
import type { Db } from '../../store/tables.ts'
import type { CoveredDays } from './column.ts'
import { type DollarSide, dollarSide, isDollar, staleness } from './freshness.ts'
import type { RateSnapshot } from './rate-cache.ts'

// A row that was rejected leaves a hole of a day; a history that is still to be read, one of a window or more.
const SHORT_HOLE_DAYS = 31

/** How far the reading of history is, while a run reads it. */
export type HistoryReading = { yearsRead: number; requestsLeft: number; doneAt: Date }

export type Hole = { series_id: number; pair: string; rate_type: RateType; from: IsoDate; to: IsoDate }

export type RateHealth = {
  /** Why the rates are not well; empty: they are. */
  reasons: string[]
  /** The reasons that are stale sides of the dollar. */
  stale: string[]
  /** Undefined: the dollar's history is there, or nobody fetches it. */
  history:
    | {
        read_since: IsoDate | null
        wanted_since: IsoDate
        years_read?: number
        requests_left?: number
        done_at?: string
      }
    | undefined
  holes: Hole[]
  /** Whether all stored values are as published. */
  exact: boolean
}

export async function rateHealth(
  db: Db,
  snapshot: RateSnapshot,
  about: { today: IsoDate; historyFrom: IsoDate; reading: HistoryReading | undefined },
): Promise<RateHealth> {
  const { today, historyFrom, reading } = about
  const stale = (await dollarSides(snapshot, today)).flatMap((side) => staleness(side) ?? [])
  const reasons = [...stale]
  const readSince = oldestDollar(snapshot)
  let history: RateHealth['history']
  if (await isFetchingHistory(db, snapshot, historyFrom)) {
    reasons.push(`the history of the dollar is being fetched: it is there since ${readSince ?? 'no day yet'}`)
    history = { read_since: readSince ?? null, wanted_since: historyFrom }
    if (reading) {
      history.years_read = reading.yearsRead
      history.requests_left = reading.requestsLeft
      history.done_at = reading.doneAt.toISOString()
    }
  }
  const holes = snapshot.series.flatMap((series) => holesOf(series, snapshot.coveredOf(series.id)))
  return { reasons, stale, history, holes, exact: (await snapshot.countRates()).rounded === 0 }
}

/** The sides of the dollar in colones that are synchronized. */
export async function dollarSides(snapshot: RateSnapshot, today: IsoDate): Promise<DollarSide[]> {
  const dollar = syncedDollar(snapshot)
  const columns = await snapshot.columns(dollar)
  return dollar.map(({ rate_type }, at) => {
    const newest = columns[at]?.days.at(-1)
    return dollarSide(rate_type, newest === undefined ? undefined : isoOf(newest), today)
  })
}

function syncedDollar(snapshot: RateSnapshot): SeriesRow[] {
  const enabled = new Set(snapshot.providers.filter((one) => one.enabled).map(({ id }) => id))
  return snapshot.series.filter((one) => isDollar(one) && one.enabled && enabled.has(one.provider_id))
}

/** The day since which the newest days of every side are covered, but for short holes. */
function oldestDollar(snapshot: RateSnapshot): IsoDate | undefined {
  const begins = syncedDollar(snapshot).map(({ id }) => beginOfNewest(snapshot.coveredOf(id)))
  if (begins.length === 0 || begins.includes(undefined)) return undefined
  return isoOf(Math.max(...(begins as number[])))
}

function beginOfNewest(covered: CoveredDays): number | undefined {
  let begin = covered.at(-2)
  for (let at = covered.length - 4; at >= 0 && begin !== undefined; at -= 2) {
    const hole = begin - (covered[at + 1] ?? 0) - 1
    if (hole > SHORT_HOLE_DAYS) break
    begin = covered[at]
  }
  return begin
}

/** Whether a run that asks for the whole history is under way, or has not come to a good end. */
async function isFetchingHistory(db: Db, snapshot: RateSnapshot, historyFrom: IsoDate): Promise<boolean> {
  const readSince = oldestDollar(snapshot)
  const [dollar] = syncedDollar(snapshot)
  if (!dollar || (readSince !== undefined && readSince <= historyFrom)) return false
  const run = await selectNewestRun(db, dollar.provider_id)
  if (!run || run.date_from === null || run.date_from > historyFrom) return false
  return run.finished_at === null || run.status !== 'ok'
}

function holesOf(series: SeriesRow, covered: CoveredDays): Hole[] {
  const intervals: Interval[] = []
  for (let at = 0; at < covered.length; at += 2) {
    intervals.push({ from: isoOf(covered[at] ?? 0), to: isoOf(covered[at + 1] ?? 0) })
  }
  const [first, last] = [intervals[0], intervals.at(-1)]
  if (!first || !last) return []
  return gapsIn(intervals, { from: first.from, to: last.to }).map(({ from, to }) => ({
    series_id: series.id,
    pair: `${series.base_currency}/${series.quote_currency}`,
    rate_type: series.rate_type,
    from,
    to,
  }))
}
