// Table of a history for its files, with the published values that it has.

import type { Series } from '../../api/responses.ts'
import { PAGE } from '../../i18n/page.ts'
import { SOURCES } from '../../i18n/sources.ts'
import { inLanguage } from '../../i18n/table.ts'
import { pairCode } from '../../model/currencies.ts'
import { numericDay } from '../../model/date-text.ts'
import type { Language } from '../../model/formats.ts'
import { seriesTitle, sourceText } from '../../model/sources.ts'
import type { Download } from '../../model/table.ts'
import type { LoadedHistory } from './loaded-history.ts'

export function historyTable(
  { pair, data, lines }: LoadedHistory,
  series: readonly Series[],
  language: Language,
): Download {
  const { history, sides } = inLanguage(PAGE, language)
  const words = inLanguage(SOURCES, language)
  const range = history.caption(pair, numericDay(data.days[0] ?? ''), numericDay(data.days.at(-1) ?? ''))
  const published = series.filter((one) => pairCode(one) === pair)
  return {
    title: `${history.title}: ${range}`,
    source: words.bank(sourceText(published, { ...words, sides })),
    columns: [
      { title: history.day, name: 'rate_date', kind: 'day' },
      ...data.lines.map(({ name }) => ({ title: `${pair} ${sides[name]}`, name, kind: 'number' as const })),
    ],
    rows: data.days.map((day, index) => [day, ...data.lines.map(({ values }) => values[index] ?? '')]),
    sources: published.flatMap((one) =>
      (lines.find(({ name }) => name === one.rate_type)?.points ?? []).map((point) => ({
        series: seriesTitle(one, sides),
        indicator: one.external_code,
        day: point.rate_date,
        value: point.value,
        rounding: String(point.rounded_to ?? ''),
      })),
    ),
  }
}
