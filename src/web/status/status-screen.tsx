// Screen of the server's state: freshness, storage, backups and the last sync runs.

import type { Status } from '../api/responses.ts'
import { session } from '../api/session.ts'
import { FailureNotice } from '../components/notice.tsx'
import { useApi } from '../components/use-api.ts'
import { formats, texts } from '../components/view.ts'
import { NeedsSecret } from '../session/lazy-doors.ts'
import { Backups } from './backups.tsx'
import { ExportAll } from './export-all.tsx'
import { Fact } from './fact.tsx'
import { Freshness } from './freshness.tsx'
import { SyncRuns } from './sync-runs.tsx'
import { statusTexts } from './texts.ts'

const POLL_MS = 15_000

export function StatusScreen() {
  const current = session.value
  if (current.state === 'in' && !current.key) return <NeedsSecret kind="key" />
  return <Overview />
}

function Overview() {
  const { value: status, failure } = useApi<Status>('/api/v1/status', POLL_MS)
  return (
    <div class="status">
      <h1 class="unseen">{texts.value.screens.status}</h1>
      {failure && !status && <FailureNotice failure={failure} />}
      {!failure && !status && <p class="loading">{texts.value.loading}</p>}
      {status && (
        <>
          <Freshness status={status} />
          <Storage status={status} />
          <Backups backup={status.backup} />
          <SyncRuns runs={status.runs} />
        </>
      )}
    </div>
  )
}

function Storage({ status: { storage, version } }: { status: Status }) {
  const words = statusTexts.value
  const { bytes, count } = formats.value
  return (
    <section class="card" aria-labelledby="storage">
      <div class="card-head">
        <h2 id="storage">{words.storage}</h2>
      </div>
      <dl class="fact-list">
        <Fact name={words.rates}>{count(storage.rates)}</Fact>
        <Fact name={words.documents}>{count(storage.documents)}</Fact>
        <Fact name={words.bytes}>
          {bytes(storage.content_bytes)}{' '}
          <small>{words.inContents(storage.contents, count(storage.contents))}</small>
        </Fact>
        {storage.free_bytes !== undefined && <Fact name={words.free}>{bytes(storage.free_bytes)}</Fact>}
        <Fact name={words.version}>cambista {version}</Fact>
      </dl>
      <details class="export">
        <summary class="link">{words.export.title}</summary>
        <ExportAll />
      </details>
    </section>
  )
}
