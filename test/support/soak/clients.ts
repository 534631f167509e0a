// Starts all clients of a soak, and has what they know for the judge (check.ts).

import { type Bank, startBank } from '../../../src/demo/bank.ts'
import { addDays, currentDay } from '../../../src/values/dates.ts'
import type { Program } from '../program.ts'
import { type Uploads, uploadDocuments } from './documents.ts'
import { type Bookkeeping, bankValue, readRates, syncRates } from './rates.ts'
import { type Reader, readDocuments } from './readers.ts'
import { type Claims, createClaims, work } from './workers.ts'
import type { Soak } from './world.ts'

export type Clients = {
  uploads: Uploads
  claims: Claims
  readers: readonly Reader[]
  /** End when the soak is over: uploads, rates, syncs. */
  sending: Promise<void>[]
  /** End when the soak is settled and they have read all. */
  reading: Promise<void>[]
  /** End after `drain`. */
  working: Promise<void>[]
  drain(): void
  isDrained(): boolean
}

export type ClientOptions = {
  books: Bookkeeping
  /** Key of the rates API. */
  key: string
  sync: (...words: string[]) => Program
  counts: { uploaders: number; workers: number; ratesReaders: number }
}

const FILTERS = ['', '&company_id=1', '&agent_id=1']

/** The last finished day, which the bank of the soak changes. */
export function soakDay(): string {
  return addDays(
    currentDay(() => new Date()),
    -1,
  )
}

export function startSoakBank(books: Bookkeeping): Promise<Bank> {
  return startBank({
    token: 'test-token',
    today: () => currentDay(() => new Date()),
    value: (code, day) => bankValue(books, code, day),
  })
}

export function startClients(soak: Soak, { books, key, sync, counts }: ClientOptions): Clients {
  const uploads: Uploads = new Map()
  const claims = createClaims()
  const readers = FILTERS.map((filter): Reader => ({ filter, seen: new Set(), isAtEnd: false }))
  let isDrained = false
  const many = (count: number, client: (at: number) => Promise<void>) =>
    Array.from({ length: count }, (_, at) => client(at))
  return {
    ...{ uploads, claims, readers },
    working: many(counts.workers, () => work(soak, claims, () => isDrained)),
    reading: readers.map((reader) => readDocuments(soak, reader)),
    sending: [
      ...many(counts.uploaders, (at) => uploadDocuments(soak, uploads, at)),
      ...many(counts.ratesReaders, () => readRates(soak, books, key)),
      syncRates(soak, books, sync),
    ],
    drain() {
      isDrained = true
    },
    isDrained: () => isDrained,
  }
}
