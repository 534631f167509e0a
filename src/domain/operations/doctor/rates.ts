// The doctor's look at the rates, provider by provider: whether each value is one, whether the benchmark has one for
// every calendar day that was asked for, where it is published so, and is fresh, and which days were never asked for. A hole and a rounded value are answered as
// what they are, so they are only worth knowing.

import { addDays, type Clock, earliest, type IsoDate, isIsoDate, latest, todayIn } from '../../dates.ts'
import { canonicalDecimal } from '../../decimal.ts'
import { gapsIn, type Interval, runsOf } from '../../intervals.ts'
import type { Provider } from '../../providers/provider.ts'
import { selectCoverage } from '../../store/rates/coverage.ts'
import { type ProviderRow, selectProviders } from '../../store/rates/providers.ts'
import { countRates, countRoundedRates, selectRatesOfSeries } from '../../store/rates/rates.ts'
import { type SeriesRow, selectSeries } from '../../store/rates/series.ts'
import { selectLastFinishedRunOf } from '../../store/sync-runs.ts'
import type { Db } from '../../store/tables.ts'
import { benchmarkSide, dueDay, isBenchmark, staleness } from '../rates/freshness.ts'
import type { Report } from './examination.ts'

const HOLES_NAMED = 20

/** A provider with its row and its series. */
type Known = { provider: Provider; row: ProviderRow; series: SeriesRow[] }

export async function examineRates(
  db: Db,
  { clock, providers }: { clock: Clock; providers: readonly Provider[] },
  report: Report,
): Promise<void> {
  const series = await selectSeries(db)
  const rows = await selectProviders(db)
  const known = providers.flatMap((provider) => {
    const row = rows.find(({ code }) => code === provider.code)
    return row ? [{ provider, row, series: series.filter((one) => one.provider_id === row.id) }] : []
  })
  const daily = known.flatMap(({ provider, series }) =>
    provider.publication.days === 'every day' ? series.filter((one) => isBenchmark(provider, one)) : [],
  )
  const tomorrow = addDays(
    providers.map(({ timeZone }) => todayIn(clock, timeZone)).reduce(latest, todayIn(clock)),
    1,
  )
  const newest = new Map<number, IsoDate>()
  const laterDays: { series: SeriesRow; last: IsoDate }[] = []
  const holes = new Map<string, { hole: Interval; series: SeriesRow[] }>()
  for (const one of series) {
    // Coverage first: a sync beside this stores it together with the values, and so never beyond what is read next.
    const covered = (await selectCoverage(db)).get(one.id) ?? []
    const rates = await selectRatesOfSeries(db, one.id)
    const last = rates.at(-1)?.rate_date
    if (last !== undefined) newest.set(one.id, last)
    for (const { rate_date, value } of rates) {
      const good = isIsoDate(rate_date) && canonicalDecimal(value) === value && !/^(0$|-)/.test(value)
      if (!good) report.finding('rates', `${seriesName(one)} has the value ${value} on ${rate_date}`)
    }
    if (daily.includes(one)) {
      const days = new Set(rates.map(({ rate_date }) => rate_date))
      for (const interval of covered) reportMissing(one, upTo(interval, last, tomorrow), days, report)
    }
    const lastDay = [last, covered.at(-1)?.to].filter((day) => day !== undefined).reduce(latest, tomorrow)
    if (lastDay > tomorrow) laterDays.push({ series: one, last: lastDay })
    for (const hole of holesIn(covered)) {
      const key = `${hole.from} ${hole.to}`
      holes.getOrInsertComputed(key, () => ({ hole, series: [] })).series.push(one)
    }
  }
  report.note(`${(await countRates(db)).all} rates of ${series.length} series`)
  reportLaterDays(laterDays, tomorrow, report)
  reportHoles([...holes.values()], report)
  const rounded = await countRoundedRates(db)
  for (const one of known) noteRounded(one, rounded, report)
  for (const one of known) {
    const named: Report =
      providers.length === 1
        ? report
        : {
            finding: (check, words) => report.finding(check, `${one.provider.code}: ${words}`),
            note: (words) => report.note(`${one.provider.code}: ${words}`),
          }
    await examineFreshness(db, one, newest, clock, named)
  }
}

/** The part of a covered interval that must have values: the bank may still owe the newest, and has none after tomorrow. */
function upTo({ from, to }: Interval, last: IsoDate | undefined, tomorrow: IsoDate): Interval {
  return { from, to: earliest(earliest(to, tomorrow), last ?? to) }
}

/** Nobody can have published them: a side with such a day looks fresh until then, and each hole before it answered. */
function reportLaterDays(
  found: { series: SeriesRow; last: IsoDate }[],
  tomorrow: IsoDate,
  report: Report,
): void {
  const [first] = found
  if (!first) return
  const which = found.length === 1 ? `${seriesName(first.series)} has` : `${found.length} series have`
  const last = found.map(({ last: day }) => day).reduce(latest)
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
  for (const { from, to } of missingIn(covered, days)) {
    const when = from === to ? `on ${from}` : `from ${from} to ${to}`
    report.finding('rates', `${seriesName(series)} has no value ${when}`, {
      about: 'days',
      from,
      to,
      again: true,
    })
  }
}

/** The days of a window that are not among the given ones, those beside each other as one range. */
export function missingIn(window: Interval, days: ReadonlySet<IsoDate>): Interval[] {
  return gapsIn(runsOf([...days].sort()), window)
}

/** What lies between the intervals of a series. */
function holesIn(covered: readonly Interval[]): Interval[] {
  const [first, last] = [covered[0], covered.at(-1)]
  return first && last ? gapsIn(covered, { from: first.from, to: last.to }) : []
}

function reportHoles(holes: { hole: Interval; series: SeriesRow[] }[], report: Report): void {
  for (const { hole, series } of holes.slice(0, HOLES_NAMED)) {
    const [first] = series
    const which = series.length === 1 && first ? seriesName(first) : `${series.length} series`
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
  { provider, series }: Known,
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
  db: Db,
  { provider, row, series }: Known,
  newest: ReadonlyMap<number, IsoDate>,
  clock: Clock,
  report: Report,
): Promise<void> {
  const { noun } = provider.benchmark
  const sides = series.filter((one) => isBenchmark(provider, one))
  if (!sides.some(({ id }) => newest.has(id))) {
    if (await selectLastFinishedRunOf(db, row.id))
      report.finding('rates', `there is no ${noun} rate, although a sync has run`)
    return
  }
  const due = dueDay(provider, clock)
  const today = todayIn(clock, provider.timeZone)
  for (const { id, rate_type, enabled } of sides) {
    const side = benchmarkSide(rate_type, newest.get(id), today)
    const fault = enabled && row.enabled ? staleness(provider, side, due) : undefined
    if (fault) report.finding('rates', fault, { about: 'failed-sync' })
    else report.note(`the newest ${rate_type} of the ${noun} is of ${side.newest}`)
  }
}

function seriesName({ id, base_currency, quote_currency, rate_type }: SeriesRow): string {
  return `series ${id} (${base_currency}/${quote_currency} ${rate_type})`
}
