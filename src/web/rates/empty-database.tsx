import type { Status } from '../api/responses.ts'
import { useApi } from '../components/use-api.ts'
import { formats } from '../components/view.ts'
import { monthsTexts } from './closes/months-texts.ts'

/** Notice of a database without rates, with the time of the next sync. */
export function EmptyDatabase({ everyMs }: { everyMs: number }) {
  const words = monthsTexts.value.empty
  const { value: status } = useApi<Status>('/api/v1/status', everyMs)
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
