import { icons } from '../parts/icons.tsx'
import { wordsOf } from '../parts/notice.tsx'
import { formats } from '../parts/view.ts'
import type { Failure } from '../server/ask.ts'
import { visibleText } from '../words/visible.ts'
import type { Sending, Sent } from './sending.ts'
import { documentsTexts } from './texts.ts'

export function SendingList({ sent, again, remove }: Omit<Sending, 'add'>) {
  const words = documentsTexts.value.upload
  if (sent.length === 0) return null
  return (
    <ul class="sending">
      {sent.map((one) => (
        <li key={one.key} class={`sent ${kindOf(one)}`}>
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
            {stateOf(one)}
          </p>
          {typeof one.state === 'object' && (
            <button type="button" class="link" onClick={() => again(one.key)}>
              {words.again}
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}

function isUnderWay({ state }: Sent): boolean {
  return typeof state === 'string' && state !== 'done' && state !== 'empty'
}

function kindOf({ state }: Sent): string {
  if (state === 'done') return 'good'
  return typeof state === 'object' || state === 'empty' ? 'bad' : ''
}

function stateOf({ state }: Sent): string {
  const words = documentsTexts.value.upload
  if (typeof state === 'object') return `${words.failed}: ${reasonOf(state)}`
  if (state === 'empty') return words.emptyFile
  return state === 'waiting' ? '…' : words[state]
}

function reasonOf(failure: Failure): string {
  const words = documentsTexts.value.upload
  if (failure.status === 413) return words.tooLarge
  if (failure.status === 507) return words.full
  const { title } = wordsOf(failure)
  return failure.detail === '' ? title : `${title} (${failure.detail})`
}
