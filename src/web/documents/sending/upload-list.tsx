import type { ComponentChildren } from 'preact'
import type { Document } from '../../api/documents.ts'
import type { Failure } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { icons } from '../../components/icons.tsx'
import { failureText } from '../../components/notice.tsx'
import { formats, pageTexts } from '../../components/view.ts'
import { SENDING } from '../../i18n/sending.ts'
import { visibleText } from '../../model/visible.ts'
import { type FileUpload, isUnderWay, removeUpload, retryUpload, uploads } from './upload-queue.ts'

export function UploadList({ chip }: { chip: (document: Document) => ComponentChildren }) {
  const words = pageTexts(SENDING)
  if (uploads.value.length === 0) return null
  return (
    <ul class="sending">
      {uploads.value.map((one) => (
        <li key={one.key} class={`sent grid ${stateClass(one)}`}>
          <p class="sent-name">
            <bdi>{visibleText(one.file.name)}</bdi> <small>{formats.value.bytes(one.file.size)}</small>
          </p>
          <IconButton
            label={isUnderWay(one) ? words.stop : words.clear}
            onClick={() => removeUpload(one.key)}
          >
            {icons.close}
          </IconButton>
          <p class="small quiet sent-state" role="status">
            {one.document && one.document.state !== 'new' ? chip(one.document) : stateText(one)}
          </p>
          {isUnderWay(one) && one.state !== 'waiting' && (
            <progress aria-label={words.progress(visibleText(one.file.name))} value={sentShare(one)} />
          )}
          {typeof one.state === 'object' && (
            <Button class="link" onClick={() => retryUpload(one.key)}>
              {words.again}
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

function stateClass({ state }: FileUpload): string {
  if (state === 'done') return 'good'
  return typeof state === 'object' || state === 'empty' || state === 'unreadable' ? 'bad' : ''
}

/** Share of the file that was sent: none while the page reads it. */
function sentShare({ state, share }: FileUpload): number {
  if (state === 'saving') return 1
  return state === 'sending' ? share : 0
}

function stateText(upload: FileUpload): string {
  const words = pageTexts(SENDING)
  const { state } = upload
  if (typeof state === 'object') return words.failed(reasonText(state))
  if (state === 'empty') return words.failed(words.emptyFile)
  if (state === 'unreadable') return words.failed(words.unreadable)
  if (state === 'waiting') return words.queued
  return state === 'done' ? words.received : words.sending(Math.floor(sentShare(upload) * 100))
}

function reasonText(failure: Failure): string {
  const words = pageTexts(SENDING)
  if (failure.status === 413) return words.tooLarge
  if (failure.status === 507) return words.full
  const { title } = failureText(failure)
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}`
}
