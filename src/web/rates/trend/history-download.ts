// Table of a history for its files, with the published values that it has.

import type { Series } from '../../api/responses.ts'
import { PAGE, type Texts } from '../../i18n/page.ts'
import { SOURCES } from '../../i18n/source-texts.ts'
import { inLanguage } from '../../i18n/table-texts.ts'
import { numericDay } from '../../model/date-text.ts'
import { routeSeries, sourceText } from '../../model/files/sources.ts'
import type { Download, TableColumn } from '../../model/files/table.ts'
import type { FigureFormat, Language } from '../../model/formats.ts'
import type { Trend, TrendLine } from '../../model/rates/history.ts'
import { loadSources, type PairRange } from '../published-values.ts'

/**
 * Loads the published values, and returns them with the table.
 * @param ranges days of the pair; beside it those of the second line, if lines are compared
 * @param figure writes a value as the screen does
 * @param trend lines of the chart: the sides of the pair, or two lines that are compared
 * @throws Error if the values cannot be loaded
 */
export async function loadHistoryTable(
  ranges: readonly [PairRange, ...PairRange[]],
  trend: Trend,
  figure: FigureFormat,
  series: readonly Series[],
  language: Language,
): Promise<Download> {
  const texts = inLanguage(PAGE, language)
  const { history, sides } = texts
  const words = inLanguage(SOURCES, language)
  const [{ pair }] = ranges
  const { days } = trend
  const range = history.caption(pair, numericDay(days[0] ?? ''), numericDay(days.at(-1) ?? ''))
  const columns = trend.lines.flatMap((line, at) => lineColumns(line, at, { pair, figure, texts }))
  const published = ranges.flatMap((one) => {
    const [base = '', quote = ''] = one.pair.split('/')
    return routeSeries(series, base, quote)
  })
  return {
    title: `${history.title}: ${range}`,
    source: words.bank(sourceText([...new Set(published)], { ...words, sides })),
    columns: [
      { title: history.day, name: 'rate_date', kind: 'day' },
      ...columns.map(({ values: _, ...column }) => column),
    ],
    rows: days.map((day, index) => [day, ...columns.map(({ values }) => values[index] ?? '')]),
    sources: await loadSources(ranges, series, language),
  }
}

type LineColumn = TableColumn & { name: string; values: readonly (string | undefined)[] }

/** Columns of a line: its own days where it has them, its values, and its index. */
function lineColumns(
  line: TrendLine,
  at: number,
  { pair, figure, texts: { history, sides } }: { pair: string; figure: FigureFormat; texts: Texts },
): LineColumn[] {
  const { values, realValues, ownDays } = line
  const side = line.name === 'main' || line.name === 'other' ? undefined : line.name
  const label = side ? sides[side] : line.label
  const name = side ?? label
  const figures: LineColumn = {
    ...{ title: `${pair} ${label}`, kind: 'number', name, format: figure },
    values: realValues ?? values,
  }
  if (ownDays && at > 0)
    return [{ title: `${history.day} ${label}`, kind: 'day', name: `${name}_date`, values: ownDays }, figures]
  if (!realValues) return [figures]
  const real = { ...figures, title: label }
  return [real, { title: history.indexTitle(label), kind: 'amount', name: `${name}_index`, values }]
}
