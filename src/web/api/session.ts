// Session of this page and its half of the credentials. The other half is an HttpOnly cookie; either alone is useless.

import { signal } from '@preact/signals'

export type KeyFacts = { name: string }
export type TokenFacts = {
  name: string
  allow: readonly string[]
  company_id: number | null
  expires_at: string | null
}
/** `person`: name of the link that opened the session. `organization`: letterhead of the server. */
export type SessionSecrets = {
  key: KeyFacts | null
  token: TokenFacts | null
  person?: string | null
  organization?: { name: string; tax_id: string | null } | null
}

export type SessionState =
  | { state: 'loading' }
  | { state: 'out'; reason: 'never' | 'ended' | 'left' }
  | ({ state: 'in' } & SessionSecrets)

const STORAGE_KEY = 'cambista-page'
/** Positions of exchange differences, which last until the user signs out. */
export const POSITIONS_KEY = 'cambista-positions'

export const session = signal<SessionState>({ state: 'loading' })

export function readPageSecret(): string | undefined {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? undefined
  } catch {
    return undefined // the browser forbids storage
  }
}

/** @returns false if the browser forbids storage */
export function storePageSecret(secret: string): boolean {
  try {
    localStorage.setItem(STORAGE_KEY, secret)
    return true
  } catch {
    return false
  }
}

/** Requests the session again after a 401. Ignores responses to an earlier session, and all but the first. */
export function recheckSession(secret: string | undefined): void {
  if (secret === readPageSecret() && session.value.state === 'in') session.value = { state: 'loading' }
}

export function endSession(reason: 'ended' | 'left'): void {
  deletePageSecret()
  session.value = { state: 'out', reason }
}

export function hasPositions(): boolean {
  try {
    return localStorage.getItem(POSITIONS_KEY) !== null
  } catch {
    return false // the browser forbids storage
  }
}

export function deletePositions(): void {
  try {
    localStorage.removeItem(POSITIONS_KEY)
  } catch {
    // Without storage there were none.
  }
}

function deletePageSecret(): void {
  try {
    localStorage.removeItem(STORAGE_KEY)
  } catch {
    // Without storage there was no session.
  }
}
