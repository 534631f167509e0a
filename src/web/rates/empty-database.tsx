import { useAnswer } from '../parts/answer.ts'
import { formats } from '../parts/view.ts'
import type { Status } from '../server/answers.ts'
import { monthsTexts } from './months-texts.ts'

/** Says that there is nothing yet, and when there will be as far as the server knows. */
export function EmptyBox({ everyMs }: { everyMs: number }) {
  const words = monthsTexts.value.empty
  const { value: status } = useAnswer<Status>('/api/v1/status', everyMs)
  const next = status?.providers.map(({ next_sync }) => next_sync).find((time) => time !== null)
  return (
    <div class="door">
      <section class="card door-card">
        <h1>{words.title}</h1>
        <p>
          {words.text} {status && (next ? words.next(formats.value.instant(next)) : words.off)}{' '}
          {next ? words.sooner : words.run}
        </p>
        <pre class="command">cambista sync</pre>
        <p class="quiet" role="status">
          {words.after}
        </p>
      </section>
    </div>
  )
}
