// Loads the published values from which the values of pairs were computed, for the second sheet of a workbook.

import { apiRequest } from '../api/request.ts'
import type { PublishedValue, Series } from '../api/responses.ts'
import { PAGE } from '../i18n/page.ts'
import { inLanguage } from '../i18n/table-texts.ts'
import { addDays } from '../model/days.ts'
import { routeSeries, seriesTitle } from '../model/files/sources.ts'
import type { SourceValue } from '../model/files/table.ts'
import type { Language } from '../model/formats.ts'

/** Days of a pair. */
export type PairRange = { pair: string; from: string; to: string }
type DayRate = PublishedValue & { series_id: number }
type SeriesValues = { points: readonly PublishedValue[] }

/** Loads the published values of the legs of each pair, once each. @throws Error if they cannot be loaded */
export async function loadSources(
  ranges: readonly PairRange[],
  series: readonly Series[],
  language: Language,
): Promise<SourceValue[]> {
  const values = await Promise.all(ranges.map((range) => loadRange(range, series, language)))
  const unique = new Map(values.flat().map((value) => [`${value.indicator} ${value.day}`, value]))
  return [...unique.values()]
}

async function loadRange(
  { pair, from, to }: PairRange,
  series: readonly Series[],
  language: Language,
): Promise<SourceValue[]> {
  const [base = '', quote = ''] = pair.split('/')
  const legs = routeSeries(series, base, quote)
  // A first value may be from before the range.
  const [earlier, ...histories] = await Promise.all([
    load<readonly DayRate[]>(`/api/v1/rates?on=${addDays(from, -1)}&provider=bccr`),
    ...legs.map(({ id }) => load<SeriesValues>(`/api/v1/series/${id}/history?from=${from}&to=${to}`)),
  ])
  const { sides } = inLanguage(PAGE, language)
  return legs.flatMap((leg, index): SourceValue[] => {
    const own = histories[index]?.points ?? []
    const carried = earlier.filter(({ series_id }) => series_id === leg.id)
    const isCarried = legs.length > 1 && (own[0]?.rate_date ?? to) > from
    return [...(isCarried ? carried : []), ...own].map((point) => ({
      series: seriesTitle(leg, sides),
      indicator: leg.external_code,
      day: point.rate_date,
      value: point.value,
      rounding: String(point.rounded_to ?? ''),
    }))
  })
}

async function load<T>(path: string): Promise<T> {
  const { value, failure } = await apiRequest<T>(path)
  if (failure) throw new Error(`${path}: ${failure.kind}`)
  return value
}
