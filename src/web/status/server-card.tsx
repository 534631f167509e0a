// Card of backups, room and version, and the export of all values.

import { useState } from 'preact/hooks'
import { apiRequest, type Failure } from '../api/request.ts'
import type { BackupStatus, Status } from '../api/responses.ts'
import { Button } from '../components/button.tsx'
import { icons } from '../components/icons.tsx'
import { failureText } from '../components/notice.tsx'
import { saveUrl } from '../components/output/downloads.ts'
import { formats, pageTexts } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'
import { Fact, InstantFact, type PillKind, StatusCard } from './card.tsx'

const FORMATS = ['csv', 'ndjson'] as const

export function ServerCard({ status, arrival }: { status: Status; arrival: number | undefined }) {
  const words = pageTexts(STATUS)
  const { server } = words
  const { backup, storage, version } = status
  const { bytes, instant } = formats.value
  const [kind, pill, sentence] = backupState(backup)
  return (
    <StatusCard
      id="server"
      title={server.title}
      pill={[kind, pill]}
      sentence={<p>{sentence}</p>}
      arrival={arrival}
    >
      <dl>
        {backup?.last_run && (
          <InstantFact
            name={server.lastBackup}
            at={backup.last_run}
            remark={
              backup.last_verified ? server.verifiedAt(instant(backup.last_verified)) : server.neverVerified
            }
          />
        )}
        {backup?.next_run && <InstantFact name={server.nextBackup} at={backup.next_run} />}
        <Fact name={server.files}>{bytes(storage.content_bytes)}</Fact>
        {storage.free_bytes !== undefined && <Fact name={server.free}>{bytes(storage.free_bytes)}</Fact>}
        <Fact name={server.version}>{version}</Fact>
      </dl>
      <details class="export above-8">
        <summary class="link">{words.export.title}</summary>
        <ExportAll />
      </details>
    </StatusCard>
  )
}

/** Pill and sentence of the backups. A verified backup that is older than the last one does not count. */
function backupState(backup: BackupStatus | null): [PillKind, string, string] {
  const words = pageTexts(STATUS).server
  if (backup === null) return ['warn', words.none, words.noneText]
  const { last_run, last_status, last_verified } = backup
  if (last_status === 'error') return ['bad', words.failed, words.failedText]
  if (last_run === null) return ['waiting', words.pending, words.pendingText]
  const isVerified = last_verified !== null && Date.parse(last_verified) >= Date.parse(last_run)
  return isVerified
    ? ['good', words.verified, words.verifiedText]
    : ['warn', words.notVerified, words.notVerifiedText]
}

function ExportAll() {
  const words = pageTexts(STATUS).export
  const [state, setState] = useState<'idle' | 'busy' | 'started' | Failure>('idle')
  const startExport = async (format: (typeof FORMATS)[number]) => {
    setState('busy')
    const ticket = await apiRequest<{ url: string }>('/session/ticket', {
      method: 'POST',
      body: { export: format },
    })
    if (ticket.value) saveUrl(`.${ticket.value.url}`, `cambista.${format}`)
    setState(ticket.failure ?? 'started')
  }
  return (
    <>
      <p class="quiet">{words.text}</p>
      <div class="buttons above-10">
        {FORMATS.map((format) => (
          <Button key={format} disabled={state === 'busy'} onClick={() => void startExport(format)}>
            {icons.download}
            {words.file(format.toUpperCase())}
          </Button>
        ))}
        <p role="status" class={typeof state === 'object' ? 'refusal' : 'quiet'}>
          {typeof state === 'object' ? failureText(state).title : state === 'started' && words.started}
        </p>
      </div>
    </>
  )
}
