// The directory: companies, their owners and agents. What each may look like, how one is made, and which facts
// may not change any more once documents hang on them. Rows are checked alike from a flag, a file and the API.

import * as v from 'valibot'
import { AppError } from '../../errors.ts'
import { quotaText } from '../../sizes.ts'
import { type AgentRow, findAgent, insertAgent } from '../../store/directory/agents.ts'
import {
  type CompanyRow,
  findCompany,
  findCompanyOfCode,
  insertCompany,
  selectCompanies,
} from '../../store/directory/companies.ts'
import { findOwner, insertOwner, type OwnerRow } from '../../store/directory/owners.ts'
import { atomically } from '../../store/engine.ts'
import type { Db } from '../../store/tables.ts'

const MAX_TEXT = 255
const MAX_DESCRIPTION = 65_536
// What Excel makes of a boolean in Spanish is among them.
const BOOLEANS: Record<string, boolean> = {
  ...{ true: true, yes: true, on: true, 1: true, verdadero: true },
  ...{ false: false, no: false, off: false, 0: false, falso: false },
}

const digitsAsNumber = (given: unknown) =>
  typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : given
const wordAsBoolean = (given: unknown) => BOOLEANS[String(given).toLowerCase()] ?? given

const Id = v.pipe(v.unknown(), v.transform(digitsAsNumber), v.number(), v.safeInteger(), v.minValue(1))
const Text = v.pipe(
  v.string(),
  v.check((text) => text !== '' && text === text.trim() && text.isWellFormed() && !/\p{Cc}/u.test(text)),
  v.check((text) => [...text].length <= MAX_TEXT),
)
const Html = v.pipe(
  v.string(),
  v.maxLength(MAX_DESCRIPTION),
  v.check((text) => text.isWellFormed() && !/[^\P{Cc}\t\r\n]/u.test(text)),
)
const Active = v.pipe(v.unknown(), v.transform(wordAsBoolean), v.boolean())

// A field that may be left out is one that an import then leaves as it is.
export const Company = v.strictObject({ id: Id, name: Text, code: Text })
export const Owner = v.strictObject({ id: Id, name: Text, company_id: v.optional(v.nullable(Id)) })
export const Agent = v.strictObject({
  id: Id,
  company_id: Id,
  name: Text,
  description: v.optional(Html),
  active: v.optional(Active),
})
export type Company = v.InferOutput<typeof Company>
export type Owner = v.InferOutput<typeof Owner>
export type Agent = v.InferOutput<typeof Agent>

const AN_ID = `must be an integer from 1 to ${Number.MAX_SAFE_INTEGER}`
const A_TEXT = `must be 1 to ${MAX_TEXT} characters, no control characters, no spaces at either end`
const RIGHT: Record<string, string> = {
  id: AN_ID,
  company_id: AN_ID,
  name: A_TEXT,
  code: A_TEXT,
  description: `must be text or HTML of at most ${MAX_DESCRIPTION} characters, no control characters`,
  active: 'must be true or false',
}

export type Fault = { field: string; message: string }

/** The row as it is used, or what is wrong with it: one fault for each field. */
export function checkRow<S extends typeof Company | typeof Owner | typeof Agent>(
  schema: S,
  row: unknown,
): { row: v.InferOutput<S>; faults: [] } | { row: undefined; faults: Fault[] } {
  const result = v.safeParse(schema, row)
  if (result.success) return { row: result.output, faults: [] }
  const faults = new Map<string, Fault>()
  for (const issue of result.issues) {
    const field = v.getDotPath(issue)
    if (field === null) return { row: undefined, faults: [{ field: '', message: 'must be an object' }] }
    const known = field in schema.entries
    const fields = Object.keys(schema.entries).join(', ')
    const message = known ? faultOf(field, issue.path?.at(-1)?.value) : `is not one of the fields ${fields}`
    faults.set(field, { field, message })
  }
  return { row: undefined, faults: [...faults.values()] }
}

/** A row and whether it was made now; false: it was there already with the same facts. */
export type Made<T> = { row: T; made: boolean }

/** @throws AppError `conflict` if the id or the code is that of another one */
export function createCompany(
  db: Db,
  company: Omit<Company, 'id'> & { id: number | undefined; quota?: number | null | undefined },
  createdAt: string,
): Promise<Made<CompanyRow>> {
  return atomically(db, async (trx) => {
    const { id, name, code, quota } = company
    const there = id === undefined ? undefined : await findCompany(trx, id)
    if (there) {
      const same = sameOrClash('company', there, { name, code })
      if (quota === undefined || quota === there.quota) return same
      const clash = `quota ${quotaText(there.quota)}, not ${quotaText(quota)}`
      throw new AppError('conflict', `company ${id} is there already with ${clash}: nothing was changed`, {
        advice: { about: 'company-change' },
      })
    }
    const same = await findCompanyOfCode(trx, code)
    const twin =
      same ?? (await selectCompanies(trx)).find((one) => withoutCase(one.code) === withoutCase(code))
    if (twin) {
      const holder = `code ${JSON.stringify(twin.code)} is taken by company ${twin.id} (${twin.name})`
      const why = same ? '' : `, and ${JSON.stringify(code)} differs from it only by case`
      throw new AppError('conflict', holder + why)
    }
    return made('company', await insertCompany(trx, { ...company, createdAt }))
  })
}

/** @throws AppError `not-found` without such a company, `conflict` if the id is that of another owner */
export function createOwner(
  db: Db,
  owner: { id: number | undefined; name: string; company_id: number | null },
  createdAt: string,
): Promise<Made<OwnerRow>> {
  return atomically(db, async (trx) => {
    const { id, name, company_id } = owner
    if (company_id !== null) await needCompany(trx, company_id)
    const there = id === undefined ? undefined : await findOwner(trx, id)
    if (there) return sameOrClash('owner', there, { name, company_id })
    return made('owner', await insertOwner(trx, { ...owner, createdAt }))
  })
}

/** @throws AppError `not-found` without such a company, `conflict` if the id is that of another agent */
export function createAgent(
  db: Db,
  agent: Omit<AgentRow, 'id' | 'created_at'> & { id: number | undefined },
  createdAt: string,
): Promise<Made<AgentRow>> {
  return atomically(db, async (trx) => {
    const { id, ...facts } = agent
    await needCompany(trx, facts.company_id)
    const there = id === undefined ? undefined : await findAgent(trx, id)
    if (there) return sameOrClash('agent', there, facts)
    return made('agent', await insertAgent(trx, { ...agent, createdAt }))
  })
}

/** @throws AppError `not-found` */
export async function needCompany(db: Db, id: number): Promise<CompanyRow> {
  const company = await findCompany(db, id)
  if (!company)
    throw new AppError('not-found', `there is no company ${id}`, { advice: { about: 'companies' } })
  return company
}

/**
 * What codes have in common that differ only by case. A code is looked up letter by letter, so a client that mixes up two such
 * companies is told nothing: there must be no new ones.
 */
export function withoutCase(code: string): string {
  return code.toUpperCase().toLowerCase()
}

function faultOf(field: string, given: unknown): string {
  const right = RIGHT[field] ?? 'is wrong'
  if (given === undefined) return `is missing: it ${right}`
  return `${right}, not ${shown(given)}`
}

function shown(given: unknown): string {
  if (given === null) return 'none'
  const text = JSON.stringify(given)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function sameOrClash<T extends { id: number }>(kind: string, there: T, facts: Partial<T>): Made<T> {
  const other = (Object.keys(facts) as (keyof T & string)[]).filter((field) => there[field] !== facts[field])
  if (other.length === 0) return { row: there, made: false }
  const clash = other.map((field) => `${field} ${shown(there[field])}, not ${shown(facts[field])}`)
  throw new AppError(
    'conflict',
    `${kind} ${there.id} is there already with ${clash.join('; ')}: nothing was changed`,
    { advice: { about: 'directory-change' } },
  )
}

/** SQLite gives the id after the greatest one ever used, which an ERP may have chosen. */
function made<T extends { id: number }>(kind: string, row: T): Made<T> {
  if (Number.isSafeInteger(row.id)) return { row, made: true }
  throw new AppError('failed', `the next id would be beyond 2^53-1`, { advice: { about: 'own-id', kind } })
}
