// One-time links to the page. Whoever has the data directory can sign in a browser that has no secret to type. A code
// is valid once: for five minutes, or for a day if it names a person. Its use is an event.

import { findOneTime, insertOneTime, takeOneTime } from '../../store/access/one-time.ts'
import { type Actor, insertEvents } from '../../store/documents/events.ts'
import { atomically } from '../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import { hashOfSecret, makeCode } from './secrets.ts'

/** Ids of the key, the token or both that a link signs in with, and the name of its person. */
export type LoginTarget = {
  keyId: number | undefined
  tokenId: number | undefined
  person?: string | undefined
}

/** A stored link. */
export type LoginLink = LoginTarget & { endsAt: string }

/** Time for which a link without a person is valid. */
export const LINK_MINUTES = 5
const PERSON_LINK_MINUTES = 24 * 60
const LONGEST_PERSON = 80

/** Returns the error of a person's name; undefined: it is valid. */
export function personFault(text: string): string | undefined {
  const isValid =
    text.length <= LONGEST_PERSON && /^\S(.*\S)?$/su.test(text) && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text)
  return isValid
    ? undefined
    : `must be the name of a person: 1 to ${LONGEST_PERSON} visible characters, without spaces at the ends`
}

/** Returns the time for which a link is valid, in words. */
export function linkLifetime({ person }: { person?: string | undefined }): string {
  return person === undefined ? `${LINK_MINUTES} minutes` : `${PERSON_LINK_MINUTES / 60} hours`
}

/** Creates a link. Returns its code, which is stored only as a hash, and its end. */
export async function makeLoginLink(
  db: WriteDb,
  { keyId, tokenId, person }: LoginTarget,
  clock: Clock,
): Promise<{ code: string; endsAt: string }> {
  const code = makeCode()
  const now = clock()
  const minutes = person === undefined ? LINK_MINUTES : PERSON_LINK_MINUTES
  const end = new Date(now.getTime() + minutes * 60_000).toISOString()
  const target = { key_id: keyId ?? null, token_id: tokenId ?? null, person: person ?? null }
  await insertOneTime(
    db,
    'login_links',
    { hash: hashOfSecret(code), ends_at: end, ...target },
    now.toISOString(),
  )
  return { code, endsAt: end }
}

/** Finds the link of a code without using the code up. Undefined: it was used, has expired, or never existed. */
export async function findLoginLink(db: ReadDb, code: string, clock: Clock): Promise<LoginLink | undefined> {
  const link = await findOneTime(db, 'login_links', hashOfSecret(code), clock().toISOString())
  if (!link) return undefined
  const { key_id, token_id, person, ends_at: endsAt } = link
  return { keyId: key_id ?? undefined, tokenId: token_id ?? undefined, person: person ?? undefined, endsAt }
}

/** Uses a code up and records the login of its keys and tokens; false: it was used or has expired. */
export function useLogin(db: WriteDb, code: string, by: readonly Actor[], clock: Clock): Promise<boolean> {
  const at = clock().toISOString()
  return atomically(db, async (trx) => {
    if (!(await takeOneTime(trx, 'login_links', hashOfSecret(code), at))) return false
    const nothing = { document_id: null, company_id: null, sha256: null }
    await insertEvents(
      trx,
      by.map((actor) => ({ at, kind: 'login', ...actor, ...nothing })),
    )
    return true
  })
}
