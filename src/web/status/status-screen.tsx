// How the box is: fresh or not, what it holds, its backups, and what the last syncs did.

import { useAnswer } from '../parts/answer.ts'
import { FailureNotice, wordsOf } from '../parts/notice.tsx'
import { texts } from '../parts/view.ts'
import type { Status } from '../server/answers.ts'
import { session } from '../server/session.ts'
import { NeedsSecret } from '../session/needs-secret.tsx'
import { Backups } from './backups.tsx'
import { Freshness } from './freshness.tsx'
import { Runs } from './runs.tsx'
import { Storage } from './storage.tsx'

const EVERY_MS = 15_000

export function StatusScreen() {
  const current = session.value
  if (current.state === 'in' && !current.key) return <NeedsSecret what="key" />
  return <Overview />
}

function Overview() {
  const { value: status, failure } = useAnswer<Status>('/api/v1/status', EVERY_MS)
  return (
    <div class="status">
      <h1 class="unseen">{texts.value.screens.status}</h1>
      {failure && status && (
        <p class="banner" role="status">
          <strong>{wordsOf(failure).title}.</strong> {texts.value.failures.lastShown} {wordsOf(failure).text}
        </p>
      )}
      {failure && !status && <FailureNotice failure={failure} />}
      {!failure && !status && <p class="loading">{texts.value.loading}</p>}
      {status && (
        <>
          <Freshness status={status} />
          <Storage status={status} />
          <Backups backup={status.backup} />
          <Runs runs={status.runs} />
        </>
      )}
    </div>
  )
}
