// Examines the rates of each provider: values, benchmark days, freshness, and days after tomorrow. Holes and rounded
// values are notes, because requests are answered with them as such.

import type { Provider } from '../../../providers/provider.ts'
import { selectCoverage } from '../../../store/rates/coverage.ts'
import { type ProviderRow, selectProviders } from '../../../store/rates/providers.ts'
import { countRates, selectRatesOfSeries } from '../../../store/rates/rates.ts'
import { type SeriesRow, selectSeries } from '../../../store/rates/series.ts'
import { selectLastFinishedRun } from '../../../store/rates/sync-runs.ts'
import type { ReadDb } from '../../../store/tables.ts'
import {
  type Clock,
  currentDay,
  earliest,
  type IsoDate,
  isIsoDate,
  lastTomorrow,
  latest,
} from '../../../values/dates.ts'
import { isCanonicalDecimal, isPositive } from '../../../values/decimal.ts'
import { findGaps, type Interval, toIntervals } from '../../../values/intervals.ts'
import { benchmarkSide, dueDay, isBenchmark, staleness } from '../../rates/freshness.ts'
import { describeSeries } from '../../rates/rate-sums.ts'
import { findOpinionReport } from '../../rates/second-opinion.ts'
import { examineParities } from './cross-checks.ts'
import type { CheckContext, Report } from './examination.ts'

const HOLES_NAMED = 20

/** A provider with its row and its series. */
type ProviderData = { provider: Provider; row: ProviderRow; series: SeriesRow[] }

export async function examineRates(context: CheckContext): Promise<void> {
  const { db, clock, providers, report } = context
  const series = await selectSeries(db)
  const rows = await selectProviders(db)
  const entries = providers.flatMap((provider) => {
    const row = rows.find(({ code }) => code === provider.code)
    return row ? [{ provider, row, series: series.filter((one) => one.provider_id === row.id) }] : []
  })
  const daily = entries.flatMap(({ provider, series }) =>
    provider.publication.days === 'every day' ? series.filter((one) => isBenchmark(provider, one)) : [],
  )
  const tomorrow = lastTomorrow(
    clock,
    providers.map(({ timeZone }) => timeZone),
  )
  const newest = new Map<number, IsoDate>()
  const laterDays: { series: SeriesRow; last: IsoDate }[] = []
  const holes = new Map<string, { hole: Interval; series: SeriesRow[] }>()
  for (const one of series) {
    // Coverage is read first. A sync stores it with the values, so it never exceeds the values read next.
    const covered = (await selectCoverage(db)).get(one.id) ?? []
    const rates = await selectRatesOfSeries(db, one.id)
    const last = rates.at(-1)?.rate_date
    if (last !== undefined) newest.set(one.id, last)
    for (const { rate_date, value } of rates) {
      const good = isIsoDate(rate_date) && isCanonicalDecimal(value) && isPositive(value)
      if (!good) report.finding('rates', `${describeSeries(one)} has the value ${value} on ${rate_date}`)
    }
    if (daily.includes(one)) {
      const days = new Set(rates.map(({ rate_date }) => rate_date))
      for (const interval of covered)
        reportMissing(one, requiredInterval(interval, last, tomorrow), days, report)
    }
    const lastDay = [last, covered.at(-1)?.to].filter((day) => day !== undefined).reduce(latest, tomorrow)
    if (lastDay > tomorrow) laterDays.push({ series: one, last: lastDay })
    for (const hole of innerGaps(covered)) {
      const key = `${hole.from} ${hole.to}`
      holes.getOrInsertComputed(key, () => ({ hole, series: [] })).series.push(one)
    }
  }
  const { all, roundedSeries } = await countRates(db)
  report.note(`${all} rates of ${series.length} series`)
  reportLaterDays(laterDays, tomorrow, report)
  reportHoles([...holes.values()], report)
  for (const one of entries) noteRounded(one, roundedSeries, report)
  for (const one of entries) {
    const providerReport: Report =
      providers.length === 1
        ? report
        : {
            finding: (check, words) => report.finding(check, `${one.provider.code}: ${words}`),
            note: (words) => report.note(`${one.provider.code}: ${words}`),
          }
    await examineFreshness(db, one, newest, clock, providerReport)
  }
  await examineParities(context)
  const opinion = await findOpinionReport(db, { clock, providers })
  if (!opinion) return
  if (opinion.differences.length > 0) report.finding('rates', opinion.message)
  else report.note(opinion.message)
}

/**
 * Part of a covered interval that must have values. The bank may publish the newest later, and nothing after
 * tomorrow.
 */
function requiredInterval({ from, to }: Interval, last: IsoDate | undefined, tomorrow: IsoDate): Interval {
  return { from, to: earliest(earliest(to, tomorrow), last ?? to) }
}

/**
 * Reports days after tomorrow, which cannot be published. A side with such a day seems fresh, and holes before it
 * seem covered.
 */
function reportLaterDays(
  series: { series: SeriesRow; last: IsoDate }[],
  tomorrow: IsoDate,
  report: Report,
): void {
  const [first] = series
  if (!first) return
  const which = series.length === 1 ? `${describeSeries(first.series)} has` : `${series.length} series have`
  const last = series.map(({ last: day }) => day).reduce(latest)
  report.finding(
    'rates',
    `${which} values or covered days after tomorrow, ${tomorrow}, up to ${last}, which nobody can have published`,
    { about: 'later-days', after: tomorrow },
  )
}

function reportMissing(
  series: SeriesRow,
  covered: Interval,
  days: ReadonlySet<IsoDate>,
  report: Report,
): void {
  for (const { from, to } of missingRanges(covered, days)) {
    const when = from === to ? `on ${from}` : `from ${from} to ${to}`
    report.finding('rates', `${describeSeries(series)} has no value ${when}`, {
      about: 'days',
      from,
      to,
      again: true,
    })
  }
}

/** Days of a window without those listed, as ranges. */
export function missingRanges(window: Interval, days: ReadonlySet<IsoDate>): Interval[] {
  return findGaps(toIntervals([...days].sort()), window)
}

/** Gaps between the covered intervals of a series. */
function innerGaps(covered: readonly Interval[]): Interval[] {
  const [first, last] = [covered[0], covered.at(-1)]
  return first && last ? findGaps(covered, { from: first.from, to: last.to }) : []
}

function reportHoles(holes: { hole: Interval; series: SeriesRow[] }[], report: Report): void {
  for (const { hole, series } of holes.slice(0, HOLES_NAMED)) {
    const [first] = series
    const which = series.length === 1 && first ? describeSeries(first) : `${series.length} series`
    const when = hole.from === hole.to ? `on ${hole.from}` : `from ${hole.from} to ${hole.to}`
    report.note(`${which}: not synchronized ${when}, answered with 404`, {
      about: 'days',
      ...hole,
      again: false,
    })
  }
  if (holes.length > HOLES_NAMED) report.note(`${holes.length - HOLES_NAMED} more such holes`)
}

function noteRounded(
  { provider, series }: ProviderData,
  rounded: ReadonlyMap<number, number>,
  report: Report,
): void {
  const counts = series.flatMap(({ id }) => rounded.get(id) ?? [])
  if (counts.length === 0) return
  const count = counts.reduce((sum, one) => sum + one, 0)
  const { token } = provider.settings
  const source = provider.roundedSource ?? provider.code
  report.note(
    `${count} values of ${counts.length} series are rounded, as ${source} gives them`,
    token && { about: 'token', name: token.name, option: token.option },
  )
}

async function examineFreshness(
  db: ReadDb,
  { provider, row, series }: ProviderData,
  newest: ReadonlyMap<number, IsoDate>,
  clock: Clock,
  report: Report,
): Promise<void> {
  const { noun } = provider.benchmark
  const sides = series.filter((one) => isBenchmark(provider, one))
  if (!sides.some(({ id }) => newest.has(id))) {
    if (await selectLastFinishedRun(db, row.id))
      report.finding('rates', `there is no ${noun} rate, although a sync has run`)
    return
  }
  const due = dueDay(provider, clock)
  const today = currentDay(clock, provider.timeZone)
  for (const { id, rate_type, enabled } of sides) {
    const side = benchmarkSide(rate_type, newest.get(id), today)
    const fault = enabled && row.enabled ? staleness(provider, side, due) : undefined
    if (fault) report.finding('rates', fault, { about: 'failed-sync' })
    else report.note(`the newest ${rate_type} of the ${noun} is of ${side.newest}`)
  }
}
