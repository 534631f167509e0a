import type { Status } from '../api/responses.ts'
import { canReadStatus } from '../api/session.ts'
import { useApi } from '../components/use-api.ts'
import { formats, pageTexts } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'

/** Notice of a database without rates. The state of the server decides on its promises, where the session may read it. */
export function EmptyDatabase({ everyMs }: { everyMs: number }) {
  const words = pageTexts(STATUS)
  const mayRead = canReadStatus()
  const { value: status } = useApi<Status>(mayRead ? '/api/v1/status' : undefined, everyMs)
  return (
    <div class="door">
      <section class="card door-card">
        <h1>{words.empty.title}</h1>
        {mayRead ? status && <Sentences status={status} /> : <p>{words.empty.plain}</p>}
        <p class="quiet" role="status">
          {words.empty.after}
        </p>
        {status && !status.scheduler.running && (
          <details class="commands shrink">
            <summary class="link">{words.empty.admin}</summary>
            <p>{words.empty.command}</p>
            <pre class="command">cambista sync</pre>
          </details>
        )}
      </section>
    </div>
  )
}

function Sentences({ status }: { status: Status }) {
  const { empty, data, reasons } = pageTexts(STATUS)
  const { scheduler, providers, runs } = status
  const next = providers.map(({ next_sync }) => next_sync).find((time) => time !== null)
  const isFailed = runs[0]?.status === 'error'
  if (!scheduler.running) return <p>{data.off}</p>
  return (
    <p>
      {isFailed ? `${reasons.last_run_failed}.` : empty.receiving}{' '}
      {next && empty.next(formats.value.time(next))}
    </p>
  )
}
