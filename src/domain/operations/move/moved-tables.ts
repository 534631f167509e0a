// Copies all rows to another database, and then compares both sides. Tables are copied in the order of their keys. So
// the rows in the target are the beginning of each table, and an interrupted move resumes after them.

import { createHash, type Hash } from 'node:crypto'
import { AppError } from '../../../runtime/errors.ts'
import { MOVED_TABLES, type MovedTable, selectAllRows } from '../../../store/cluster/all-rows.ts'
import { markUncounted } from '../../../store/documents/counts.ts'
import { atomically, type Lock } from '../../../store/engine.ts'
import { copyRows } from '../../../store/postgres/maintenance/copied-rows.ts'
import { countRows } from '../../../store/rows.ts'
import type { ReadDb, WriteDb } from '../../../store/tables.ts'

const ROWS_AT_ONCE = 1000
const READ_AT_ONCE = 5000

export type Progress = (what: string, done: number, total: number) => void

export type TablesRequest = { from: ReadDb; to: WriteDb; lock: Lock; signal: AbortSignal; progress: Progress }

/**
 * Copies all tables, and has the first node count the documents. Returns the number of rows of each.
 * @throws AppError `failed` when the two sides differ at the end
 */
export async function moveTables(request: TablesRequest): Promise<Record<MovedTable, number>> {
  const counts: Partial<Record<MovedTable, number>> = {}
  for (const table of MOVED_TABLES) counts[table] = await moveTable(table, request)
  await atomically(request.to, markUncounted, request.lock)
  return counts as Record<MovedTable, number>
}

async function moveTable(
  table: MovedTable,
  { from, to, lock, signal, progress }: TablesRequest,
): Promise<number> {
  const total = await countRows(from, table)
  const existing = await countRows(to, table)
  const sourceHash = createHash('sha256')
  let columns: string[] | undefined
  let sourceCount = 0
  for await (const rows of selectAllRows(from, table, { batchSize: ROWS_AT_ONCE })) {
    signal.throwIfAborted()
    columns ??= Object.keys(rows[0] ?? {})
    hashRows(sourceHash, rows, columns)
    const missing = rows.slice(Math.max(0, existing - sourceCount))
    sourceCount += rows.length
    if (missing.length === 0) continue
    const names = columns
    await atomically(to, (trx) => copyRows(trx, table, names, missing), lock)
    progress(table, sourceCount, total)
  }
  const targetHash = createHash('sha256')
  let targetCount = 0
  for await (const rows of selectAllRows(to, table, {
    batchSize: READ_AT_ONCE,
    ...(columns && { columns }),
  })) {
    signal.throwIfAborted()
    hashRows(targetHash, rows, columns ?? [])
    targetCount += rows.length
  }
  if (targetCount === sourceCount && targetHash.digest('hex') === sourceHash.digest('hex')) return targetCount
  throw new AppError(
    'failed',
    `the ${sourceCount} rows of ${table} are not the ${targetCount} in the database, as when the data directory was served after a move was begun: begin anew with an empty database`,
  )
}

function hashRows(hash: Hash, rows: readonly Record<string, unknown>[], columns: readonly string[]): void {
  for (const row of rows) hash.update(JSON.stringify(columns.map((name) => hashValue(row[name]))))
}

function hashValue(value: unknown): unknown {
  return Buffer.isBuffer(value) ? value.toString('hex') : value
}
