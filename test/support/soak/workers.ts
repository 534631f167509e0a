// Workers of agent 1 that claim at one node and finish at another, die with their documents, and are late. Their
// acknowledged requests are checked against the rules of claims (decisions#claims).

import { setTimeout as pause } from 'node:timers/promises'
import { LONG } from '../../faults/scale.ts'
import { TOKENS } from '../directory.ts'
import { count, fault, loss, parseAnswer, request, rest, type Soak } from './world.ts'

const LEASE_SECONDS = 10
const LEASE_MS = LEASE_SECONDS * 1000

type Claimed = { id: number; claim_id: string; attempts: number }

/** A claim that was live at least until `until`. */
type Held = { attempts: number; until: number }

export type Claims = {
  held: Map<number, Held>
  /** Acknowledged outcomes by document: the claim and the outcome. */
  outcomes: Map<number, string>
  /** Acknowledged results by document, as JSON to the letter; each is of its acknowledged outcome. */
  results: Map<number, string>
}

export function createClaims(): Claims {
  return { held: new Map(), outcomes: new Map(), results: new Map() }
}

/** Works until `isDone`. A worker that dies drops its documents, and starts anew. */
export async function work(soak: Soak, claims: Claims, isDone: () => boolean): Promise<void> {
  const { random } = soak
  while (!isDone()) {
    const request = {
      agent_id: 1,
      limit: random.int(1, 20),
      lease_seconds: LEASE_SECONDS,
      wait: random.int(0, 2),
    }
    const start = performance.now()
    const answer = await post(soak, 'claim', '/api/v1/documents/claim', request)
    if (answer?.status !== 200) {
      if (answer) fault(soak, `claim: ${answer.status} ${answer.body}`)
      await pause(random.int(20, 300))
      continue
    }
    const { documents } = parseAnswer<{ documents: Claimed[] }>(answer)
    for (const one of documents) noteClaim(soak, claims, one, { sent: start, received: performance.now() })
    if (documents.length === 0) await rest(soak, 10, 200)
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
  if (before && before.attempts >= attempts) return // this answer arrived after that of a later claim
  if (before && received < before.until)
    loss(soak, 'claims', `document ${id} was claimed while another worker held it`)
  held.set(id, { attempts, until: sent + LEASE_MS })
}

/** Handles a document; false if the worker died. */
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
    const start = performance.now()
    const answer = await post(soak, 'extend', path('extend'), {
      ...{ claim_id: one.claim_id, lease_seconds: LEASE_SECONDS },
    })
    if (isMine && answer?.status === 200) mine.until = start + LEASE_MS
  }
  // Counts from the request: the lease may end with it, whether or not an answer arrives.
  if (isMine) mine.until = Number.NEGATIVE_INFINITY
  if (random.chance(0.02)) {
    await post(soak, 'release', path('release'), { claim_id: one.claim_id })
    return true
  }
  const outcome = random.chance(0.1) ? 'failed' : 'done'
  const result = random.chance(0.5) ? `{"total": ${random.int(1, 999)}.10, "of":${one.id}}` : undefined
  const member = result === undefined ? '' : `,"result":${result}`
  const finish = `{"claim_id":"${one.claim_id}","outcome":"${outcome}"${member}}`
  while (!isDone()) {
    const answer = await post(soak, 'finish', path('finish'), finish)
    if (answer?.status === 409) return true // another worker took the document
    if (answer?.status === 200) {
      const before = claims.outcomes.get(one.id)
      if (before)
        loss(
          soak,
          'outcomes',
          `document ${one.id} was finished by ${before}, and by ${one.claim_id} ${outcome}`,
        )
      noteOutcome(claims, one, { outcome, result })
      return true
    }
    if (answer?.status === 404) {
      loss(soak, 'claimed documents', `finish of ${one.id}: 404`)
      return true
    }
    if (answer) fault(soak, `finish of ${one.id}: ${answer.status} ${answer.body}`)
    await pause(random.int(20, 300)) // then repeats the request: it may have been stored
  }
  return true
}

/** Records an acknowledged outcome of a claim. */
export function noteOutcome(
  { outcomes, results }: Claims,
  { id, claim_id }: Pick<Claimed, 'id' | 'claim_id'>,
  { outcome, result }: { outcome: string; result: string | undefined },
): void {
  outcomes.set(id, `${claim_id} ${outcome}`)
  if (result !== undefined) results.set(id, result)
}

/** `body`: JSON text, or a value. */
function post(soak: Soak, kind: string, path: string, body: unknown) {
  const headers = { authorization: `Bearer ${TOKENS.work}` }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return request(soak, kind, path, { method: 'POST', headers, body: text })
}
