// Table of exchange differences for its files. The workbook has the formulas of books, closing and difference.

import type { Series } from '../../api/responses.ts'
import type { Download } from '../../model/files/table.ts'
import type { Language } from '../../model/formats.ts'
import { rateText, routeParts, routeText } from '../../model/pasted/route.ts'
import { signedBalance } from '../../model/rates/differential.ts'
import { legSources } from '../pasted/leg-sources.ts'
import { createWording } from '../pasted/lists-texts.ts'
import { positionErrorText } from './position-error.ts'
import type { Differences } from './use-differences.ts'

/** Indexes of the columns that the formulas refer to. */
const BALANCE = 2
const RATES = { registration: 5, closing: 7 }
const VALUES = { books: 9, closing: 10 }

/** @param day closing day */
export function differentialTable(
  { rows, at }: Differences,
  { day, books }: { day: string; books: string },
  series: readonly Series[],
  language: Language,
): Download {
  const wording = createWording(language)
  const words = wording.lists.differential
  const { list } = wording.lists
  const { formats } = wording
  const legs = rows.flatMap(({ registration, closing }) => [
    ...(registration?.legs ?? []),
    ...(closing?.legs ?? []),
  ])
  const registrationRate = `${words.rate}, ${words.registration.toLowerCase()}`
  const closingRate = `${words.rate}, ${words.atClosing.toLowerCase()}`
  const derivation = (title: string) => `${list.derivation}, ${title.toLowerCase()}`
  const rate = (day: 'registration' | 'closing') => (value: string, row: number) =>
    rateText(value, rows[row]?.[day]?.legs ?? [], formats)
  const rounded = (rate: number) => (cell: (column: number) => string) =>
    `ROUND(${cell(BALANCE)}*${cell(rate)},2)`
  const columns: Download['columns'] = [
    { title: words.item, name: 'detail', kind: 'text' },
    { title: words.form.type, name: 'type', kind: 'text' },
    { title: words.balance, name: 'balance', kind: 'number' },
    { title: list.currency, name: 'currency', kind: 'text' },
    { title: words.registration, name: 'registration', kind: 'day' },
    { title: registrationRate, name: 'registration_rate', kind: 'number', format: rate('registration') },
    { title: derivation(words.registration), name: 'registration_legs', kind: 'text' },
    { title: closingRate, name: 'closing_rate', kind: 'number', format: rate('closing') },
    { title: derivation(words.atClosing), name: 'closing_legs', kind: 'text' },
    { title: words.inBooks, name: 'books', kind: 'amount', formula: rounded(RATES.registration) },
    { title: words.closingValue, name: 'closing', kind: 'amount', formula: rounded(RATES.closing) },
    {
      ...{ title: words.difference, name: 'difference', kind: 'amount' },
      formula: (cell) => `${cell(VALUES.closing)}-${cell(VALUES.books)}`,
    },
    { title: list.note, name: 'note', kind: 'note' },
  ]
  const route = (conversion: (typeof rows)[number]['closing'], on: string) =>
    conversion ? routeText(routeParts(conversion.legs, on, formats, wording.page.sides)) : ''
  return {
    title: `${words.title} · ${formats.day(day)} · ${books}`,
    ...legSources(legs, series, language),
    columns,
    rows: rows.map(({ position, registration, closing, difference, error }) => [
      ...[
        position.detail,
        words.types[position.type],
        signedBalance(position),
        position.currency,
        position.day,
      ],
      ...[registration?.rate ?? '', route(registration, position.day)],
      ...[closing?.rate ?? '', route(closing, day)],
      ...[difference?.books ?? '', difference?.closing ?? '', difference?.difference ?? ''],
      error ? positionErrorText(error, wording) : '',
    ]),
    total: { label: words.netRow, operation: 'sum', columns: [11], rows: [...rows.keys()] },
    notes: [words.fileNote],
    at,
  }
}
