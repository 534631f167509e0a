// Screen of the server's state: three cards, and the last sync runs.

import { bankStatus } from '../api/bank-status.ts'
import type { Series, Status } from '../api/responses.ts'
import { session } from '../api/session.ts'
import { FailureNotice } from '../components/notice.tsx'
import { useApi } from '../components/use-api.ts'
import { formats, pageTexts, texts } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'
import { NeedsSecret } from '../session/lazy-doors.ts'
import { DataCard } from './data-card.tsx'
import { DocumentsCard } from './documents-card.tsx'
import { MailCard } from './mail-card.tsx'
import { ServerCard } from './server-card.tsx'
import { SyncRuns } from './sync-runs.tsx'

const POLL_MS = 15_000
const SERIES_EVERY_MS = 600_000

export function StatusScreen() {
  const current = session.value
  if (current.state === 'in' && !current.key) return <NeedsSecret kind="key" />
  return <Overview hasDocuments={current.state === 'in' && current.token !== null} />
}

function Overview({ hasDocuments }: { hasDocuments: boolean }) {
  const { value, failure, receivedAt } = useApi<Status>('/api/v1/status', POLL_MS)
  const status = value && bankStatus(value)
  const series = useApi<readonly Series[]>('/api/v1/series?details=true&provider=bccr', SERIES_EVERY_MS)
  const title = <h1 class="unseen">{texts.value.screens.status}</h1>
  if (!status) {
    return (
      <>
        {title}
        {failure ? <FailureNotice failure={failure} /> : <p class="loading">{texts.value.loading}</p>}
      </>
    )
  }
  return (
    <>
      {title}
      <p key="updated" class="quiet small updated text-end">
        {receivedAt !== undefined && pageTexts(STATUS).updatedAt(formats.value.time(receivedAt))}
      </p>
      <div class={`status ${hasDocuments ? '' : 'two'}`}>
        <DataCard status={status} arrival={receivedAt} series={series} />
        {hasDocuments && <DocumentsCard everyMs={POLL_MS} />}
        <ServerCard status={status} arrival={receivedAt} />
        {status.mail && <MailCard mailboxes={status.mail} arrival={receivedAt} />}
        <SyncRuns runs={status.runs} />
      </div>
    </>
  )
}
