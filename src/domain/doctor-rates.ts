// The doctor's look at the rates. A covered interval has no gap by construction (sync/window.ts); this looks whether that
// is still so. Of the dollar there is a value for every calendar day (upstream 4); of a parity only its last covered day
// is known to have one.

import { addDays, type Clock, dayOf, type IsoDate, isIsoDate, isoOf, todayIn } from '../dates.ts'
import { canonicalDecimal } from '../decimal.ts'
import type { Window } from '../providers/provider.ts'
import { selectCoverage } from '../store/feeds.ts'
import { selectProviders } from '../store/providers.ts'
import { countRates, selectRatesOfSeries } from '../store/rates.ts'
import { type SeriesRow, selectSeries } from '../store/series.ts'
import { selectLastFinishedRun } from '../store/sync-runs.ts'
import type { Db } from '../store/tables.ts'
import type { Report } from './examination.ts'

const STALE_DAYS = 2 // as /health has it (decisions 2.11)

export async function examineRates(db: Db, clock: Clock, report: Report): Promise<void> {
  const series = await selectSeries(db)
  let newest = ''
  for (const one of series) {
    // The edges first: a sync beside this moves them together with the values, and so never beyond what is read next.
    const covered = (await selectCoverage(db)).get(one.id)
    const rates = await selectRatesOfSeries(db, one.id)
    const days = new Set(rates.map(({ rate_date }) => rate_date))
    if (isDollar(one) && (rates.at(-1)?.rate_date ?? '') > newest) newest = rates.at(-1)?.rate_date ?? ''
    for (const { rate_date, value } of rates) {
      const good = isIsoDate(rate_date) && canonicalDecimal(value) === value && !/^(0$|-)/.test(value)
      if (!good) report.finding('rates', `${nameOf(one)} has the value ${value} on ${rate_date}`)
    }
    if (covered) examineCovered(one, covered, days, report)
  }
  report.note(`${await countRates(db)} rates of ${series.length} series`)
  await examineNewest(db, newest, todayIn(clock), report)
}

function examineCovered(
  series: SeriesRow,
  covered: Window,
  days: ReadonlySet<IsoDate>,
  report: Report,
): void {
  if (!isDollar(series)) {
    const wrong = `${nameOf(series)} is covered up to ${covered.to}, but has no value there`
    if (!days.has(covered.to)) report.finding('rates', wrong)
    return
  }
  for (const { from, to } of missingIn(covered, days)) {
    const when = from === to ? `on ${from}` : `from ${from} to ${to}`
    const cure = `cambista sync --from ${from} --to ${to} reads it again`
    report.finding('rates', `${nameOf(series)} has no value ${when}: ${cure}`)
  }
}

/** The days of a window that are not among the given ones, those beside each other as one range. */
export function missingIn(window: Window, days: ReadonlySet<IsoDate>): Window[] {
  const missing: Window[] = []
  const last = dayOf(window.to)
  for (let day = dayOf(window.from); day <= last; day++) {
    const date = isoOf(day)
    if (days.has(date)) continue
    const range = missing.at(-1)
    if (range && addDays(range.to, 1) === date) range.to = date
    else missing.push({ from: date, to: date })
  }
  return missing
}

async function examineNewest(db: Db, newest: IsoDate, today: IsoDate, report: Report): Promise<void> {
  if (newest === '') {
    if (await selectLastFinishedRun(db))
      report.finding('rates', 'there is no dollar rate, although a sync has run')
    return
  }
  report.note(`the newest dollar rate is of ${newest}`)
  const enabled = (await selectProviders(db)).some((one) => one.enabled)
  if (newest >= addDays(today, -STALE_DAYS) || !enabled) return
  const days = dayOf(today) - dayOf(newest)
  report.finding('rates', `there is no dollar rate of the last ${days} days: cambista sync says why`)
}

function isDollar({ base_currency, quote_currency }: SeriesRow): boolean {
  return base_currency === 'USD' && quote_currency === 'CRC'
}

function nameOf({ id, base_currency, quote_currency, rate_type }: SeriesRow): string {
  return `series ${id} (${base_currency}/${quote_currency} ${rate_type})`
}
