// Everything that is known of the rates as one stream of text: each value with its digits, rounding and instant, and which
// days were validly answered. It is of one state of the data, whatever is written while a client reads it.

import { createHash } from 'node:crypto'
import { isoOf } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import { type StoredAtRun, selectStoredAtRuns } from '../../store/rates/stored-at.ts'
import type { Db } from '../../store/tables.ts'
import { type Column, makeColumn, roundedAt, valueAt } from './column.ts'
import { type ExportFormat, exportedSeries, type LineWriter, WRITERS } from './export-format.ts'
import type { RateCache, RateSnapshot } from './rate-cache.ts'

/** What an export is made of; it holds no more than the columns and some instants. */
export type Exportable = {
  snapshot: RateSnapshot
  columns: readonly Column[]
  storedAt: readonly (readonly StoredAtRun[])[]
}

const TRIES = 5
const LINES_AT_ONCE = 2000 // 150 kB, in a millisecond or two
const EMPTY = makeColumn(new Int32Array(), [])
/** Of the columns that were exported before. */
const RUNS = new WeakMap<Column, readonly StoredAtRun[]>()

/**
 * Reads what an export needs, of one state of the data.
 * @throws AppError `busy` when they go on changing
 */
export async function exportable(db: Db, cache: RateCache): Promise<Exportable> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { snapshot, columns } = await cache.read(async (snapshot) => ({
      snapshot,
      columns: await snapshot.columns(snapshot.series),
    }))
    const storedAt = await runsOf(db, snapshot, columns)
    if (storedAt) return { snapshot, columns, storedAt }
    await cache.refresh()
  }
  throw new AppError('busy', 'The rates are being changed: try again in a moment')
}

/** What reads ahead what an export needs, one at a time: the database may be away when one is asked for. */
export function keptExportable(db: Db, cache: RateCache): () => void {
  let reading: Promise<unknown> | undefined
  let isOutdated = false
  const read = () => {
    isOutdated = reading !== undefined
    reading ??= exportable(db, cache)
      .catch(() => {}) // the export itself says what is wrong
      .then(() => {
        reading = undefined
        if (isOutdated) read()
      })
  }
  return read
}

/** The text of an export in parts. */
export function* exportedText(
  { snapshot, columns, storedAt }: Exportable,
  format: ExportFormat,
): Generator<Buffer, void> {
  const writer = WRITERS[format]
  const hash = createHash('sha256')
  const codes = new Map(snapshot.providers.map(({ id, code }) => [id, code]))
  let count = 0
  let text = writer.header
  const part = () => {
    const bytes = Buffer.from(text)
    hash.update(bytes)
    text = ''
    return bytes
  }
  for (const [at, series] of snapshot.series.entries()) {
    const of = exportedSeries(series, codes.get(series.provider_id) ?? '')
    const covered = snapshot.coveredOf(series.id)
    for (let pair = 0; pair < covered.length; pair += 2) {
      text += writer.covered(of, { from: isoOf(covered[pair] ?? 0), to: isoOf(covered[pair + 1] ?? 0) })
    }
    const column = columns[at] ?? EMPTY
    const prefix = writer.prefix(of)
    const instantOf = instants(storedAt[at] ?? [])
    for (let first = 0; first < column.days.length; first += LINES_AT_ONCE) {
      const end = Math.min(first + LINES_AT_ONCE, column.days.length)
      text += linesOf(column, first, end, prefix, writer, instantOf)
      yield part()
    }
    count += column.days.length
  }
  if (text !== '') yield part()
  yield Buffer.from(writer.end(count, hash.digest('hex')))
}

function linesOf(
  column: Column,
  first: number,
  end: number,
  prefix: string,
  writer: LineWriter,
  instantOf: (day: string) => string,
): string {
  let text = ''
  for (let at = first; at < end; at += 1) {
    const day = isoOf(column.days[at] ?? 0)
    text += prefix + writer.rest(day, valueAt(column, at), roundedAt(column, at), instantOf(day))
  }
  return text
}

/** The instant of each day, for days that ascend. */
function instants(runs: readonly StoredAtRun[]): (day: string) => string {
  let next = 0
  let text = ''
  return (day) => {
    for (let run = runs[next]; run && run.from <= day; run = runs[next]) {
      text = new Date(run.storedAt).toISOString()
      next += 1
    }
    return text
  }
}

/** The instants of every series; undefined when one has changed since the snapshot. */
async function runsOf(
  db: Db,
  { series }: RateSnapshot,
  columns: readonly Column[],
): Promise<(readonly StoredAtRun[])[] | undefined> {
  const all: (readonly StoredAtRun[])[] = []
  for (const [at, one] of series.entries()) {
    const column = columns[at] ?? EMPTY
    const runs = RUNS.get(column) ?? (await selectStoredAtRuns(db, one))
    if (!runs) return undefined
    RUNS.set(column, runs)
    all.push(runs)
  }
  return all
}
