// A whole directory out of a file. An import writes by id what the file says, leaves alone what it does not mention,
// and is all or nothing: with one mistake, nothing is written and every mistake is told.

import * as v from 'valibot'
import { insertAgent, updateAgent } from '../../store/directory/agents.ts'
import { insertCompany, updateCompany } from '../../store/directory/companies.ts'
import { lockForUpdate } from '../../store/directory/lock.ts'
import { insertOwner, updateOwner } from '../../store/directory/owners.ts'
import { hasDocumentsOutside } from '../../store/documents.ts'
import { atomically } from '../../store/engine.ts'
import { hasHookOf } from '../../store/hooks/hooks.ts'
import type { Db } from '../../store/tables.ts'
import { hasTokenOfAgent } from '../../store/tokens.ts'
import { Agent, Company, checkRow, Owner, withoutCase } from './directory.ts'
import { type Directory, exportDirectory } from './export.ts'
import type { DirectoryFile, FileRow, Kind, Mistake } from './file.ts'

export type Count = { created: number; updated: number; unchanged: number }
export type Imported = { companies: Count; owners: Count; agents: Count }

type Placed<T> = { place: string; row: T }
type Draft = { companies: Placed<Company>[]; owners: Placed<Owner>[]; agents: Placed<Agent>[] }
type Holder = { code: string; holder: string }
type Stored<T> = ReadonlyMap<number, T>

/** Writes the rows of a file, or returns what is wrong with it and writes nothing. */
export function importDirectory(
  db: Db,
  file: DirectoryFile,
  createdAt: string,
): Promise<{ imported: Imported } | { mistakes: Mistake[] }> {
  const inFile = [...file.mistakes]
  const draft = draftOf(file.rows, inFile)
  return atomically(db, async (trx) => {
    // Uploads end before, or wait and look again. An upload takes the rows in this order, too.
    for (const table of ['agents', 'owners', 'companies'] as const) {
      await lockForUpdate(trx, table, idsOf(draft[table]))
    }
    const { companies, owners, agents } = await exportDirectory(trx)
    const known = new Set([...companies.map(({ id }) => id), ...companyIdsIn(file.rows)])
    const mistakes = [...inFile, ...codeMistakes(draft.companies, companies)]
    for (const { place, row } of [...draft.owners, ...draft.agents]) {
      if (typeof row.company_id === 'number' && !known.has(row.company_id)) {
        const message = `must be the id of a company: there is no ${row.company_id}, neither stored nor in this file`
        mistakes.push({ place, field: 'company_id', message })
      }
    }
    mistakes.push(...(await moveMistakes(trx, draft, byId(owners), byId(agents))))
    if (mistakes.length > 0) return { mistakes: mistakes.sort(byPlace) }
    return {
      imported: {
        companies: await writeCompanies(trx, draft.companies, byId(companies), createdAt),
        owners: await writeOwners(trx, draft.owners, byId(owners), createdAt),
        agents: await writeAgents(trx, draft.agents, byId(agents), createdAt),
      },
    }
  })
}

function draftOf(rows: readonly FileRow[], mistakes: Mistake[]): Draft {
  const draft: Draft = { companies: [], owners: [], agents: [] }
  const seen = new Map<string, string>()
  const taken = <T extends { id: number }>(
    list: Placed<T>[],
    { kind, place }: FileRow,
    checked: { row: T; faults: [] } | { row: undefined; faults: { field: string; message: string }[] },
  ) => {
    for (const fault of checked.faults) mistakes.push({ place, ...fault })
    if (!checked.row) return
    const key = `${kind} ${checked.row.id}`
    const twin = seen.get(key)
    if (twin !== undefined) {
      mistakes.push({ place, field: 'id', message: `must be named once: ${key} is at ${twin} already` })
    } else {
      seen.set(key, place)
      list.push({ place, row: checked.row })
    }
  }
  const take: Record<Kind, (row: FileRow) => void> = {
    company: (one) => taken(draft.companies, one, checkRow(Company, one.row)),
    owner: (one) => taken(draft.owners, one, checkRow(Owner, one.row)),
    agent: (one) => taken(draft.agents, one, checkRow(Agent, one.row)),
  }
  for (const row of rows) take[row.kind](row)
  return draft
}

/** Also of rows with other mistakes, so that each mistake is told once and not once for each row that refers to it. */
function companyIdsIn(rows: readonly FileRow[]): number[] {
  const Named = v.object({ id: Company.entries.id })
  const ids = rows.filter(({ kind }) => kind === 'company').map(({ row }) => v.safeParse(Named, row))
  return ids.flatMap((result) => (result.success ? [result.output.id] : []))
}

function codeMistakes(rows: readonly Placed<Company>[], stored: Directory['companies']): Mistake[] {
  const written = new Set(rows.map(({ row }) => row.id))
  const before = byId(stored)
  const isChanged = ({ id, code }: Company) => before.get(id)?.code !== code
  const holders = new Map<string, string>()
  const alike = new Map<string, Holder[]>()
  const hold = (code: string, holder: string) => {
    holders.set(code, holder)
    alike.getOrInsertComputed(withoutCase(code), () => []).push({ code, holder })
  }
  for (const { id, name, code } of stored) if (!written.has(id)) hold(code, `company ${id} (${name})`)
  const mistakes: Mistake[] = []
  // Those that stay as they are come first: two of them may differ by case, as long as no other is added.
  for (const { place, row } of [...rows].sort(
    (a, b) => Number(isChanged(a.row)) - Number(isChanged(b.row)),
  )) {
    const { code } = row
    const holder = holders.get(code)
    const twin = isChanged(row) ? alike.get(withoutCase(code))?.[0] : undefined
    const say = (message: string) => mistakes.push({ place, field: 'code', message })
    if (holder !== undefined) say(`must be of one company only: ${JSON.stringify(code)} is that of ${holder}`)
    else if (twin) {
      const other = `${JSON.stringify(twin.code)}, that of ${twin.holder}`
      say(`must differ by more than case: ${JSON.stringify(code)} is like ${other}`)
    } else hold(code, place)
  }
  return mistakes
}

/** Documents stay with the company that they were uploaded for, and so do their agents and owners. */
async function moveMistakes(
  db: Db,
  draft: Draft,
  owners: Stored<Directory['owners'][number]>,
  agents: Stored<Directory['agents'][number]>,
): Promise<Mistake[]> {
  const mistakes: Mistake[] = []
  const stays = (place: string, from: number | null, why: string) => {
    mistakes.push({ place, field: 'company_id', message: `must stay ${from ?? 'empty'}: ${why}` })
  }
  for (const { place, row } of draft.owners) {
    const from = owners.get(row.id)?.company_id
    if (from === undefined || typeof row.company_id !== 'number' || row.company_id === from) continue
    const bound = await hasDocumentsOutside(db, { owner_id: row.id }, row.company_id)
    if (bound) stays(place, from, `the owner has documents of another company than ${row.company_id}`)
  }
  for (const { place, row } of draft.agents) {
    const from = agents.get(row.id)?.company_id
    if (from === undefined || row.company_id === from) continue
    if (await hasDocumentsOutside(db, { agent_id: row.id }, row.company_id)) {
      stays(place, from, `the agent has documents of another company than ${row.company_id}`)
    } else if (await hasTokenOfAgent(db, row.id)) {
      stays(place, from, 'there is a token of this agent, which is for that company too')
    } else if (await hasHookOf(db, row.id, from)) {
      stays(place, from, 'there is a hook for this agent in that company alone')
    }
  }
  return mistakes
}

async function writeCompanies(
  db: Db,
  rows: readonly Placed<Company>[],
  stored: Stored<Directory['companies'][number]>,
  createdAt: string,
): Promise<Count> {
  // Companies may swap their codes, which are unique at each moment: a changing one is first made one that
  // cannot be (a control character is refused everywhere).
  for (const { row } of rows) {
    const there = stored.get(row.id)
    if (there && there.code !== row.code) await updateCompany(db, { ...there, code: `\0${row.id}` })
  }
  return write(rows, stored, {
    complete: (row) => row,
    insert: (row) => insertCompany(db, { ...row, createdAt }),
    update: (row) => updateCompany(db, row),
  })
}

function writeOwners(
  db: Db,
  rows: readonly Placed<Owner>[],
  stored: Stored<Directory['owners'][number]>,
  createdAt: string,
): Promise<Count> {
  return write(rows, stored, {
    complete: ({ id, name, company_id }, there) => ({
      id,
      name,
      company_id: company_id === undefined ? (there?.company_id ?? null) : company_id,
    }),
    insert: (row) => insertOwner(db, { ...row, createdAt }),
    update: (row) => updateOwner(db, row),
  })
}

function writeAgents(
  db: Db,
  rows: readonly Placed<Agent>[],
  stored: Stored<Directory['agents'][number]>,
  createdAt: string,
): Promise<Count> {
  return write(rows, stored, {
    complete: ({ id, company_id, name, description, active }, there) => ({
      id,
      company_id,
      name,
      description: description ?? there?.description ?? '',
      active: active ?? there?.active ?? true,
    }),
    insert: (row) => insertAgent(db, { ...row, createdAt }),
    update: (row) => updateAgent(db, row),
  })
}

async function write<T extends { id: number }, W extends T | Partial<T>>(
  rows: readonly Placed<W & { id: number }>[],
  stored: Stored<T>,
  how: {
    /** The row with what the file leaves out. */
    complete: (row: W & { id: number }, there: T | undefined) => T
    insert: (row: T) => Promise<unknown>
    update: (row: T) => Promise<void>
  },
): Promise<Count> {
  const count: Count = { created: 0, updated: 0, unchanged: 0 }
  for (const { row } of rows) {
    const there = stored.get(row.id)
    const next = how.complete(row, there)
    if (!there) {
      await how.insert(next)
      count.created++
    } else if ((Object.keys(next) as (keyof T)[]).some((field) => next[field] !== there[field])) {
      await how.update(next)
      count.updated++
    } else count.unchanged++
  }
  return count
}

function idsOf(rows: readonly Placed<{ id: number }>[]): number[] {
  return rows.map(({ row }) => row.id)
}

function byId<T extends { id: number }>(rows: readonly T[]): Map<number, T> {
  return new Map(rows.map((row) => [row.id, row]))
}

/** `line 9` before `line 10`, lists one after the other. */
function byPlace(a: Mistake, b: Mistake): number {
  return a.place.localeCompare(b.place, 'en', { numeric: true })
}
