// Inserts rows of another database with their ids.

import { AppError, errorCode } from '../../../runtime/errors.ts'
import type { WriteDb } from '../../tables.ts'
import { rawQuery, type TableName } from '../raw-query.ts'

const NOT_A_TEXT = /^PG_(22P05|22021)$/

/** Inserts rows in one statement. @throws AppError `failed` for a text with the character NUL */
export async function copyRows(
  db: WriteDb,
  table: string,
  columns: readonly string[],
  rows: readonly Record<string, unknown>[],
): Promise<void> {
  const names = columns.join(', ')
  try {
    await rawQuery(
      db,
      `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1::json)`,
      [JSON.stringify(rows.map(withBytesAsText))],
      table as TableName,
    )
  } catch (error) {
    if (!NOT_A_TEXT.test(errorCode(error))) throw error
    const words = `a row of ${table} has a text with the character NUL, which PostgreSQL cannot hold`
    throw new AppError('failed', `${words}: correct it in the data directory`, { cause: error })
  }
}

function withBytesAsText(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row)
  if (!entries.some(([, value]) => Buffer.isBuffer(value))) return row
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value]),
  )
}
