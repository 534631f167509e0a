// One-time links to the page. Whoever has the data directory can sign in a browser that has no secret to type. A code
// is valid once and for five minutes; its use is an event.

import { findOneTime, insertOneTime, takeOneTime } from '../../store/access/one-time.ts'
import { type Actor, insertEvents } from '../../store/documents/events.ts'
import { atomically } from '../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import { hashOfSecret, makeCode } from './secrets.ts'

/** Ids of the key, the token or both that a link signs in with. */
export type LoginTarget = { keyId: number | undefined; tokenId: number | undefined }

export const LINK_MINUTES = 5

/** Creates a link. Returns its code, which is stored only as a hash, and its end. */
export async function makeLoginLink(
  db: WriteDb,
  { keyId, tokenId }: LoginTarget,
  clock: Clock,
): Promise<{ code: string; endsAt: string }> {
  const code = makeCode()
  const now = clock()
  const end = new Date(now.getTime() + LINK_MINUTES * 60_000).toISOString()
  const link = { hash: hashOfSecret(code), key_id: keyId ?? null, token_id: tokenId ?? null, ends_at: end }
  await insertOneTime(db, 'login_links', link, now.toISOString())
  return { code, endsAt: end }
}

/**
 * Finds the key and token of a code without using the code up. Undefined: it was used, has expired, or never existed.
 */
export async function findLoginTarget(
  db: ReadDb,
  code: string,
  clock: Clock,
): Promise<LoginTarget | undefined> {
  const link = await findOneTime(db, 'login_links', hashOfSecret(code), clock().toISOString())
  return link && { keyId: link.key_id ?? undefined, tokenId: link.token_id ?? undefined }
}

/** Uses a code up and records the login of its keys and tokens; false: it was used or has expired. */
export function useLogin(
  db: WriteDb,
  code: string,
  by: readonly Pick<Actor, 'via' | 'actor'>[],
  clock: Clock,
): Promise<boolean> {
  const at = clock().toISOString()
  return atomically(db, async (trx) => {
    if (!(await takeOneTime(trx, 'login_links', hashOfSecret(code), at))) return false
    const nothing = { document_id: null, company_id: null, sha256: null }
    await insertEvents(
      trx,
      by.map(({ via, actor }) => ({ at, kind: 'login', via, actor, ...nothing })),
    )
    return true
  })
}
