// Reports published values that are withheld, because they are too far from others (decisions 2.6).

import type { InspectedDatabase } from '../../../store/engine.ts'
import { SCHEMA_VERSION } from '../../../store/migrations.ts'
import { selectSeries } from '../../../store/rates/series.ts'
import { selectWithheld } from '../../../store/rates/withheld.ts'
import { describeSeries } from '../../rates/rate-sums.ts'
import type { Report } from './examination.ts'

const NAMED = 10

/** Reports the newest withheld values, and the number of the others. */
export async function examineWithheld(
  { db, schema }: Pick<InspectedDatabase, 'db' | 'schema'>,
  report: Report,
): Promise<void> {
  if (schema < SCHEMA_VERSION) return
  const rows = (await selectWithheld(db)).sort((a, b) => (a.rate_date < b.rate_date ? 1 : -1))
  const series = new Map((await selectSeries(db)).map((one) => [one.id, describeSeries(one)]))
  for (const { series_id: id, rate_date: day, value, far_from, run_id } of rows.slice(0, NAMED)) {
    const others = far_from === 'range' ? 'plausible values' : 'its nearest values'
    const words = `${value} of ${day}, first read by run ${run_id}, is far from ${others} and withheld`
    report.finding('rates', `${series.get(id)}: ${words}`, { about: 'jump', series: id, day })
  }
  if (rows.length > NAMED) report.finding('rates', `${rows.length - NAMED} more values are withheld`)
}
