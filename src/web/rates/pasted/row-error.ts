// Errors of pasted rows in words.

import type { DayBounds } from '../../components/dates/date-choice.ts'
import { numericDay } from '../../model/date-text.ts'
import type { RowError } from '../../model/pasted/rows.ts'
import type { Wording } from './lists-texts.ts'

export function rowErrorText(error: RowError, bounds: DayBounds, wording: Wording): string {
  const { convert } = wording.page
  switch (error.kind) {
    case 'date':
      return dateErrorText(error, bounds, wording)
    case 'amount':
      if (error.error === 'zero' || error.error === 'percent' || error.error === 'too-long') {
        return convert.errors[error.error]
      }
      return error.error === 'currencies' ? convert.errors.currencies : convert.noAmount(error.text.trim())
    case 'unknown-currency':
      return convert.unknown(error.code)
    default:
      return wording.lists.rowErrors[error.kind]
  }
}

function dateErrorText(
  row: Extract<RowError, { kind: 'date' }>,
  { first, newest }: DayBounds,
  { lists, page, formats }: Wording,
): string {
  const words = lists.rowErrors
  const { error } = row
  if (error.kind === 'unreadable') return words.unreadableDate(row.text.trim())
  const day = numericDay(error.day)
  if (error.kind === 'before') return page.date.before(numericDay(first))
  if (error.kind !== 'missing') return page.date.future(day, numericDay(newest))
  const [year = 0, month = 0] = error.day.split('-').map(Number)
  if (month < 1 || month > 12) return words.missingMonth(day, month)
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate()
  return words.missingDay(day, formats.monthName(`${error.day.slice(0, 7)}-01`), days)
}
