// Published values of conversions, for the sheet of sources of a workbook.

import type { Series } from '../../api/responses.ts'
import { SOURCES } from '../../i18n/source-texts.ts'
import { inLanguage } from '../../i18n/table-texts.ts'
import { seriesTitle, sourceText } from '../../model/files/sources.ts'
import type { SourceValue } from '../../model/files/table.ts'
import type { Language } from '../../model/formats.ts'
import { pairCode } from '../../model/rates/currencies.ts'
import type { ConversionLeg } from '../../model/rates/support.ts'
import { createWording } from './lists-texts.ts'

type RoundedLeg = ConversionLeg & { rounded_to?: number }

/** Returns each published value once, by series and day, and the line that names the series. */
export function legSources(
  legs: readonly RoundedLeg[],
  series: readonly Series[],
  language: Language,
): { source: string; sources: SourceValue[] } {
  const words = inLanguage(SOURCES, language)
  const { sides } = createWording(language).page
  const byKey = new Map(legs.map((leg) => [`${leg.pair} ${leg.rate_type} ${leg.rate_date}`, leg]))
  const uniqueLegs = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, leg]) => leg)
  const findSeries = (leg: RoundedLeg) =>
    series.find((one) => pairCode(one) === leg.pair && one.rate_type === leg.rate_type)
  const published = new Set(uniqueLegs.flatMap((leg) => findSeries(leg) ?? []))
  return {
    source: words.bank(sourceText([...published], { ...words, sides })),
    sources: uniqueLegs.map((leg) => {
      const one = findSeries(leg)
      return {
        series: one ? seriesTitle(one, sides) : leg.pair,
        indicator: one?.external_code ?? '',
        day: leg.rate_date,
        value: leg.value,
        rounding: String(leg.rounded_to ?? ''),
      }
    }),
  }
}
