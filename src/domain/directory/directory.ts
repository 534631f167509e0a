// The directory: companies, owners and agents. Has their schemas, creates them, and protects facts that documents
// depend on. Options, files and requests are validated alike.

import * as v from 'valibot'
import { AppError } from '../../runtime/errors.ts'
import { type AgentRow, findAgent, insertAgent } from '../../store/directory/agents.ts'
import {
  type CompanyRow,
  findCompany,
  findCompanyByCode,
  insertCompany,
  selectCompanies,
} from '../../store/directory/companies.ts'
import { findOwner, insertOwner, type OwnerRow } from '../../store/directory/owners.ts'
import { lockForUpdate } from '../../store/directory/parties.ts'
import { atomically } from '../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import { quotaText } from '../../values/sizes.ts'
import { parseTaxIds, taxIdsFault } from '../../values/tax-ids.ts'

const MAX_TEXT = 255
const MAX_DESCRIPTION = 65_536
// includes booleans of Excel in Spanish
const BOOLEANS: Record<string, boolean> = {
  ...{ true: true, yes: true, on: true, 1: true, verdadero: true },
  ...{ false: false, no: false, off: false, 0: false, falso: false },
}

const digitsAsNumber = (value: unknown) =>
  typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
const wordAsBoolean = (value: unknown) => BOOLEANS[String(value).toLowerCase()] ?? value

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
const TaxIds = v.pipe(
  v.unknown(),
  v.transform((value) => (Number.isSafeInteger(value) ? String(value) : value)),
  v.string(),
  v.check((text) => taxIdsFault(text) === undefined),
  v.transform(parseTaxIds),
)
const Active = v.pipe(v.unknown(), v.transform(wordAsBoolean), v.boolean())

// An import leaves omitted optional fields unchanged.
export const Company = v.strictObject({
  id: Id,
  name: Text,
  code: Text,
  tax_ids: v.optional(v.nullable(TaxIds)),
})
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
const RULES: Record<string, string> = {
  id: AN_ID,
  company_id: AN_ID,
  name: A_TEXT,
  code: A_TEXT,
  description: `must be text or HTML of at most ${MAX_DESCRIPTION} characters, no control characters`,
  active: 'must be true or false',
  tax_ids: taxIdsFault('') ?? '',
}

export type FieldFault = { field: string; message: string }

/** Validates a row: returns it parsed, or one fault for each invalid field. */
export function checkRow<S extends typeof Company | typeof Owner | typeof Agent>(
  schema: S,
  row: unknown,
): { row: v.InferOutput<S>; faults: [] } | { row: undefined; faults: FieldFault[] } {
  const result = v.safeParse(schema, row)
  if (result.success) return { row: result.output, faults: [] }
  const faults = new Map<string, FieldFault>()
  for (const issue of result.issues) {
    const field = v.getDotPath(issue)
    if (field === null) return { row: undefined, faults: [{ field: '', message: 'must be an object' }] }
    const isKnown = field in schema.entries
    const fields = Object.keys(schema.entries).join(', ')
    const message = isKnown
      ? fieldFault(field, issue.path?.at(-1)?.value)
      : `is not one of the fields ${fields}`
    faults.set(field, { field, message })
  }
  return { row: undefined, faults: [...faults.values()] }
}

/** A row; `made` is false if it existed before with the same facts. */
export type CreateResult<T> = { row: T; made: boolean }

/** Finds an agent. @throws AppError `not-found` */
export async function requireAgent(db: ReadDb, id: number): Promise<AgentRow> {
  const agent = await findAgent(db, id)
  if (agent) return agent
  throw new AppError('not-found', `there is no agent ${id}`, { advice: { about: 'agents' } })
}

/** Creates a company. @throws AppError `conflict` if another company has the id or the code */
export function createCompany(
  db: WriteDb,
  company: Omit<Company, 'id'> & { id: number | undefined; quota?: number | null | undefined },
  createdAt: string,
): Promise<CreateResult<CompanyRow>> {
  return atomically(db, async (trx) => {
    const { id, name, code, quota, tax_ids: taxIds } = company
    const existing = id === undefined ? undefined : await findCompany(trx, id)
    if (existing) {
      const same = checkSameFacts('company', existing, { name, code })
      const clashes = [
        ...(quota === undefined || quota === existing.quota
          ? []
          : [`quota ${quotaText(existing.quota)}, not ${quotaText(quota)}`]),
        ...(taxIds === undefined || taxIds === existing.tax_ids
          ? []
          : [`tax ids ${existing.tax_ids ?? 'none'}, not ${taxIds ?? 'none'}`]),
      ]
      if (clashes.length === 0) return same
      const clash = clashes.join(', and ')
      throw new AppError('conflict', `company ${id} is there already with ${clash}: nothing was changed`, {
        advice: { about: 'company-change' },
      })
    }
    const same = await findCompanyByCode(trx, code)
    const twin =
      same ?? (await selectCompanies(trx)).find((one) => withoutCase(one.code) === withoutCase(code))
    if (twin) {
      const holder = `code ${JSON.stringify(twin.code)} is taken by company ${twin.id} (${twin.name})`
      const why = same ? '' : `, and ${JSON.stringify(code)} differs from it only by case`
      throw new AppError('conflict', holder + why)
    }
    return checkNewId('company', await insertCompany(trx, { ...company, createdAt }))
  })
}

/** Creates an owner. @throws AppError `not-found` without such a company, `conflict` if another owner has the id */
export function createOwner(
  db: WriteDb,
  owner: { id: number | undefined; name: string; company_id: number | null },
  createdAt: string,
): Promise<CreateResult<OwnerRow>> {
  return atomically(db, async (trx) => {
    const { id, name, company_id } = owner
    if (company_id !== null) await requireCompany(trx, company_id)
    const existing = id === undefined ? undefined : await findOwner(trx, id)
    if (existing) return checkSameFacts('owner', existing, { name, company_id })
    return checkNewId('owner', await insertOwner(trx, { ...owner, createdAt }))
  })
}

/** Creates an agent. @throws AppError `not-found` without such a company, `conflict` if another agent has the id */
export function createAgent(
  db: WriteDb,
  agent: Omit<AgentRow, 'id' | 'created_at'> & { id: number | undefined },
  createdAt: string,
): Promise<CreateResult<AgentRow>> {
  return atomically(db, async (trx) => {
    const { id, ...facts } = agent
    await requireCompany(trx, facts.company_id)
    const existing = id === undefined ? undefined : await findAgent(trx, id)
    if (existing) return checkSameFacts('agent', existing, facts)
    return checkNewId('agent', await insertAgent(trx, { ...agent, createdAt }))
  })
}

/** Finds a company. @throws AppError `not-found` */
export async function requireCompany(db: ReadDb, id: number): Promise<CompanyRow> {
  const company = await findCompany(db, id)
  if (!company)
    throw new AppError('not-found', `there is no company ${id}`, { advice: { about: 'companies' } })
  return company
}

/**
 * Locks an agent or owner, which cannot move to another company before the commit. `companyId` null: any company.
 * @throws AppError `not-found` without it, `conflict` for one of another company
 */
export async function requireParty(
  trx: WriteDb,
  kind: 'agent' | 'owner',
  id: number,
  companyId: number | null,
): Promise<void> {
  const table = `${kind}s` as const
  await lockForUpdate(trx, table, [id])
  const row = await (kind === 'agent' ? findAgent(trx, id) : findOwner(trx, id))
  if (!row) throw new AppError('not-found', `there is no ${kind} ${id}`, { advice: { about: table } })
  if (companyId !== null && row.company_id !== null && row.company_id !== companyId)
    throw new AppError('conflict', `${kind} ${id} is of company ${row.company_id}, not ${companyId}`)
}

/**
 * Normal form of a code, equal for codes that differ only by case. Codes are compared exactly, so a client that
 * confuses two such companies gets no error. New ones are therefore rejected.
 */
export function withoutCase(code: string): string {
  return code.toUpperCase().toLowerCase()
}

function fieldFault(field: string, value: unknown): string {
  const rule = RULES[field] ?? 'is wrong'
  if (value === undefined) return `is missing: it ${rule}`
  return `${rule}, not ${quote(value)}`
}

function quote(value: unknown): string {
  if (value === null) return 'none'
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function checkSameFacts<T extends { id: number }>(
  kind: string,
  existing: T,
  facts: Partial<T>,
): CreateResult<T> {
  const other = (Object.keys(facts) as (keyof T & string)[]).filter(
    (field) => existing[field] !== facts[field],
  )
  if (other.length === 0) return { row: existing, made: false }
  const clash = other.map((field) => `${field} ${quote(existing[field])}, not ${quote(facts[field])}`)
  throw new AppError(
    'conflict',
    `${kind} ${existing.id} is there already with ${clash.join('; ')}: nothing was changed`,
    { advice: { about: 'directory-change' } },
  )
}

/** Checks a new id. SQLite uses the id after the greatest ever used, which an ERP may have chosen. */
function checkNewId<T extends { id: number }>(kind: string, row: T): CreateResult<T> {
  if (Number.isSafeInteger(row.id)) return { row, made: true }
  throw new AppError('failed', `the next id would be beyond 2^53-1`, { advice: { about: 'own-id', kind } })
}
