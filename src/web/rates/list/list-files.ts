// Copies of a converted list, in the order and number of the pasted rows.

import type { DayBounds } from '../../components/date-choice.ts'
import { formats, texts } from '../../components/view.ts'
import type { PastedTable } from '../../model/pasted/columns.ts'
import type { CopiedCell } from '../../model/pasted/copy.ts'
import type { RowOutcome } from '../../model/pasted/outcomes.ts'
import { routeParts, routeText } from '../../model/pasted/route.ts'
import { detailHeadings } from '../../model/pasted/rows.ts'
import { listsTexts } from '../pasted/lists-texts.ts'
import { rowErrorText } from '../pasted/row-error.ts'
import type { ConvertedList } from './use-conversion.ts'

export function listCells(list: ConvertedList, table: PastedTable, bounds: DayBounds): CopiedCell[][] {
  const words = listsTexts.value.list
  const headings = [
    ...[words.row, words.date, ...detailHeadings(table).map((heading) => heading || words.detail)],
    ...[words.amount, words.currency, words.rate, words.derivation, resultTitle(list.target), words.note],
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
      derivationText(outcome),
      conversion ? { number: conversion.result } : '',
      conversion ? '' : outcomeError(outcome, bounds),
    ]
  })
  return [headings, ...rows]
}

export function derivationText({ row, conversion }: RowOutcome): string {
  if (!conversion || row.day === undefined) return ''
  const { list } = listsTexts.value
  const route = routeText(routeParts(conversion.legs, row.day, formats.value, texts.value.sides))
  const treated =
    row.replacedCurrency === undefined ? '' : list.treated(row.replacedCurrency, row.currency ?? '')
  return [route, treated].filter((part) => part !== '').join(' · ')
}

/** Reason why a row has no result. */
export function outcomeError({ row, failure }: RowOutcome, bounds: DayBounds): string {
  if (row.error) return rowErrorText(row.error, bounds)
  return failure === 'not-synchronized'
    ? listsTexts.value.rowErrors.notSynchronized
    : texts.value.convert.none
}

export function resultTitle(target: string): string {
  const { colones, resultOf } = listsTexts.value.list
  return target === 'CRC' ? colones : resultOf(target)
}
