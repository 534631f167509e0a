// Session of this page and its half of the credentials. The other half is an HttpOnly cookie; either alone is useless.

import { signal } from '@preact/signals'
import { readStored } from './storage.ts'

export type SessionSecrets = {
  key: { name: string } | null
  token: {
    name: string
    allow: readonly string[]
    company_id: number | null
    expires_at: string | null
  } | null
  /** Name in the link that the session began with. */
  person: string | null
}

/** Letterhead of the server's owner. */
type ServerOwner = { name: string; tax_id: string | null }

/** Reason why a session ended, and whether it was a remembered one. */
export type SessionEnding = { reason: 'idle' | 'age' | 'closed' | 'withdrawn'; remember: boolean }

export type SessionFacts = SessionSecrets & {
  organization: ServerOwner | null
  /** True if rates are open to this address without signing in. */
  open: boolean
  /** Address of the page that the operator chose for QR codes. */
  public_url?: string
  /** True with a key, if indicators are enabled. */
  indicators?: true
}

type SessionState =
  /** `isRefused`: after a 401. */
  | { state: 'loading'; isRefused?: true }
  /** Rates without signing in, in an open network. */
  | ({ state: 'open' } & Pick<SessionFacts, 'organization' | 'public_url'>)
  | { state: 'out'; reason: 'never' | 'left' }
  | { state: 'out'; reason: 'ended'; end: SessionEnding | undefined }
  | ({ state: 'in' } & SessionFacts)

/** Key of the page's half in the storage of the browser. */
export const PAGE_SECRET_KEY = 'cambista-page'
/** Value for a moment in place of the half, so that other tabs know that the user signed out. */
export const SIGNED_OUT = ''
/** Positions of exchange differences, which last until the user signs out. */
export const POSITIONS_KEY = 'cambista-positions'

export const session = signal<SessionState>({ state: 'loading' })
/** Number of times that the user signed out, in any tab. Each clears the user's entries, also where rates stay open. */
export const signOuts = signal(0)
/** The page's half of a session that the user left and the server has not ended: in memory alone. */
export const unendedSecret = signal<string | undefined>(undefined)

/** Returns true if the session has read rights for the state of the server. */
export function canReadStatus(): boolean {
  const current = session.value
  return current.state === 'in' && current.key !== null
}

/** Returns true if the session has a key, and the server enabled indicators. */
export function hasIndicators(): boolean {
  const current = session.value
  return current.state === 'in' && current.indicators === true
}

/** Returns the page's half of the session; undefined: signed out. */
export function readPageSecret(): string | undefined {
  return readStored(PAGE_SECRET_KEY) || undefined
}

/** Requests the session again after a 401. Ignores responses to an earlier session, and all but the first. */
export function recheckSession(secret: string | undefined): void {
  const { state } = session.value
  if (secret === readPageSecret() && (state === 'in' || state === 'open'))
    session.value = { state: 'loading', isRefused: true }
}

/** Returns true if the token of the session has a permission, such as `documents:POST`. */
export function mayUse(permission: string): boolean {
  const { value } = session
  return value.state === 'in' && value.token?.allow.includes(permission) === true
}
