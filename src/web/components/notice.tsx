import type { ComponentChildren } from 'preact'
import type { Failure } from '../api/request.ts'
import { Button } from './button.tsx'
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

/** Message of a failure with a button to retry. Without a connection the banner of the page has the rest. */
export function FailureNotice({ failure }: { failure: Failure }) {
  const { title, text } = failureText(failure)
  if (isLost(failure)) return <Notice title={title} />
  return (
    <Notice title={title}>
      {text && <p>{text}</p>}
      <Button onClick={refreshAll}>{texts.value.failures.retry}</Button>
      <FailureDetails failure={failure} />
    </Notice>
  )
}

/** Message of the server, in English, and the id of the request in its log. */
export function FailureDetails({ failure: { detail, requestId, kind } }: { failure: Failure }) {
  const words = texts.value.failures
  const id = kind === 'server' ? requestId : undefined
  if (detail === '' && id === undefined) return null
  return (
    <details class="details">
      <summary class="link">{words.details}</summary>
      {detail !== '' && (
        <p>
          <q lang="en">{detail}</q>
        </p>
      )}
      {id !== undefined && (
        <p>
          {words.requestId} <code>{id}</code>
        </p>
      )}
    </details>
  )
}

/** Returns true for a request without an answer. */
export function isLost({ kind }: Failure): boolean {
  return kind === 'offline' || kind === 'stopped'
}

export function failureText(failure: Failure): { title: string; text?: string } {
  const words = texts.value.failures
  switch (failure.kind) {
    case 'offline':
    case 'stopped':
      return { title: words.offline }
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
      return { title: words.signedOut }
    case 'server':
      return { title: words.server }
  }
}
