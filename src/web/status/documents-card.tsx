// Card of the queue of documents, for sessions with documents.

import { serverTime } from '../api/clock.ts'
import { FailureNotice } from '../components/notice.tsx'
import { useApi } from '../components/use-api.ts'
import { formats, pageTexts } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'
import { visibleText } from '../model/visible.ts'
import { Fact, InstantFact, type PillKind, StatusCard } from './card.tsx'

type QueueFigures = {
  waiting: number
  oldest_waiting_at: string | null
  working: number
  failed_today: number
  stored: number
  bytes: number
  last_claim: { at: string; by: string | null } | null
}

const PATIENCE_MS = 15 * 60_000
const MISSING = '…'
const AWAITED: { pill: [PillKind, string]; sentence: string } = {
  pill: ['waiting', MISSING],
  sentence: MISSING,
}

export function DocumentsCard({ everyMs }: { everyMs: number }) {
  const words = pageTexts(STATUS).documents
  const { value, failure, receivedAt } = useApi<QueueFigures>('/api/v1/documents/summary', everyMs)
  if (failure && !value) {
    return (
      <section class="card" aria-labelledby="queue">
        <div class="card-head">
          <h2 id="queue">{words.title}</h2>
        </div>
        <FailureNotice failure={failure} />
      </section>
    )
  }
  const { pill, sentence } = value ? queueState(value) : AWAITED
  const { count, bytes } = formats.value
  const { waiting, working, failed_today = 0, last_claim, stored } = value ?? {}
  const figure = (number: number | undefined) => (number === undefined ? MISSING : count(number))
  return (
    <StatusCard id="queue" title={words.title} pill={pill} sentence={<p>{sentence}</p>} arrival={receivedAt}>
      <dl>
        <Fact name={words.waiting}>{figure(waiting)}</Fact>
        <Fact name={words.working}>{figure(working)}</Fact>
        <Fact
          name={words.failedToday}
          remark={failed_today > 0 && <a href="#documents?state=failed">{words.showFailed}</a>}
        >
          {figure(value?.failed_today)}
        </Fact>
        {last_claim && (
          <InstantFact
            name={words.lastClaim}
            at={last_claim.at}
            remark={last_claim.by === null ? undefined : visibleText(last_claim.by)}
          />
        )}
        <Fact name={words.stored} remark={value ? words.inFiles(bytes(value.bytes)) : MISSING}>
          {figure(stored)}
        </Fact>
      </dl>
    </StatusCard>
  )
}

function queueState({ failed_today, oldest_waiting_at }: QueueFigures): {
  pill: [PillKind, string]
  sentence: string
} {
  const words = pageTexts(STATUS).documents
  const now = serverTime()
  if (failed_today > 0) return { pill: ['warn', words.failures], sentence: words.failuresText(failed_today) }
  if (oldest_waiting_at !== null && now - Date.parse(oldest_waiting_at) > PATIENCE_MS) {
    return {
      pill: ['warn', words.waits],
      sentence: words.waitsText(formats.value.ago(oldest_waiting_at, now)),
    }
  }
  return { pill: ['good', words.good], sentence: words.goodText }
}
