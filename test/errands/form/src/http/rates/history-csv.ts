import { isoOf } from '../../dates.ts'
import { valueAt } from '../../domain/rates/column.ts'
import type { SeriesHistory } from '../../domain/rates/queries.ts'
import type { Form } from '../api/forms.ts'

export const historyCsv: Form<SeriesHistory, unknown> = {
  name: 'csv',
  contentType: 'text/csv; charset=utf-8',
  encode({ column, first, end }) {
    let text = 'rate_date,value\n'
    for (let at = first; at < end; at += 1) text += `${isoOf(column.days[at] ?? 0)},${valueAt(column, at)}\n`
    return text
  },
}
