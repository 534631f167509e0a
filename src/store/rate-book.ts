// The read model. A series is read whole, once, into a column that is kept until the series changes; every
// rates answer is a pure function over such columns (domain/rates.ts). A column is one read, so it never mixes
// two revisions; columns of two series may be a chunk apart while a sync writes.

import { setImmediate } from 'node:timers/promises'
import { dayOf, type IsoDate } from '../dates.ts'
import { createShelf, type Shelf, type Tally } from '../shelf.ts'
import { selectMeta } from './meta.ts'
import { type ProviderRow, selectProviders } from './providers.ts'
import { countRates, selectColumnOfSeries } from './rates.ts'
import { type SeriesRow, selectSeries } from './series.ts'
import type { Db } from './tables.ts'

const ANSWER_BYTES = 12 * 1024 * 1024
const PIECE_BYTES = 4 * 1024 * 1024
const LINE_FEED = 0x0a
const DATE_LENGTH = 'YYYY-MM-DD'.length
const NO_PAIRS: SeriesByPair = new Map()

/**
 * One series: day numbers, ascending, and beside each its value in canonical decimal form. All values stand in one
 * text, for a string of each took half of what a full server has in memory.
 */
export type Column = {
  readonly days: Int32Array
  readonly text: string
  /** Where in the text each value begins, and at last where the text ends. */
  readonly starts: Uint32Array
}

/** Series by base and quote currency, such as `USD/CRC`; within a pair by id. */
export type SeriesByPair = ReadonlyMap<string, readonly SeriesRow[]>

/** An answer as it was given: its validator, its bytes, and today's date if it depends on it. */
export type StoredAnswer = {
  readonly tag: string
  readonly today: IsoDate | undefined
  readonly body: string | Uint8Array
  /** The body with gzip, once somebody took it so. */
  readonly packed?: Uint8Array
}

/** The stored data at one revision. */
export type RatePage = {
  readonly revision: number
  readonly epoch: string
  readonly providers: readonly ProviderRow[]
  readonly series: readonly SeriesRow[]
  /** A provider's series by what they give, such as `USD/CRC`; empty for a provider that is not there. */
  pairsOf(provider: string): SeriesByPair
  /** The columns of the series given, in their order; a promise only where one has to be read first. */
  columns(series: readonly SeriesRow[]): Column[] | Promise<Column[]>
  countRates(): Promise<number>
  /** What was answered from this page, by URL, and pieces of answers. They hold as long as the page. */
  readonly answers: Shelf<StoredAnswer>
  readonly pieces: Shelf<Buffer>
}

/** What a cache holds, and how often what was asked for was in it since the book was opened. */
export type CacheState = Tally & { entries: number; bytes: number }

export type RateBook = {
  /** The page of the newest revision that the book has seen. */
  page(): RatePage
  /** Looks whether the data have changed and, if so, turns the page. */
  refresh(): Promise<void>
  caches(): { columns: CacheState; answers: CacheState; pieces: CacheState }
}

/** Opens the book at the database's present revision. */
export async function openRateBook(db: Db): Promise<RateBook> {
  const none = { hits: 0, misses: 0 }
  const tallies = { columns: { ...none }, answers: { ...none }, pieces: { ...none } }
  let page = await readPage(db, new Map(), tallies)
  return {
    page: () => page,
    async refresh() {
      const { revision, epoch } = await selectMeta(db)
      // After a restore the same revision may be another's: nothing of before is kept.
      if (epoch !== page.epoch) page = await readPage(db, new Map(), tallies)
      else if (revision !== page.revision) page = await readPage(db, page.loaded, tallies)
    },
    caches() {
      let bytes = 0
      for (const column of page.loaded.values()) bytes += column.bytes
      return {
        columns: { entries: page.loaded.size, bytes, ...tallies.columns },
        answers: { ...page.answers.held(), ...tallies.answers },
        pieces: { ...page.pieces.held(), ...tallies.pieces },
      }
    },
  }
}

type LoadedColumn = { revision: number; column: Column; bytes: number }
type Tallies = { columns: Tally; answers: Tally; pieces: Tally }
type OwnPage = RatePage & { loaded: Map<number, LoadedColumn> }

async function readPage(db: Db, before: Map<number, LoadedColumn>, tallies: Tallies): Promise<OwnPage> {
  for (;;) {
    const { revision, epoch } = await selectMeta(db)
    const providers = await selectProviders(db)
    const series = await selectSeries(db)
    // Another process may have committed between the queries: then they do not belong together.
    if ((await selectMeta(db)).revision === revision)
      return makePage(db, { revision, epoch }, providers, series, before, tallies)
  }
}

function makePage(
  db: Db,
  meta: { revision: number; epoch: string },
  providers: ProviderRow[],
  series: SeriesRow[],
  before: Map<number, LoadedColumn>,
  tallies: Tallies,
): OwnPage {
  const loaded = new Map<number, LoadedColumn>()
  for (const { id, revision } of series) {
    const known = before.get(id)
    if (known?.revision === revision) loaded.set(id, known)
  }
  const pairs = new Map<string, SeriesByPair>()
  for (const { id, code } of providers) {
    pairs.set(code, byPair(series.filter(({ provider_id }) => provider_id === id)))
  }
  const reading = new Map<number, Promise<LoadedColumn>>()
  let count: number | undefined
  return {
    ...meta,
    providers,
    series,
    pairsOf: (provider) => pairs.get(provider) ?? NO_PAIRS,
    loaded,
    answers: createShelf(ANSWER_BYTES, tallies.answers),
    pieces: createShelf(PIECE_BYTES, tallies.pieces),
    columns(wanted) {
      const columns: Column[] = []
      for (const { id } of wanted) {
        const known = loaded.get(id)
        if (!known) {
          tallies.columns.misses += 1
          return readColumns(db, wanted, loaded, reading)
        }
        columns.push(known.column)
      }
      tallies.columns.hits += 1
      return columns
    },
    async countRates() {
      count ??= await countRates(db)
      return count
    },
  }
}

/** The series by their pair. */
export function byPair(series: readonly SeriesRow[]): SeriesByPair {
  return Map.groupBy(series, ({ base_currency, quote_currency }) => `${base_currency}/${quote_currency}`)
}

async function readColumns(
  db: Db,
  wanted: readonly SeriesRow[],
  loaded: Map<number, LoadedColumn>,
  reading: Map<number, Promise<LoadedColumn>>,
): Promise<Column[]> {
  const columns: Column[] = []
  for (const series of wanted) {
    const { id } = series
    let known = loaded.get(id)
    if (!known) {
      // Who else wants it waits for the same reading: hundreds of clients with a copy each were 4 GB.
      const read = reading.get(id) ?? readColumn(db, series)
      reading.set(id, read)
      try {
        known = await read
        loaded.set(id, known)
      } finally {
        reading.delete(id)
      }
    }
    columns.push(known.column)
  }
  return columns
}

async function readColumn(db: Db, { id, revision }: SeriesRow): Promise<LoadedColumn> {
  await setImmediate() // between two series others have their turn
  const column = columnOf(await selectColumnOfSeries(db, id))
  return { revision, column, bytes: bytesOf(column) }
}

function columnOf({ count, lines }: { count: number; lines: Buffer }): Column {
  const days = new Int32Array(count)
  const values: string[] = new Array(count)
  let from = 0
  for (let at = 0; at < count; at++) {
    const feed = lines.indexOf(LINE_FEED, from)
    const end = feed < 0 ? lines.length : feed
    days[at] = dayOf(lines.toString('latin1', from, from + DATE_LENGTH))
    values[at] = lines.toString('latin1', from + DATE_LENGTH, end)
    from = end + 1
  }
  return makeColumn(days, values)
}

/** A column of as many days, ascending, as values. */
export function makeColumn(days: Int32Array, values: readonly string[]): Column {
  const starts = new Uint32Array(values.length + 1)
  for (const [at, value] of values.entries()) starts[at + 1] = (starts[at] ?? 0) + value.length
  return { days, text: values.join(''), starts }
}

/** The value at an index of the column. */
export function valueAt({ text, starts }: Column, at: number): string {
  return text.slice(starts[at], starts[at + 1])
}

function bytesOf({ days, text, starts }: Column): number {
  return days.byteLength + text.length + starts.byteLength
}
