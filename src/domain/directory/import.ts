// Imports a directory from a file. Writes rows by id and leaves rows alone that the file does not mention. A single
// error rejects the whole file, and all errors are reported.

import * as v from 'valibot'
import { hasTokenOfAgent } from '../../store/access/tokens.ts'
import { insertAgent, updateAgent } from '../../store/directory/agents.ts'
import { insertCompany, updateCompany } from '../../store/directory/companies.ts'
import { insertOwner, updateOwner } from '../../store/directory/owners.ts'
import { lockForUpdate } from '../../store/directory/parties.ts'
import { hasForeignDocuments } from '../../store/documents/documents.ts'
import { atomically } from '../../store/engine.ts'
import { hasAgentHook } from '../../store/hooks/hooks.ts'
import { hasForeignMailbox } from '../../store/mail/mailboxes.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import { Agent, Company, checkRow, Owner, withoutCase } from './directory.ts'
import { type DirectoryExport, exportDirectory } from './export.ts'
import type { DirectoryFile, DirectoryKind, FileError, FileRow } from './file.ts'

export type Count = { created: number; updated: number; unchanged: number }
export type ImportCounts = { companies: Count; owners: Count; agents: Count }

type Located<T> = { place: string; row: T }
type DirectoryDraft = { companies: Located<Company>[]; owners: Located<Owner>[]; agents: Located<Agent>[] }
type CodeHolder = { code: string; holder: string }
type Stored<T> = ReadonlyMap<number, T>

/** Writes the rows of a file; if any is invalid, returns the errors and writes nothing. */
export function importDirectory(
  db: WriteDb,
  file: DirectoryFile,
  createdAt: string,
): Promise<{ imported: ImportCounts } | { errors: FileError[] }> {
  const parseErrors = [...file.errors]
  const draft = parseDraft(file.rows, parseErrors)
  return atomically(db, async (trx) => {
    // Uploads finish before, or wait and check again. Both lock rows in this order.
    for (const table of ['agents', 'owners', 'companies'] as const) {
      await lockForUpdate(trx, table, rowIds(draft[table]))
    }
    const { companies, owners, agents } = await exportDirectory(trx)
    const companyIds = new Set([...companies.map(({ id }) => id), ...fileCompanyIds(file.rows)])
    const errors = [...parseErrors, ...codeErrors(draft.companies, companies)]
    for (const { place, row } of [...draft.owners, ...draft.agents]) {
      if (typeof row.company_id === 'number' && !companyIds.has(row.company_id)) {
        const message = `must be the id of a company: there is no ${row.company_id}, neither stored nor in this file`
        errors.push({ place, field: 'company_id', message })
      }
    }
    errors.push(...(await moveErrors(trx, draft, byId(owners), byId(agents))))
    if (errors.length > 0) return { errors: errors.sort(byLine) }
    await clearChangedCodes(trx, draft.companies, byId(companies))
    return {
      imported: {
        companies: await write(draft.companies, byId(companies), {
          defaults: { tax_ids: null },
          insert: (row) => insertCompany(trx, { ...row, createdAt }),
          update: (row) => updateCompany(trx, row),
        }),
        owners: await write(draft.owners, byId(owners), {
          defaults: { company_id: null },
          insert: (row) => insertOwner(trx, { ...row, createdAt }),
          update: (row) => updateOwner(trx, row),
        }),
        agents: await write(draft.agents, byId(agents), {
          defaults: { description: '', active: true },
          insert: (row) => insertAgent(trx, { ...row, createdAt }),
          update: (row) => updateAgent(trx, row),
        }),
      },
    }
  })
}

function parseDraft(rows: readonly FileRow[], errors: FileError[]): DirectoryDraft {
  const draft: DirectoryDraft = { companies: [], owners: [], agents: [] }
  const firstPlaces = new Map<string, string>()
  const addRow = <T extends { id: number }>(
    list: Located<T>[],
    { kind, place }: FileRow,
    checked: { row: T; faults: [] } | { row: undefined; faults: { field: string; message: string }[] },
  ) => {
    for (const fault of checked.faults) errors.push({ place, ...fault })
    if (!checked.row) return
    const key = `${kind} ${checked.row.id}`
    const twin = firstPlaces.get(key)
    if (twin !== undefined) {
      errors.push({ place, field: 'id', message: `must be named once: ${key} is at ${twin} already` })
    } else {
      firstPlaces.set(key, place)
      list.push({ place, row: checked.row })
    }
  }
  const readers: Record<DirectoryKind, (row: FileRow) => void> = {
    company: (one) => addRow(draft.companies, one, checkRow(Company, one.row)),
    owner: (one) => addRow(draft.owners, one, checkRow(Owner, one.row)),
    agent: (one) => addRow(draft.agents, one, checkRow(Agent, one.row)),
  }
  for (const row of rows) readers[row.kind](row)
  return draft
}

/** Includes companies of invalid rows, so that an error is not repeated for each row that refers to them. */
function fileCompanyIds(rows: readonly FileRow[]): number[] {
  const Named = v.object({ id: Company.entries.id })
  const ids = rows.filter(({ kind }) => kind === 'company').map(({ row }) => v.safeParse(Named, row))
  return ids.flatMap((result) => (result.success ? [result.output.id] : []))
}

function codeErrors(rows: readonly Located<Company>[], stored: DirectoryExport['companies']): FileError[] {
  const writtenIds = new Set(rows.map(({ row }) => row.id))
  const storedById = byId(stored)
  const isChanged = ({ id, code }: Company) => storedById.get(id)?.code !== code
  const holders = new Map<string, string>()
  const alike = new Map<string, CodeHolder[]>()
  const addCode = (code: string, holder: string) => {
    holders.set(code, holder)
    alike.getOrInsertComputed(withoutCase(code), () => []).push({ code, holder })
  }
  for (const { id, name, code } of stored) if (!writtenIds.has(id)) addCode(code, `company ${id} (${name})`)
  const errors: FileError[] = []
  // Unchanged rows are first: existing codes may differ only by case, but no new ones.
  for (const { place, row } of [...rows].sort(
    (a, b) => Number(isChanged(a.row)) - Number(isChanged(b.row)),
  )) {
    const { code } = row
    const holder = holders.get(code)
    const twin = isChanged(row) ? alike.get(withoutCase(code))?.[0] : undefined
    const addError = (message: string) => errors.push({ place, field: 'code', message })
    if (holder !== undefined)
      addError(`must be of one company only: ${JSON.stringify(code)} is that of ${holder}`)
    else if (twin) {
      const other = `${JSON.stringify(twin.code)}, that of ${twin.holder}`
      addError(`must differ by more than case: ${JSON.stringify(code)} is like ${other}`)
    } else addCode(code, place)
  }
  return errors
}

/** Errors of owners and agents that change their company although documents, tokens, hooks or mailboxes tie them to it. */
async function moveErrors(
  db: ReadDb,
  draft: DirectoryDraft,
  owners: Stored<DirectoryExport['owners'][number]>,
  agents: Stored<DirectoryExport['agents'][number]>,
): Promise<FileError[]> {
  const errors: FileError[] = []
  const addMoveError = (place: string, from: number | null, why: string) => {
    errors.push({ place, field: 'company_id', message: `must stay ${from ?? 'empty'}: ${why}` })
  }
  for (const { place, row } of draft.owners) {
    const from = owners.get(row.id)?.company_id
    if (from === undefined || typeof row.company_id !== 'number' || row.company_id === from) continue
    const bound = await hasForeignDocuments(db, { owner_id: row.id }, row.company_id)
    if (bound) addMoveError(place, from, `the owner has documents of another company than ${row.company_id}`)
    else if (await hasForeignMailbox(db, { owner_id: row.id }, row.company_id))
      addMoveError(place, from, 'there is a mailbox for this owner')
  }
  for (const { place, row } of draft.agents) {
    const from = agents.get(row.id)?.company_id
    if (from === undefined || row.company_id === from) continue
    if (await hasForeignDocuments(db, { agent_id: row.id }, row.company_id)) {
      addMoveError(place, from, `the agent has documents of another company than ${row.company_id}`)
    } else if (await hasTokenOfAgent(db, row.id)) {
      addMoveError(place, from, 'there is a token of this agent, which is for that company too')
    } else if (await hasAgentHook(db, row.id, from)) {
      addMoveError(place, from, 'there is a hook for this agent in that company alone')
    } else if (await hasForeignMailbox(db, { agent_id: row.id }, row.company_id)) {
      addMoveError(place, from, 'there is a mailbox for this agent')
    }
  }
  return errors
}

/**
 * Replaces changing codes by impossible ones: control characters are rejected everywhere, and PostgreSQL stores all
 * but NUL. Companies may swap their codes, which are unique at all times.
 */
async function clearChangedCodes(
  db: WriteDb,
  rows: readonly Located<Company>[],
  stored: Stored<DirectoryExport['companies'][number]>,
): Promise<void> {
  for (const { row } of rows) {
    const storedRow = stored.get(row.id)
    if (storedRow && storedRow.code !== row.code)
      await updateCompany(db, { ...storedRow, code: `\u0001${row.id}` })
  }
}

async function write<T extends { id: number }>(
  rows: readonly Located<Partial<T> & { id: number }>[],
  stored: Stored<T>,
  operations: {
    /** Values of a new row for fields that the file omits. */
    defaults?: Partial<T>
    insert: (row: T) => Promise<unknown>
    update: (row: T) => Promise<void>
  },
): Promise<Count> {
  const count: Count = { created: 0, updated: 0, unchanged: 0 }
  for (const { row } of rows) {
    const storedRow = stored.get(row.id)
    const next = { ...operations.defaults, ...storedRow, ...row } as T
    if (!storedRow) {
      await operations.insert(next)
      count.created++
    } else if ((Object.keys(next) as (keyof T)[]).some((field) => next[field] !== storedRow[field])) {
      await operations.update(next)
      count.updated++
    } else count.unchanged++
  }
  return count
}

function rowIds(rows: readonly Located<{ id: number }>[]): number[] {
  return rows.map(({ row }) => row.id)
}

function byId<T extends { id: number }>(rows: readonly T[]): Map<number, T> {
  return new Map(rows.map((row) => [row.id, row]))
}

/** Sorts errors by list, and `line 9` before `line 10`. */
function byLine(a: FileError, b: FileError): number {
  return a.place.localeCompare(b.place, 'en', { numeric: true })
}
