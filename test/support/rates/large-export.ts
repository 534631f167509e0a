// Writes an export with every series whose code is known and a value for each day, as a server would.

import { createHash } from 'node:crypto'
import { WRITERS } from '../../../src/domain/rates/export/export-format.ts'
import { bccrCatalogue } from '../../../src/providers/bccr/catalogue.ts'
import { addDays } from '../../../src/values/dates.ts'

const STORED_AT = '2026-03-24T12:00:00.000Z'

/** Series of a new data directory have the order of the catalogue, without those of unknown code. */
export function largeExport(from: string, days: number): { text: string; count: number } {
  const { csv } = WRITERS
  const parts = [csv.header]
  const dates = Array.from({ length: days }, (_, at) => addDays(from, at))
  const knownSeries = bccrCatalogue.filter(({ externalCode }) => externalCode !== undefined)
  for (const [at, { externalCode = '', base, quote, rateType }] of knownSeries.entries()) {
    const [pair, rate_type] = [`${base}/${quote}`, rateType]
    const series = { provider: 'bccr', series_id: at + 1, external_code: externalCode, pair, rate_type }
    parts.push(csv.covered(series, { from, to: dates.at(-1) ?? from }))
    const prefix = csv.prefix(series)
    for (const [day, date] of dates.entries()) {
      parts.push(prefix, csv.rest(date, `${at + 1}.${1000 + (day % 9000)}1`, undefined, STORED_AT))
    }
  }
  const text = parts.join('')
  const count = knownSeries.length * days
  return { text: text + csv.end(count, createHash('sha256').update(text).digest('hex')), count }
}
