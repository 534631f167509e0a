import type { ComponentChildren } from 'preact'
import type { Failure } from '../api/request.ts'
import { Button } from './button.tsx'
import { refreshAll } from './use-api.ts'
import { texts } from './view.ts'

/** Message about a state, with a remedy as children. */
export function Notice(props: { title: string; text?: string; children?: ComponentChildren }) {
  return (
    <div class="notice" role="status">
      <p class="notice-title">{props.title}</p>
      {props.text && <p>{props.text}</p>}
      {props.children}
    </div>
  )
}

/**
 * Message of a failure with a button to retry. Without a connection the banner of the page has the rest.
 * @param waits title without a connection; undefined: that of the failure
 */
export function FailureNotice({ failure, waits }: { failure: Failure; waits?: string }) {
  const { title } = failureText(failure)
  const { busyText, retry } = texts.value.failures
  if (isLost(failure)) return <Notice title={failure.kind === 'offline' && waits ? waits : title} />
  return (
    <Notice title={title} text={failure.kind === 'busy' ? busyText : ''}>
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
