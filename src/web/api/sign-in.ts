// Sign-in by a secret or by the code of a one-time link, and sign-out.

import { apiRequest, type Failure, PAGE_HEADER } from './request.ts'
import {
  PAGE_SECRET_KEY,
  POSITIONS_KEY,
  readPageSecret,
  type SessionEnding,
  type SessionFacts,
  type SessionSecrets,
  SIGNED_OUT,
  session,
  signOuts,
  unendedSecret,
} from './session.ts'
import { writeStored } from './storage.ts'

export type Refusal = Failure | { kind: 'storage' }

/** Facts of a one-time link. */
export type LinkFacts = SessionSecrets & {
  company: { name: string } | null
  remember: boolean
  ends_at: string
}

/** True if the server sent the page to an address of an open network. */
export const isOpenNetwork = document.documentElement.dataset.open !== undefined

const RECHECK_MS = 5000
let lastResume = Number.NEGATIVE_INFINITY

// Another tab signed in, signed out, or found that the session has ended.
addEventListener('storage', ({ key, newValue }) => {
  if (key !== PAGE_SECRET_KEY) return
  if (newValue) {
    unendedSecret.value = undefined
    session.value = { state: 'loading' }
  } else if (newValue === SIGNED_OUT) void leaveSession()
  else if (session.value.state === 'in') session.value = { state: 'out', reason: 'ended', end: undefined }
})

/**
 * Loads the stored session. Without one it sends no request, except in an open network.
 * @returns the failure, other than a 401
 */
export async function resumeSession(): Promise<Failure | undefined> {
  const current = session.value
  if (current.state !== 'loading') return undefined // an earlier request has loaded it
  // The session loads, but requests get 401.
  const isBroken = current.isRefused && performance.now() - lastResume < RECHECK_MS
  const secret = readPageSecret()
  if (secret === undefined) {
    lastResume = performance.now()
    if (!isOpenNetwork || isBroken) session.value = { state: 'out', reason: 'never' }
    else await enterOpenNetwork()
    return undefined
  }
  const { value, failure } = await apiRequest<SessionFacts & { ended?: SessionEnding }>('/session')
  if (failure && failure.kind !== 'signed-out') return failure
  if (readPageSecret() !== secret) return resumeSession() // another tab replaced the session
  lastResume = performance.now()
  if (value && (value.key || value.token) && !isBroken) session.value = { state: 'in', ...value }
  else {
    writeStored(PAGE_SECRET_KEY, null)
    session.value = { state: 'out', reason: 'ended', end: value?.ended }
  }
  return undefined
}

/** Shows the rates at once. The answer has the owner of the server, and ends it for an address that may not read. */
export async function enterOpenNetwork(): Promise<void> {
  session.value = { state: 'open', organization: null }
  const { value } = await apiRequest<SessionFacts>('/session')
  if (value === undefined || session.value.state !== 'open') return
  const { organization, public_url } = value
  const facts = { organization, ...(public_url !== undefined && { public_url }) }
  session.value = value.open ? { state: 'open', ...facts } : { state: 'out', reason: 'never' }
}

/** Queries the facts of a one-time link without using it up. */
export function queryCode(code: string) {
  return apiRequest<LinkFacts>('/session/code', { method: 'POST', body: { code } })
}

/**
 * Signs out, and removes the positions, the pasted list and the files that are sent. The secret is removed also if the
 * server does not answer.
 */
export async function signOut(): Promise<void> {
  const secret = readPageSecret()
  writeStored(POSITIONS_KEY, null)
  if (secret !== undefined) await endSession(secret)
  writeStored(PAGE_SECRET_KEY, SIGNED_OUT)
  writeStored(PAGE_SECRET_KEY, null)
  await leaveSession()
}

/** Ends a session on the server. After a failure its secret is in `unendedSecret`, unless a later session is open. */
export async function endSession(secret: string, signal?: AbortSignal): Promise<void> {
  const headers = { [PAGE_HEADER]: secret }
  const { failure } = await apiRequest('/session', { method: 'DELETE', headers, signal })
  const isLast = (readPageSecret() ?? secret) === secret
  unendedSecret.value = failure && isLast ? secret : undefined
}

async function leaveSession(): Promise<void> {
  signOuts.value += 1
  if (isOpenNetwork) await enterOpenNetwork()
  else session.value = { state: 'out', reason: 'left' }
}

/** Ends the sessions of the same person in other browsers. */
export function signOutElsewhere() {
  return apiRequest('/session?others=true', { method: 'DELETE' })
}

/**
 * Adds a secret to the open session, or opens one. The code of a one-time link replaces the session and is used up.
 * @param body `remember`: undefined leaves an open session as it is
 * @returns the refusal
 */
export async function requestSession(
  body: ({ secret: string } | { code: string }) & { remember?: boolean | undefined },
): Promise<Refusal | undefined> {
  const { value, failure } = await apiRequest<{ page: string }>('/session', { method: 'POST', body })
  if (failure) return failure
  unendedSecret.value = undefined // its cookie has been replaced
  if (!writeStored(PAGE_SECRET_KEY, value.page)) return { kind: 'storage' }
  const facts = await apiRequest<SessionFacts>('/session')
  // After a failure the page loads the session, for the code is used up.
  session.value = facts.value ? { state: 'in', ...facts.value } : { state: 'loading' }
  return undefined
}
