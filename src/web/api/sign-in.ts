// Sign-in by a secret or by the code of a one-time link, and sign-out.

import { apiRequest, type Failure } from './request.ts'
import {
  deletePositions,
  endSession,
  readPageSecret,
  type SessionSecrets,
  session,
  storePageSecret,
} from './session.ts'

export type Refusal = Failure | { kind: 'storage' }

const RECHECK_MS = 5000
let lastResume = Number.NEGATIVE_INFINITY

/** Loads the stored session. Sends no request if there is none. @returns the failure, other than a 401 */
export async function resumeSession(): Promise<Failure | undefined> {
  if (readPageSecret() === undefined) {
    session.value = { state: 'out', reason: 'never' }
    return undefined
  }
  const { value, failure } = await apiRequest<SessionSecrets>('/session')
  if (failure && failure.kind !== 'signed-out') return failure
  const isBroken = performance.now() - lastResume < RECHECK_MS // the session loads, but requests get 401
  lastResume = performance.now()
  if (value && (value.key || value.token) && !isBroken) session.value = { state: 'in', ...value }
  else endSession('ended')
  return undefined
}

/** Queries the secrets of a one-time link without using it up. */
export function queryCode(code: string) {
  return apiRequest<SessionSecrets & { company: { name: string } | null }>('/session/code', {
    method: 'POST',
    body: { code },
  })
}

/** Signs out, and removes the positions of this browser. */
export async function signOut(): Promise<void> {
  deletePositions()
  await apiRequest('/session', { method: 'DELETE' })
  endSession('left')
}

/**
 * Adds a secret to the open session, or opens one. The code of a one-time link replaces the session and is used up.
 * @returns the refusal
 */
export async function requestSession(
  body: { secret: string } | { code: string },
): Promise<Refusal | undefined> {
  const { value, failure } = await apiRequest<{ page: string }>('/session', { method: 'POST', body })
  if (failure) return failure
  if (!storePageSecret(value.page)) return { kind: 'storage' }
  const secrets = await apiRequest<SessionSecrets>('/session')
  if (secrets.failure) return secrets.failure
  session.value = { state: 'in', ...secrets.value }
  return undefined
}
