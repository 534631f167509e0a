// The session of this page: its half of the credentials, and what it holds. The other half is a cookie that no script
// can read; either alone opens nothing.

import { signal } from '@preact/signals'

export type KeyFacts = { name: string }
export type TokenFacts = {
  name: string
  allow: readonly string[]
  company_id: number | null
  expires_at: string | null
}
export type Holds = { key: KeyFacts | null; token: TokenFacts | null }

export type Session =
  | { state: 'asking' }
  | { state: 'out'; why: 'never' | 'ended' | 'left' }
  | ({ state: 'in' } & Holds)

const STORED = 'cambista-page'

export const session = signal<Session>({ state: 'asking' })

export function pageHalf(): string | undefined {
  try {
    return localStorage.getItem(STORED) ?? undefined
  } catch {
    return undefined
  }
}

/** @returns whether the browser keeps it */
export function keepPageHalf(half: string): boolean {
  try {
    localStorage.setItem(STORED, half)
    return true
  } catch {
    return false
  }
}

/**
 * A request was refused: what the session still holds is to be asked anew. Of several such requests the first says so, and
 * what they say of an earlier session counts for nothing.
 */
export function doubtSession(half: string | undefined): void {
  if (half === pageHalf() && session.value.state === 'in') session.value = { state: 'asking' }
}

/** There is no session any more. */
export function endSession(why: 'ended' | 'left'): void {
  forgetPageHalf()
  session.value = { state: 'out', why }
}

function forgetPageHalf(): void {
  try {
    localStorage.removeItem(STORED)
  } catch {
    // Then there was none.
  }
}
