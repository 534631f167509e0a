// Examines the sums of the rates, and reports published values that are withheld. A damaged year is read again from its
// source, or restored, or accepted.

import { selectProviders } from '../../../store/rates/providers.ts'
import { selectSeries } from '../../../store/rates/series.ts'
import { selectWithheld } from '../../../store/rates/withheld.ts'
import { earliest, isIsoDate, lastTomorrow } from '../../../values/dates.ts'
import { describeSeries, findDamagedRates } from '../../rates/rate-sums.ts'
import type { CheckContext } from './examination.ts'

const NAMED = 10

export async function examineSums({ db, clock, providers, report }: CheckContext): Promise<void> {
  const rows = await selectProviders(db)
  for (const { series, part, message } of await findDamagedRates(db)) {
    const row = rows.find(({ id }) => id === series.provider_id)
    const provider = providers.find(({ code }) => code === row?.code)
    const from = `${part}-01-01`
    const to = provider && earliest(`${part}-12-31`, lastTomorrow(clock, [provider.timeZone]))
    const isRead = row?.enabled && series.enabled && to !== undefined && isIsoDate(from) && from <= to
    const days = isRead ? { from, to } : undefined
    report.finding('rates', message, { about: 'damaged-rates', id: series.id, part, days })
  }
}

/** Reports the newest withheld values, which are too far from others (decisions#jumps), and the number of the rest. */
export async function examineWithheld({ db, report }: CheckContext): Promise<void> {
  const rows = (await selectWithheld(db)).sort((a, b) => (a.rate_date < b.rate_date ? 1 : -1))
  const series = new Map((await selectSeries(db)).map((one) => [one.id, describeSeries(one)]))
  for (const { series_id: id, rate_date: day, value, far_from, run_id } of rows.slice(0, NAMED)) {
    const others = far_from === 'range' ? 'plausible values' : 'its nearest values'
    const words = `${value} of ${day}, first read by run ${run_id}, is far from ${others} and withheld`
    report.finding('rates', `${series.get(id)}: ${words}`, { about: 'jump', series: id, day })
  }
  if (rows.length > NAMED) report.finding('rates', `${rows.length - NAMED} more values are withheld`)
}
