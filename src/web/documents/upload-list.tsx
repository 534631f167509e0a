import type { Failure } from '../api/request.ts'
import { icons } from '../components/icons.tsx'
import { failureText } from '../components/notice.tsx'
import { formats } from '../components/view.ts'
import { visibleText } from '../model/visible.ts'
import { documentsTexts } from './texts.ts'
import type { FileUpload, UploadQueue } from './upload-queue.ts'

export function UploadList({ uploads, retry, remove }: Omit<UploadQueue, 'add'>) {
  const words = documentsTexts.value.upload
  if (uploads.length === 0) return null
  return (
    <ul class="sending">
      {uploads.map((one) => (
        <li key={one.key} class={`sent ${stateClass(one)}`}>
          <p class="sent-name">
            <bdi>{visibleText(one.file.name)}</bdi> <small>{formats.value.bytes(one.file.size)}</small>
          </p>
          <button
            type="button"
            class="plain round"
            aria-label={isUnderWay(one) ? words.stop : words.clear}
            title={isUnderWay(one) ? words.stop : words.clear}
            onClick={() => remove(one.key)}
          >
            {icons.close}
          </button>
          {isUnderWay(one) && (
            <progress
              aria-label={words.progress(visibleText(one.file.name))}
              value={one.state === 'sending' ? one.share : one.state === 'saving' ? 1 : 0}
            />
          )}
          <p class="sent-state" role="status">
            {stateText(one)}
          </p>
          {typeof one.state === 'object' && (
            <button type="button" class="link" onClick={() => retry(one.key)}>
              {words.again}
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}

function isUnderWay({ state }: FileUpload): boolean {
  return typeof state === 'string' && state !== 'done' && state !== 'empty'
}

function stateClass({ state }: FileUpload): string {
  if (state === 'done') return 'good'
  return typeof state === 'object' || state === 'empty' ? 'bad' : ''
}

function stateText({ state }: FileUpload): string {
  const words = documentsTexts.value.upload
  if (typeof state === 'object') return `${words.failed}: ${reasonText(state)}`
  if (state === 'empty') return words.emptyFile
  return state === 'waiting' ? '…' : words[state]
}

function reasonText(failure: Failure): string {
  const words = documentsTexts.value.upload
  if (failure.status === 413) return words.tooLarge
  if (failure.status === 507) return words.full
  const { title } = failureText(failure)
  return failure.detail === '' ? title : `${title} (${failure.detail})`
}
