// Taking all rows from one database to another. What is there already is the beginning of each table, in the order of its
// key, because that is how it got there: so a move that was cut off goes on where it was. Then both sides are read and
// compared.

import { createHash, type Hash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { countRows, MOVED_TABLES, type MovedTable, selectAllRows } from '../../store/move/all-rows.ts'
import { insertRows } from '../../store/postgres/maintenance/rows.ts'
import type { Db } from '../../store/tables.ts'

const ROWS_AT_ONCE = 1000
const READ_AT_ONCE = 5000

export type Progress = (what: string, done: number, of: number) => void

export type TablesRequest = { from: Db; to: Db; lock: Lock; signal: AbortSignal; progress: Progress }

/** How many rows each table has. @throws AppError `failed` when the two sides differ in the end */
export async function moveTables(request: TablesRequest): Promise<Record<MovedTable, number>> {
  const counts: Partial<Record<MovedTable, number>> = {}
  for (const table of MOVED_TABLES) counts[table] = await moveTable(table, request)
  return counts as Record<MovedTable, number>
}

async function moveTable(
  table: MovedTable,
  { from, to, lock, signal, progress }: TablesRequest,
): Promise<number> {
  const all = await countRows(from, table)
  const there = await countRows(to, table)
  const sent = createHash('sha256')
  let columns: string[] | undefined
  let seen = 0
  for await (const rows of selectAllRows(from, table, { atOnce: ROWS_AT_ONCE })) {
    signal.throwIfAborted()
    columns ??= Object.keys(rows[0] ?? {})
    addTo(sent, rows, columns)
    const missing = rows.slice(Math.max(0, there - seen))
    seen += rows.length
    if (missing.length === 0) continue
    const names = columns
    await atomically(to, (trx) => insertRows(trx, table, names, missing), lock)
    progress(table, seen, all)
  }
  const found = createHash('sha256')
  let read = 0
  for await (const rows of selectAllRows(to, table, { atOnce: READ_AT_ONCE, ...(columns && { columns }) })) {
    signal.throwIfAborted()
    addTo(found, rows, columns ?? [])
    read += rows.length
  }
  if (read === seen && found.digest('hex') === sent.digest('hex')) return read
  throw new AppError(
    'failed',
    `the ${seen} rows of ${table} are not the ${read} in the database, as when the data directory was served after a move was begun: begin anew with an empty database`,
  )
}

function addTo(hash: Hash, rows: readonly Record<string, unknown>[], columns: readonly string[]): void {
  for (const row of rows) hash.update(JSON.stringify(columns.map((name) => textOf(row[name]))))
}

function textOf(value: unknown): unknown {
  return Buffer.isBuffer(value) ? value.toString('hex') : value
}
