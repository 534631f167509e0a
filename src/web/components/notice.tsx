import type { ComponentChildren } from 'preact'
import type { Failure } from '../api/request.ts'
import { refreshAll } from './use-api.ts'
import { texts } from './view.ts'

/** Message about a state, with a remedy as children. */
export function Notice({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="notice" role="status">
      <p class="notice-title">{title}</p>
      {children}
    </div>
  )
}

/** Message of a failure with a button to retry. */
export function FailureNotice({ failure }: { failure: Failure }) {
  const words = texts.value.failures
  const { title, text } = failureText(failure)
  return (
    <Notice title={title}>
      {text && <p>{text}</p>}
      {failure.detail !== '' && (
        <p class="quiet">
          {words.says} <q lang="en">{failure.detail}</q>
        </p>
      )}
      <button type="button" class="button" onClick={refreshAll}>
        {words.retry}
      </button>
    </Notice>
  )
}

export function failureText({ kind }: Failure): { title: string; text?: string } {
  const words = texts.value.failures
  switch (kind) {
    case 'offline':
    case 'stopped':
      return { title: words.offline, text: words.offlineText }
    case 'busy':
      return { title: words.busy, text: words.busyText }
    case 'too-many':
      return { title: words.tooMany }
    case 'forbidden':
      return { title: words.forbidden }
    case 'not-found':
      return { title: words.notFound }
    case 'invalid':
      return { title: words.invalid }
    case 'signed-out':
      return { title: texts.value.session.ended }
    case 'server':
      return { title: words.server, text: words.serverText }
  }
}
