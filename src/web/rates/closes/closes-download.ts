// Table of the periods for files and clipboard.

import type { RateSide, Series } from '../../api/responses.ts'
import { CLOSES } from '../../i18n/closes.ts'
import { PAGE } from '../../i18n/page.ts'
import { SOURCES } from '../../i18n/source-texts.ts'
import { inLanguage } from '../../i18n/table-texts.ts'
import { routeSeries, sourceText } from '../../model/files/sources.ts'
import type { Download, TableColumn } from '../../model/files/table.ts'
import { createFormats, type Language } from '../../model/formats.ts'
import { type PeriodRow, periodRows, STATS } from '../../model/rates/months.ts'
import { currencyUnits, periodName } from './closes-texts.ts'
import type { LoadedCloses } from './loaded-closes.ts'

type FigureRow = PeriodRow<RateSide>
type FileColumn = TableColumn & { value: (row: FigureRow) => string | undefined }

export function closesTable(
  loaded: LoadedCloses,
  series: readonly Series[],
  today: string,
  language: Language,
): Download {
  const words = inLanguage(CLOSES, language)
  const { sides: sideNames } = inLanguage(PAGE, language)
  const sources = inLanguage(SOURCES, language)
  const formats = createFormats(language)
  const { pair, every, year, at } = loaded
  const [base = '', quote = ''] = pair.split('/')
  const rows = periodRows(every, year, today, loaded.sides)
  const name = words.pair(
    (formats.currency(base) ?? base).toLowerCase(),
    currencyUnits(quote, language),
    pair,
  )
  const columns = [...spreadsheetColumns(loaded, language), ...programColumns(loaded)]
  const whole = [...rows.keys()].filter((index) => {
    const { partial, cells } = rows[index] ?? {}
    return partial?.length === 0 && cells?.[0]?.figure
  })
  const closes = [...columns.keys()].filter((index) => columns[index]?.name === 'last')
  return {
    title: [`${words.title}: ${name}`, year, words.every[every]].filter((part) => part !== '').join(', '),
    source: sources.bank(sourceText(routeSeries(series, base, quote), { ...sources, sides: sideNames })),
    columns: columns.map(({ value: _, ...column }) => column),
    rows: rows.map((row) => columns.map(({ value }) => value(row) ?? '')),
    notes: [words.meaning[every]],
    ...(whole.length > 0 && {
      total: {
        ...{ label: words.meanOfCloses, operation: 'mean' as const, columns: closes, rows: whole },
        note: words.wholeOnly,
      },
    }),
    at,
  }
}

/** Columns as on the screen, with all digits. The day is that of the first side. */
function spreadsheetColumns({ every, sides }: LoadedCloses, language: Language): FileColumn[] {
  const words = inLanguage(CLOSES, language)
  const { sides: sideNames } = inLanguage(PAGE, language)
  const { monthName, cross } = createFormats(language)
  const isPair = sides.length > 1
  const title = (stat: (typeof STATS)[number], side: RateSide) =>
    isPair ? `${words.stats[stat]} ${sideNames[side].toLowerCase()}` : words.stats[stat]
  const only = 'people' as const
  const period: FileColumn =
    every === 'month'
      ? { title: words.periods.month, kind: 'month', only, value: ({ first }) => first }
      : {
          ...{ title: words.periods[every], kind: 'text', only },
          value: ({ first }) =>
            every === 'year'
              ? first.slice(0, 4)
              : `${periodName(every, first, words, monthName)} ${first.slice(0, 4)}`,
        }
  return [
    period,
    {
      ...{ title: words.closeDay, kind: 'day', only },
      value: ({ cells }) => cells.find(({ figure }) => figure)?.figure?.day,
    },
    ...STATS.flatMap((stat) =>
      sides.map(
        ({ name: side }): FileColumn => ({
          ...{ title: title(stat, side), name: stat, kind: 'number', only, format: cross },
          value: ({ cells }) => findFigure(cells, stat, side)?.value,
        }),
      ),
    ),
    {
      ...{ title: words.note, kind: 'note', only },
      value: ({ partial, isCurrent, cells }) =>
        [
          partial.length > 0 && (isCurrent ? words.current : words.incomplete),
          ...cells.map(
            ({ stat, side, figure }) =>
              figure?.rounded_to !== undefined && words.roundedNote(title(stat, side), figure.rounded_to),
          ),
        ]
          .filter(Boolean)
          .join('; '),
    },
  ]
}

/** Columns with the names of the API; both sides of a pair precede theirs. */
function programColumns({ sides }: LoadedCloses): FileColumn[] {
  const only = 'programs' as const
  const prefix = (side: RateSide) => (sides.length > 1 ? `${side}_` : '')
  return [
    { title: 'date', kind: 'day', only, value: ({ first }) => first },
    ...sides.flatMap(({ name: side }): FileColumn[] => [
      ...STATS.flatMap((stat) =>
        (['value', 'rate_date', 'day', 'rounded_to'] as const).map(
          (field): FileColumn => ({
            ...{ title: `${prefix(side)}${stat}_${field}`, only },
            kind: field === 'value' ? 'number' : field === 'rounded_to' ? 'count' : 'day',
            value: ({ cells }) => findFigure(cells, stat, side)?.[field]?.toString(),
          }),
        ),
      ),
      {
        ...{ title: `${prefix(side)}partial`, kind: 'text', only },
        value: ({ partial }) => (partial.includes(side) ? 'true' : ''),
      },
    ]),
  ]
}

function findFigure(cells: FigureRow['cells'], stat: (typeof STATS)[number], side: RateSide) {
  return cells.find((cell) => cell.stat === stat && cell.side === side)?.figure
}
