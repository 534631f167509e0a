// Table of a history for its files, with the published values that it has.

import type { Series } from '../../api/responses.ts'
import { PAGE, type Texts } from '../../i18n/page.ts'
import { SOURCES } from '../../i18n/sources.ts'
import { inLanguage } from '../../i18n/table.ts'
import { pairCode } from '../../model/currencies.ts'
import { numericDay } from '../../model/date-text.ts'
import { seriesTitle, sourceText } from '../../model/files/sources.ts'
import type { Download, TableColumn } from '../../model/files/table.ts'
import type { Language } from '../../model/formats.ts'
import type { Trend, TrendLine } from '../../model/history.ts'
import type { LoadedHistory } from './loaded-history.ts'

/** @param trend lines of the chart: the sides of the pair, or two lines that are compared */
export function historyTable(
  { pair, lines }: LoadedHistory,
  trend: Trend,
  series: readonly Series[],
  language: Language,
): Download {
  const { history, sides } = inLanguage(PAGE, language)
  const words = inLanguage(SOURCES, language)
  const { days } = trend
  const range = history.caption(pair, numericDay(days[0] ?? ''), numericDay(days.at(-1) ?? ''))
  const published = series.filter((one) => pairCode(one) === pair)
  const columns = trend.lines.flatMap((line, at) => lineColumns(line, at, pair, inLanguage(PAGE, language)))
  return {
    title: `${history.title}: ${range}`,
    source: words.bank(sourceText(published, { ...words, sides })),
    columns: [
      { title: history.day, name: 'rate_date', kind: 'day' },
      ...columns.map(({ title, name, kind }) => ({ title, name, kind })),
    ],
    rows: days.map((day, index) => [day, ...columns.map(({ values }) => values[index] ?? '')]),
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

type LineColumn = TableColumn & { name: string; values: readonly (string | undefined)[] }

/** Columns of a line: its own days where it has them, its values, and its index. */
function lineColumns(line: TrendLine, at: number, pair: string, { history, sides }: Texts): LineColumn[] {
  const { values, realValues, ownDays } = line
  const side = line.name === 'main' || line.name === 'other' ? undefined : line.name
  const label = side ? sides[side] : line.label
  const name = side ?? label
  const figures: LineColumn = {
    ...{ title: `${pair} ${label}`, kind: 'number', name },
    values: realValues ?? values,
  }
  if (ownDays && at > 0)
    return [{ title: `${history.day} ${label}`, kind: 'day', name: `${name}_date`, values: ownDays }, figures]
  if (!realValues) return [figures]
  const real = { ...figures, title: label }
  return [real, { title: history.indexTitle(label), kind: 'number', name: `${name}_index`, values }]
}
