// Shared state of all clients of the soak: requests to nodes, the end of work, and faults. A client records a fault and
// continues; the test fails at the end.

import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../rates/random-bank.ts'

export type Answer = { status: number; headers: Headers; body: Buffer }

export type Soak = {
  random: Random
  /** Addresses of the running nodes. */
  urls(): readonly string[]
  /** Clients begin no new work. */
  isOver: boolean
  /** Clients have ended their work. */
  isSettled: boolean
  /** The test has ended: clients leave their work. */
  isAborted: boolean
  /** The database may lose commits that it acknowledged, as an asynchronous standby does. */
  mayLose: boolean
  /** A 503 is a fault: neither a frozen database nor a slow disk explains one. */
  isHealthy: boolean
  /** Factor of the pauses of clients between their requests. */
  pace: number
  /** Name of the document of each id that an answer had. */
  names: Map<number, string>
  /** Faults as text: the first of each kind, so that a frequent one hides no other. */
  faults: string[]
  counts: Map<string, number>
}

const KEPT_OF_A_KIND = 3
const KIND_LENGTH = 60
const LONGEST_REQUEST_MS = 90_000 // a node may be frozen for most of it

export function createSoak(random: Random, urls: () => readonly string[]): Soak {
  return {
    ...{
      random,
      urls,
      isOver: false,
      isSettled: false,
      isAborted: false,
      mayLose: false,
      pace: 1,
      isHealthy: false,
    },
    ...{ names: new Map(), faults: [], counts: new Map() },
  }
}

/** Waits between two requests of a client: `low` to `high` milliseconds at the pace of 1. */
export async function rest({ random, pace }: Soak, low: number, high: number): Promise<void> {
  await pause(random.int(low, high) * pace)
}

export function count({ counts }: Soak, what: string, by = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + by)
}

export function fault(soak: Soak, words: string): void {
  const kind = `fault: ${words.replace(/[\d-]+/g, 'N').slice(0, KIND_LENGTH)}`
  count(soak, kind)
  if ((soak.counts.get(kind) ?? 0) <= KEPT_OF_A_KIND) soak.faults.push(`${new Date().toISOString()} ${words}`)
}

/** Counts a loss where the database may lose commits; elsewhere a loss is a fault. */
export function loss(soak: Soak, kind: string, words: string): void {
  if (soak.mayLose) count(soak, `lost: ${kind}`)
  else fault(soak, words)
}

/** Compares the document of an id with that of earlier answers. */
export function checkName(soak: Soak, id: number, name: string): void {
  const before = soak.names.get(id)
  if (before !== undefined && before !== name) fault(soak, `id ${id} was given twice: ${before}, ${name}`)
  soak.names.set(id, name)
}

/**
 * Sends a request to any node. Undefined: no whole answer, or a 503, so its effect is unknown. A 500 is a fault.
 */
export async function request(
  soak: Soak,
  kind: string,
  path: string,
  init: RequestInit = {},
): Promise<Answer | undefined> {
  const urls = soak.urls()
  const url = urls[soak.random.int(0, urls.length - 1)]
  if (url === undefined) return undefined
  try {
    const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(LONGEST_REQUEST_MS) })
    const body = Buffer.from(await response.arrayBuffer())
    count(soak, `${kind} ${response.status}`)
    if (response.status === 503 && soak.isHealthy) fault(soak, `${kind} ${path}: 503 ${body}`)
    if (response.status === 503) return undefined
    if (response.status >= 500) fault(soak, `${kind} ${path}: ${response.status} ${body.subarray(0, 300)}`)
    return { status: response.status, headers: response.headers, body }
  } catch {
    count(soak, `${kind} cut off`)
    return undefined
  }
}

export function parseAnswer<T>({ body }: Answer): T {
  return JSON.parse(body.toString()) as T
}
