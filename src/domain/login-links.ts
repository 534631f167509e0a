// One-time links to the page: one that has the data directory signs in a browser that has no secret to type. The code is good
// for five minutes and once; that it was used is an event.

import type { Clock } from '../dates.ts'
import { atomically } from '../store/engine.ts'
import { type Actor, insertEvents } from '../store/events.ts'
import { deleteLoginLink, findLoginLink, insertLoginLink } from '../store/secrets/login-links.ts'
import type { Db } from '../store/tables.ts'
import { hashOfSecret, makeCode } from './secrets.ts'

/** The ids of the key, of the token or of both that a link signs in with. */
export type LoginTarget = { keyId: number | undefined; tokenId: number | undefined }

export const LINK_MINUTES = 5

/** A new link: its code, which is kept nowhere, and when it ends. */
export async function makeLoginLink(
  db: Db,
  { keyId, tokenId }: LoginTarget,
  clock: Clock,
): Promise<{ code: string; endsAt: string }> {
  const code = makeCode()
  const now = clock()
  const endsAt = new Date(now.getTime() + LINK_MINUTES * 60_000).toISOString()
  const link = { hash: hashOfSecret(code), key_id: keyId ?? null, token_id: tokenId ?? null, ends_at: endsAt }
  await atomically(db, (trx) => insertLoginLink(trx, link, now.toISOString()))
  return { code, endsAt }
}

/** What a code signs in with, without using it up; undefined: it was used, has ended, or never was. */
export async function targetOfLogin(db: Db, code: string, clock: Clock): Promise<LoginTarget | undefined> {
  const link = await findLoginLink(db, hashOfSecret(code), clock().toISOString())
  return link && { keyId: link.key_id ?? undefined, tokenId: link.token_id ?? undefined }
}

/** Uses a code up, and writes down for which keys and tokens; false: another request did, or it has ended. */
export function useLogin(
  db: Db,
  code: string,
  by: readonly Pick<Actor, 'via' | 'actor'>[],
  clock: Clock,
): Promise<boolean> {
  const at = clock().toISOString()
  return atomically(db, async (trx) => {
    if (!(await deleteLoginLink(trx, hashOfSecret(code), at))) return false
    const nothing = { document_id: null, company_id: null, sha256: null }
    await insertEvents(
      trx,
      by.map(({ via, actor }) => ({ at, kind: 'login', via, actor, ...nothing })),
    )
    return true
  })
}
