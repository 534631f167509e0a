// The bank of the soak changes one value every few seconds. Commands sync it, and clients read it from any node. The
// digits of a value encode its version, so that a served value proves its source and its age.

import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Program } from '../program.ts'
import { count, fault, loss, request, rest, type Soak } from './world.ts'

/** Milliseconds for which nodes serve rates without their database. */
export const STALE_FOR_MS = 10_000
/** Longest age in milliseconds of a finished query of the database. */
const LOOK_MS = 2000
const DONE_IN_PART = 3

export type Bookkeeping = {
  day: string
  /** Version of the bank's current value. */
  version: number
  /** Versions that are stored for certain, and the time of that proof; versions rise. */
  stored: { version: number; at: number }[]
  /** SHA-256 of the body, by address and tag. */
  bodies: Map<string, string>
}

export function createBookkeeping(day: string): Bookkeeping {
  return { day, version: 1, stored: [], bodies: new Map() }
}

/** Value of the bank for the dollar on a day; all others are invented. */
export function bankValue(books: Bookkeeping, code: string, day: string): string | undefined {
  if (day !== books.day || (code !== '317' && code !== '318')) return undefined
  return `${code === '317' ? 500 : 510}.${String(books.version).padStart(5, '0')}1` // the 1 prevents a trailing zero
}

/** Changes the value of the bank and syncs it in a loop; kills some of the commands. */
export async function syncRates(
  soak: Soak,
  books: Bookkeeping,
  sync: (...words: string[]) => Program,
): Promise<void> {
  const { random } = soak
  while (!soak.isOver) {
    books.version += 1
    const { version } = books
    const command = sync('--from', books.day, '--to', books.day)
    if (random.chance(0.15)) {
      await pause(random.int(0, 1500))
      command.child.kill('SIGKILL')
    }
    const end = await command.waitForExit()
    if (end === 0) books.stored.push({ version, at: performance.now() })
    count(soak, `sync ended with ${end}`)
    const { err } = command.printed
    if (end === 1 && !/already running|does not answer|another node|interrupted|Try again/.test(err)) {
      count(soak, `sync: ${err.trim().split('\n').at(-1)?.replace(/\d+/g, 'N')}`)
    }
    if (end !== 0 && end !== 1 && end !== DONE_IN_PART && end !== 'SIGKILL')
      fault(soak, `sync ended with ${end}: ${err}`)
    await rest(soak, 500, 3000)
  }
}

/** Reads until the soak is over, most often with the tag of an earlier answer. */
export async function readRates(soak: Soak, books: Bookkeeping, key: string): Promise<void> {
  const { random } = soak
  const { day } = books
  const paths = [
    '/api/v1/rates/latest',
    `/api/v1/rates?on=${day}`,
    `/api/v1/series/1/history?from=${day}&to=${day}`,
    `/api/v1/series/2/history?from=${day}&to=${day}`,
    `/api/v1/convert?amount=100&from=USD&to=CRC&on=${day}`,
  ]
  const tags = new Map<string, string>()
  while (!soak.isOver) {
    await rest(soak, 0, 40)
    const path = paths[random.int(0, paths.length - 1)] as string
    const tag = random.chance(0.6) ? tags.get(path) : undefined
    const headers = { 'x-api-key': key, ...(tag && { 'if-none-match': tag }) }
    const start = performance.now()
    const answer = await request(soak, 'rates', path, { headers })
    if (!answer) continue
    const etag = answer.headers.get('etag') ?? ''
    if (answer.status === 304) {
      if (etag !== tag) fault(soak, `${path}: 304 with ${etag} for ${tag}`)
      if (path.includes('/series/'))
        checkValue(soak, books, { path, sent: start, body: tags.get(`body of ${path}`) ?? '' })
      continue
    }
    if (answer.status !== 200) {
      fault(soak, `${path}: ${answer.status} ${answer.body}`)
      continue
    }
    const body = answer.body.toString()
    const hash = createHash('sha256').update(answer.body).digest('hex')
    const before = books.bodies.get(`${path} ${etag}`)
    if (etag === '' || (before !== undefined && before !== hash))
      fault(soak, `${path}: two bodies of ${etag}: ${body}`)
    books.bodies.set(`${path} ${etag}`, hash)
    tags.set(path, etag).set(`body of ${path}`, body)
    if (path.includes('/series/')) checkValue(soak, books, { path, sent: start, body })
  }
}

function checkValue(
  soak: Soak,
  books: Bookkeeping,
  { path, sent, body }: { path: string; sent: number; body: string },
): void {
  const digits = /"5[01]0\.(\d{5})1"/.exec(body)?.[1]
  if (digits === undefined) {
    fault(soak, `${path} has no value of the bank: ${body}`)
    return
  }
  const version = Number(digits)
  if (version > books.version) fault(soak, `${path} has a value that the bank never said: ${body}`)
  const confirmed = books.stored.findLast(({ at }) => at + STALE_FOR_MS + LOOK_MS < sent)
  if (confirmed && version < confirmed.version) {
    loss(
      soak,
      'values',
      `${path} has version ${version}, and ${confirmed.version} was stored ${Math.round(sent - confirmed.at)} ms before`,
    )
  }
  count(soak, 'values compared')
}
