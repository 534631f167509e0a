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
  const { title } = failureText(failure)
  const { busyText, retry } = texts.value.failures
  if (isLost(failure)) return <Notice title={title} />
  return (
    <Notice title={title}>
      {failure.kind === 'busy' && <p>{busyText}</p>}
      <Button onClick={refreshAll}>{retry}</Button>
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

export function failureText({ kind }: Failure): { title: string } {
  return { title: texts.value.failures.kinds[kind === 'stopped' ? 'offline' : kind] }
}
