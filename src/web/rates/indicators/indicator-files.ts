// Tables of indicators and counter rates for their files.

import { INDICATORS } from '../../i18n/indicator-texts.ts'
import { PAGE } from '../../i18n/page.ts'
import { inLanguage } from '../../i18n/table-texts.ts'
import { numericDay } from '../../model/date-text.ts'
import type { Download } from '../../model/files/table.ts'
import type { Language } from '../../model/formats.ts'
import type { CounterEntry } from '../../model/indicators.ts'
import type { Trend } from '../../model/rates/history.ts'
import type { LoadedIndicator } from './loaded-indicator.ts'

/** Values by day, with all digits. */
export function indicatorTable(
  { subject, lines }: LoadedIndicator,
  trend: Trend,
  language: Language,
): Download {
  const words = inLanguage(INDICATORS, language)
  const { history, sides } = inLanguage(PAGE, language)
  const { days } = trend
  const title = history.caption(subject.name, numericDay(days[0] ?? ''), numericDay(days.at(-1) ?? ''))
  const codes = subject.lines.map(({ code }) => code)
  return {
    title: subject.unit === null ? title : `${title}, ${subject.unit}`,
    source: words.source(joinCodes(codes, words.and), codes.length),
    columns: [
      { title: history.day, name: 'date', kind: 'day' },
      ...subject.lines.map(({ name }) =>
        name === 'compra' || name === 'venta'
          ? ({ title: sides[name], name, kind: 'number' } as const)
          : ({ title: words.value, name: 'value', kind: 'number' } as const),
      ),
    ],
    rows: days.map((day, at) => [day, ...trend.lines.map(({ values }) => values[at] ?? '')]),
    sources: subject.lines.flatMap(({ name, code }) =>
      (lines.find((line) => line.name === name)?.points ?? []).map(({ date, value }) => ({
        series: name === 'referencia' ? subject.name : `${subject.name}, ${name}`,
        ...{ indicator: code, day: date, value, rounding: '' },
      })),
    ),
  }
}

/** Counter rates in their order. */
export function counterFile(entries: readonly CounterEntry[], day: string, language: Language): Download {
  const { counters } = inLanguage(INDICATORS, language)
  const { columns } = counters
  const dayTitle = (title: string) => `${columns.day}: ${title}`
  return {
    title: `${counters.title}, ${numericDay(day)}`,
    source: counters.source,
    columns: [
      { title: columns.entity, name: 'entity', kind: 'text' },
      { title: counters.kind, name: 'kind', kind: 'text' },
      { title: columns.compra, name: 'compra', kind: 'number' },
      { title: dayTitle(columns.compra), name: 'compra_date', kind: 'day' },
      { title: columns.venta, name: 'venta', kind: 'number' },
      { title: dayTitle(columns.venta), name: 'venta_date', kind: 'day' },
      { title: columns.spread, name: 'spread', kind: 'number' },
    ],
    rows: entries.map(({ entity, kind, compra, compra_date, venta, venta_date, spread }) =>
      [entity, kind, compra, compra_date, venta, venta_date, spread].map((cell) => cell ?? ''),
    ),
  }
}

export function joinCodes(codes: readonly string[], and: string): string {
  return codes.join(` ${and} `)
}
