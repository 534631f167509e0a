// Shared by companies, owners and agents: creating a row, and listing those of one company or all.

import {
  type Agent,
  type Company,
  type CreateResult,
  checkRow,
  type Owner,
  requireCompany,
} from '../../../domain/directory/directory.ts'
import type { ReadDb, WriteDb } from '../../../store/tables.ts'
import { printResult, type Terminal } from '../../command.ts'
import type { WithDatabase } from '../../storage/data-dir.ts'
import { requireFlagRow } from '../positionals.ts'

/** Creates a row from flags of the same names. The same call may be repeated. */
export function createRow<Fields extends object>(
  input: {
    terminal: Terminal
    options: { json: boolean; id: number | undefined }
    withDatabase: WithDatabase
  },
  kind: { noun: string; schema: typeof Agent | typeof Company | typeof Owner; mustExist: boolean },
  fields: Fields,
  create: (
    db: WriteDb,
    row: Fields & { id: number | undefined },
    createdAt: string,
  ) => Promise<CreateResult<{ id: number; name: string }>>,
): Promise<void> {
  const { terminal, options, withDatabase } = input
  requireFlagRow(checkRow(kind.schema, { ...fields, id: options.id ?? 1 }))
  return withDatabase({ mustExist: kind.mustExist }, async (db, { clock }) => {
    const { row, made } = await create(db, { ...fields, id: options.id }, clock().toISOString())
    const outcome = made ? 'is made' : 'is there already, and nothing was changed'
    printResult(terminal, options, row, [`${kind.noun} ${row.id} (${row.name}) ${outcome}`])
  })
}

/** Selects the rows of an existing company, or of all. @throws AppError `not-found` */
export async function companyRows<Row>(
  db: ReadDb,
  company: number | undefined,
  select: (db: ReadDb, company?: number) => Promise<Row[]>,
): Promise<Row[]> {
  if (company !== undefined) await requireCompany(db, company)
  return select(db, company)
}
