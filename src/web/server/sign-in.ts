// Signing in and out, by a secret or by the code of a one-time link.

import { ask, type Failure } from './ask.ts'
import { endSession, type Holds, keepPageHalf, pageHalf, session } from './session.ts'

export type Refusal = Failure | { kind: 'storage' }

const AGAIN_WITHIN_MS = 5000
let resumedAt = Number.NEGATIVE_INFINITY

/** Asks what the kept session holds. Without one no request is made. @returns why that is not known */
export async function resumeSession(): Promise<Failure | undefined> {
  if (pageHalf() === undefined) {
    session.value = { state: 'out', why: 'never' }
    return undefined
  }
  const { value, failure } = await ask<Holds>('/session')
  if (failure && failure.kind !== 'signed-out') return failure
  const isSame = performance.now() - resumedAt < AGAIN_WITHIN_MS // it says that it is open, and was refused just now
  resumedAt = performance.now()
  if (value && (value.key || value.token) && !isSame) session.value = { state: 'in', ...value }
  else endSession('ended')
  return undefined
}

/** Adds the secret to the open session, or opens one. @returns why not */
export function signIn(secret: string): Promise<Refusal | undefined> {
  return open({ secret })
}

/** The same with the code of a one-time link, which is used up by it. It replaces the open session. */
export function signInByCode(code: string): Promise<Refusal | undefined> {
  return open({ code })
}

/** What a one-time link would open, without using it up. */
export function lookAtCode(code: string) {
  return ask<Holds & { company: { name: string } | null }>('/session/code', {
    method: 'POST',
    body: { code },
  })
}

export async function signOut(): Promise<void> {
  await ask('/session', { method: 'DELETE' })
  endSession('left')
}

async function open(body: { secret: string } | { code: string }): Promise<Refusal | undefined> {
  const { value, failure } = await ask<{ page: string }>('/session', { method: 'POST', body })
  if (failure) return failure
  if (!keepPageHalf(value.page)) return { kind: 'storage' }
  const holds = await ask<Holds>('/session')
  if (holds.failure) return holds.failure
  session.value = { state: 'in', ...holds.value }
  return undefined
}
