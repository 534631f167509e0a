// Workers of agent 1 that claim at one node and finish at another, die with what they hold, and are late. What was
// acknowledged to them is held against the rules of claims (decisions 3.16).

import { setTimeout as pause } from 'node:timers/promises'
import { LONG } from '../../faults/scale.ts'
import { TOKENS } from '../directory.ts'
import { ask, count, fault, jsonOf, type Soak } from './world.ts'

const LEASE_SECONDS = 10
const LEASE_MS = LEASE_SECONDS * 1000

type Claimed = { id: number; claim_id: string; attempts: number }

/** What is known of a claim: it was live until `until` at least. */
type Held = { attempts: number; until: number }

export type Claims = {
  held: Map<number, Held>
  /** Outcomes that were acknowledged, by document: the claim, and what. */
  outcomes: Map<number, string>
}

export function createClaims(): Claims {
  return { held: new Map(), outcomes: new Map() }
}

/** Works until `isDone`; a worker that dies lets go of what it holds, and begins anew. */
export async function work(soak: Soak, claims: Claims, isDone: () => boolean): Promise<void> {
  const { random } = soak
  while (!isDone()) {
    const asked = {
      agent_id: 1,
      limit: random.int(1, 20),
      lease_seconds: LEASE_SECONDS,
      wait: random.int(0, 2),
    }
    const sent = performance.now()
    const answer = await post(soak, 'claim', '/api/v1/documents/claim', asked)
    if (answer?.status !== 200) {
      if (answer) fault(soak, `claim: ${answer.status} ${answer.body}`)
      await pause(random.int(20, 300))
      continue
    }
    const { documents } = jsonOf<{ documents: Claimed[] }>(answer)
    for (const one of documents) noteClaim(soak, claims, one, { sent, received: performance.now() })
    if (documents.length === 0) await pause(random.int(10, 200))
    for (const one of documents) if (!(await handle(soak, claims, one, isDone))) break
  }
}

function noteClaim(
  soak: Soak,
  { held }: Claims,
  { id, attempts }: Claimed,
  { sent, received }: { sent: number; received: number },
): void {
  const before = held.get(id)
  if (before && before.attempts >= attempts) return // its answer came later than that of the claim after it
  if (before && received < before.until)
    fault(soak, `document ${id} was claimed while another worker held it`)
  held.set(id, { attempts, until: sent + LEASE_MS })
}

/** Whether the worker lives. */
async function handle(soak: Soak, claims: Claims, one: Claimed, isDone: () => boolean): Promise<boolean> {
  const { random } = soak
  const path = (what: string) => `/api/v1/documents/${one.id}/${what}`
  if ((LONG && one.id % 97 === 0) || random.chance(0.01)) {
    count(soak, 'workers died')
    return false
  }
  if (random.chance(0.005)) await pause(random.int(0, 2 * LEASE_MS))
  const mine = claims.held.get(one.id)
  const isMine = mine?.attempts === one.attempts
  if (random.chance(0.03)) {
    const sent = performance.now()
    const answer = await post(soak, 'extend', path('extend'), {
      ...{ claim_id: one.claim_id, lease_seconds: LEASE_SECONDS },
    })
    if (isMine && answer?.status === 200) mine.until = sent + LEASE_MS
  }
  // From when it is sent: the lease may end with it, heard or not.
  if (isMine) mine.until = Number.NEGATIVE_INFINITY
  if (random.chance(0.02)) {
    await post(soak, 'release', path('release'), { claim_id: one.claim_id })
    return true
  }
  const outcome = random.chance(0.1) ? 'failed' : 'done'
  while (!isDone()) {
    const answer = await post(soak, 'finish', path('finish'), { claim_id: one.claim_id, outcome })
    if (answer?.status === 409) return true // another worker took it over
    if (answer?.status === 200) {
      const before = claims.outcomes.get(one.id)
      if (before)
        fault(soak, `document ${one.id} was finished by ${before}, and by ${one.claim_id} ${outcome}`)
      claims.outcomes.set(one.id, `${one.claim_id} ${outcome}`)
      return true
    }
    if (answer) fault(soak, `finish of ${one.id}: ${answer.status} ${answer.body}`)
    await pause(random.int(20, 300)) // the same again: it may have been written down
  }
  return true
}

function post(soak: Soak, kind: string, path: string, body: unknown) {
  const headers = { authorization: `Bearer ${TOKENS.work}` }
  return ask(soak, kind, path, { method: 'POST', headers, body: JSON.stringify(body) })
}
