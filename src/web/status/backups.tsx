import type { BackupStatus } from '../api/responses.ts'
import { Fact, Instant } from './fact.tsx'
import { statusTexts } from './texts.ts'

export function Backups({ backup }: { backup: BackupStatus | null }) {
  const words = statusTexts.value
  return (
    <section class="card" aria-labelledby="backups">
      <div class="card-head">
        <h2 id="backups">{words.backups}</h2>
        {backup && <State backup={backup} />}
      </div>
      {backup ? (
        <dl class="fact-list">
          <Fact name={words.backup}>
            {backup.last_run ? <Instant at={backup.last_run} /> : words.noBackupYet}
          </Fact>
          <Fact name={words.lastVerified}>
            {backup.last_verified ? (
              <Instant at={backup.last_verified} />
            ) : (
              <span class="caution">{words.never}</span>
            )}
          </Fact>
          <Fact name={words.nextBackup}>{backup.next_run ? <Instant at={backup.next_run} /> : '—'}</Fact>
        </dl>
      ) : (
        <p class="caution">{words.noBackups}</p>
      )}
    </section>
  )
}

function State({ backup }: { backup: BackupStatus }) {
  const words = statusTexts.value
  if (backup.last_status === 'error') return <span class="pill bad">{words.failedBackup}</span>
  if (backup.last_run === null) return null
  return backup.last_verified !== null ? (
    <span class="pill good">{words.verified}</span>
  ) : (
    <span class="pill warn">{words.notVerified}</span>
  )
}
