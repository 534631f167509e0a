import type { SeriesHistory } from '../../domain/rates/queries.ts'
import type { Form } from '../endpoint/answers/forms.ts'
import { listPoints } from './history-encoder.ts'

export const historyText: Form<SeriesHistory, unknown> = {
  name: 'text',
  contentType: 'text/plain; charset=utf-8',
  encode(history) {
    let text = 'day value\n'
    for (const { rate_date, value } of listPoints(history)) text += `${rate_date} ${value}\n`
    return text
  },
}
