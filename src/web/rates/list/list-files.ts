// Copies and files of a converted list, in the order and number of the pasted rows.

import type { Series } from '../../api/responses.ts'
import type { DayBounds } from '../../components/dates/date-choice.ts'
import type { CopiedCell } from '../../model/files/copy.ts'
import type { Download } from '../../model/files/table.ts'
import type { Language } from '../../model/formats.ts'
import type { PastedTable } from '../../model/pasted/columns.ts'
import type { RowOutcome } from '../../model/pasted/outcomes.ts'
import { rateText, routeParts, routeText } from '../../model/pasted/route.ts'
import { detailHeadings } from '../../model/pasted/rows.ts'
import { legSources } from '../pasted/leg-sources.ts'
import { createWording, type Wording } from '../pasted/lists-texts.ts'
import { rowErrorText } from '../pasted/row-error.ts'
import type { ConvertedList } from './use-conversion.ts'

type ListSource = { list: ConvertedList; table: PastedTable; bounds: DayBounds }

export function listCells({ list, table, bounds }: ListSource, wording: Wording): CopiedCell[][] {
  const words = wording.lists.list
  const headings = [
    ...[words.row, words.date, ...detailHeadings(table).map((heading) => heading || words.detail)],
    ...[words.amount, words.currency, words.rate, words.derivation],
    ...[resultTitle(list.target, wording), words.note],
  ]
  const rows = list.outcomes.map((outcome): CopiedCell[] => {
    const { row, conversion } = outcome
    return [
      { number: String(row.number) },
      row.day === undefined ? row.dateText : { day: row.day },
      ...row.details,
      row.amount === undefined ? row.amountText : { number: row.amount },
      row.replacedCurrency ?? row.currency ?? '',
      conversion ? { number: conversion.rate } : '',
      derivationText(outcome, wording),
      conversion ? { number: conversion.result } : '',
      conversion ? '' : outcomeError(outcome, bounds, wording),
    ]
  })
  return [headings, ...rows]
}

/** Table for the files. A row with an error has it in the note, with the text that could not be read. */
export function listTable(
  { list, table, bounds }: ListSource,
  series: readonly Series[],
  language: Language,
): Download {
  const wording = createWording(language)
  const words = wording.lists.list
  const details = detailHeadings(table)
  const legs = list.outcomes.flatMap(({ conversion }) => conversion?.legs ?? [])
  const rate = (value: string, row: number) =>
    rateText(value, list.outcomes[row]?.conversion?.legs ?? [], wording.formats)
  const columns: Download['columns'] = [
    { title: words.row, name: 'row', kind: 'count' },
    { title: words.date, name: 'on', kind: 'day' },
    ...details.map((heading) => ({ title: heading || words.detail, kind: 'text' as const })),
    { title: words.amount, name: 'amount', kind: 'number' },
    { title: words.currency, name: 'from_currency', kind: 'text' },
    { title: words.rate, name: 'rate', kind: 'number', format: rate },
    { title: words.derivation, name: 'legs', kind: 'text' },
    { title: resultTitle(list.target, wording), name: 'result', kind: 'amount' },
    { title: words.note, name: 'note', kind: 'note' },
  ]
  return {
    title: `${words.title}: ${list.target}, ${wording.page.sides[list.side].toLowerCase()}`,
    ...legSources(legs, series, language),
    columns,
    rows: list.outcomes.map((outcome) => {
      const { row, conversion } = outcome
      return [
        ...[String(row.number), row.day ?? '', ...row.details, row.amount ?? ''],
        ...[row.replacedCurrency ?? row.currency ?? '', conversion?.rate ?? ''],
        ...[derivationText(outcome, wording), conversion?.result ?? ''],
        conversion ? '' : outcomeError(outcome, bounds, wording),
      ]
    }),
    total: {
      label: words.totalLabel,
      operation: 'sum',
      columns: [columns.length - 2],
      rows: [...list.outcomes.keys()],
    },
    notes: [words.foot],
    at: list.at,
  }
}

/** Reason why a row has no result. */
export function outcomeError({ row, failure }: RowOutcome, bounds: DayBounds, wording: Wording): string {
  if (row.error) return rowErrorText(row.error, bounds, wording)
  const { lists, page } = wording
  return failure === 'not-synchronized' ? lists.rowErrors.notSynchronized : page.convert.none
}

export function resultTitle(target: string, { lists }: Wording): string {
  const { colones, resultOf } = lists.list
  return target === 'CRC' ? colones : resultOf(target)
}

function derivationText({ row, conversion }: RowOutcome, { lists, page, formats }: Wording): string {
  if (!conversion || row.day === undefined) return ''
  const route = routeText(routeParts(conversion.legs, row.day, formats, page.sides))
  const { replacedCurrency, currency = '' } = row
  const treated = replacedCurrency === undefined ? '' : lists.list.treated(replacedCurrency, currency)
  return [route, treated].filter((part) => part !== '').join(' · ')
}
