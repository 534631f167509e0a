// The read model. A series is read whole, once, into a column that is kept until the series changes; every
// rates answer is a pure function over such columns (domain/rates.ts). A column is one read, so it never mixes
// two revisions; columns of two series may be a chunk apart while a sync writes.

import { dayOf } from '../dates.ts'
import { createShelf, type Shelf } from '../shelf.ts'
import { selectMeta } from './meta.ts'
import { type ProviderRow, selectProviders } from './providers.ts'
import { countRates, selectRatesOfSeries } from './rates.ts'
import { type SeriesRow, selectSeries } from './series.ts'
import type { Db } from './tables.ts'

const SHELF_BYTES = 24 * 1024 * 1024

/** One series: day numbers, ascending, and beside each its value in canonical decimal form. */
export type Column = { readonly days: Int32Array; readonly values: readonly string[] }

/** The stored data at one revision. */
export type RatePage = {
  readonly revision: number
  readonly epoch: string
  readonly providers: readonly ProviderRow[]
  readonly series: readonly SeriesRow[]
  /** The columns of the series given, in their order; a promise only where one has to be read first. */
  columns(series: readonly SeriesRow[]): Column[] | Promise<Column[]>
  countRates(): Promise<number>
  /** For what is made from this page and holds as long as it. */
  readonly shelf: Shelf
}

export type RateBook = {
  /** The page of the newest revision that the book has seen. */
  page(): RatePage
  /** Looks whether the data have changed and, if so, turns the page. */
  refresh(): Promise<void>
}

/** Opens the book at the database's present revision. */
export async function openRateBook(db: Db): Promise<RateBook> {
  let page = await readPage(db, new Map())
  return {
    page: () => page,
    async refresh() {
      const { revision, epoch } = await selectMeta(db)
      // After a restore the same revision may be another's: nothing of before is kept.
      if (epoch !== page.epoch) page = await readPage(db, new Map())
      else if (revision !== page.revision) page = await readPage(db, page.loaded)
    },
  }
}

type LoadedColumn = { revision: number; column: Column }
type OwnPage = RatePage & { loaded: Map<number, LoadedColumn> }

async function readPage(db: Db, before: Map<number, LoadedColumn>): Promise<OwnPage> {
  for (;;) {
    const { revision, epoch } = await selectMeta(db)
    const providers = await selectProviders(db)
    const series = await selectSeries(db)
    // Another process may have committed between the queries: then they do not belong together.
    if ((await selectMeta(db)).revision === revision)
      return makePage(db, { revision, epoch }, providers, series, before)
  }
}

function makePage(
  db: Db,
  meta: { revision: number; epoch: string },
  providers: ProviderRow[],
  series: SeriesRow[],
  before: Map<number, LoadedColumn>,
): OwnPage {
  const loaded = new Map<number, LoadedColumn>()
  for (const { id, revision } of series) {
    const known = before.get(id)
    if (known?.revision === revision) loaded.set(id, known)
  }
  let count: number | undefined
  return {
    ...meta,
    providers,
    series,
    loaded,
    shelf: createShelf(SHELF_BYTES),
    columns(wanted) {
      const columns: Column[] = []
      for (const { id } of wanted) {
        const known = loaded.get(id)
        if (!known) return readColumns(db, wanted, loaded)
        columns.push(known.column)
      }
      return columns
    },
    async countRates() {
      count ??= await countRates(db)
      return count
    },
  }
}

async function readColumns(
  db: Db,
  wanted: readonly SeriesRow[],
  loaded: Map<number, LoadedColumn>,
): Promise<Column[]> {
  const columns: Column[] = []
  for (const { id, revision } of wanted) {
    let known = loaded.get(id)
    if (!known) {
      known = { revision, column: columnOf(await selectRatesOfSeries(db, id)) }
      loaded.set(id, known)
    }
    columns.push(known.column)
  }
  return columns
}

function columnOf(rows: readonly { rate_date: string; value: string }[]): Column {
  const days = new Int32Array(rows.length)
  const values: string[] = new Array(rows.length)
  rows.forEach((row, at) => {
    days[at] = dayOf(row.rate_date)
    values[at] = row.value
  })
  return { days, values }
}
