// Invoices among documents as clients see them, with their copies and answers within the access of the client.

import { selectTaxIds } from '../../store/directory/companies.ts'
import type { DocumentRow } from '../../store/documents/documents.ts'
import {
  type CopyGroup,
  copyKey,
  selectAlteredKeys,
  selectCopyGroups,
  selectSha256s,
} from '../../store/documents/invoice-copies.ts'
import { type StoredInvoice, selectInvoices } from '../../store/documents/invoices.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { Access } from '../documents/access.ts'
import { type AnswerView, findHacienda } from './hacienda-answers.ts'
import { checkRates, type InvoiceRates, type RateCheck } from './rate-check.ts'

export type PartyView = { type: string | null; id: string | null; name: string | null }

export type ReferenceView = { type: string | null; number: string | null; code: string | null }

/** Side of the company, by its tax ids. */
export type Direction = 'issued' | 'received' | 'other'

/** Facts of a blob. */
export type FactsView = {
  kind: string
  version: string | null
  from: 'content'
  clave: string
  consecutive: string | null
  issued_at: string | null
  date: string | null
  issuer: PartyView | null
  receiver: PartyView | null
  currency: string | null
  exchange_rate: string | null
  total: string | null
  tax: string | null
  references?: ReferenceView[]
  outcome?: string
  direction?: Direction
  hacienda?: AnswerView
  hacienda_others?: AnswerView[]
  duplicate_of?: number
  same_content?: boolean
  rate_check?: RateCheck
  warnings?: string[]
}

/** `{kind, fault}`: unreadable. `{clave, from}`: a file that belongs to an invoice. */
export type InvoiceView =
  | FactsView
  | { kind: string; fault: string }
  | { clave: string; from: 'name' | 'mail' }

/** The database, and the rates that those of invoices are compared with. */
export type InvoiceDeps = { db: ReadDb; rates: InvoiceRates }

/** Adds what is known of the invoices among documents, which the client may see. */
export async function addInvoices<T extends Pick<DocumentRow, 'id' | 'sha256'>>(
  { db, rates }: InvoiceDeps,
  { agentId }: Pick<Access, 'agentId'>,
  documents: readonly T[],
): Promise<(T & { invoice?: InvoiceView })[]> {
  const invoices = await selectInvoices(
    db,
    documents.map(({ id }) => id),
  )
  if (invoices.size === 0) return [...documents]
  const rows = [...invoices.values()]
  const agent = agentId ?? undefined
  const blobs = rows.filter(({ source, clave, fault }) => source === 'content' && clave && fault === null)
  const groups = await selectCopyGroups(db, blobs, agent)
  const copies = mergeGroups(groups)
  const firsts = new Map(blobs.map((one) => [one.document_id, findFirst(one, copies)]))
  const sha256s = await selectSha256s(db, definedValues(firsts))
  const copied = blobs.filter((one) => {
    const copy = copies.get(copyKey(one))
    return copy && copy.first_id < copy.last_id
  })
  const altered = await selectAlteredKeys(db, copied, agent)
  const { answers, mismatches } = await findHacienda(db, blobs, groups, agent)
  const checks = await checkRates(rates, rows)
  const taxIds = await selectTaxIds(db, [...new Set(rows.map(({ company_id }) => company_id))])
  return documents.map((document) => {
    const invoice = invoices.get(document.id)
    if (!invoice) return document
    const { document_id } = invoice
    const first = firsts.get(document_id)
    const check = checks.get(document_id)
    const warnings = [
      ...(invoice.warnings?.split(' ') ?? []),
      ...(mismatches.has(document_id) ? ['hacienda_mismatch'] : []),
      ...(altered.has(copyKey(invoice)) ? ['clave_twice'] : []),
    ]
    const view = describe(invoice)
    if (!('from' in view) || view.from !== 'content') return { ...document, invoice: view }
    return {
      ...document,
      invoice: {
        ...view,
        ...findDirection(invoice, taxIds.get(invoice.company_id)),
        ...answers.get(document_id),
        ...(first !== undefined && {
          duplicate_of: first,
          same_content: sha256s.get(first) === document.sha256,
        }),
        ...(check && { rate_check: check }),
        ...(warnings.length > 0 && { warnings }),
      },
    }
  })
}

/** Returns what is known of the invoice of a document; undefined: it is none. */
export async function findInvoice(
  deps: InvoiceDeps,
  access: Pick<Access, 'agentId'>,
  document: Pick<DocumentRow, 'id' | 'sha256'>,
): Promise<InvoiceView | undefined> {
  const [described] = await addInvoices(deps, access, [document])
  return described?.invoice
}

/** Main facts of an invoice for the lists of an agent, without names. */
export type InvoiceSummary =
  | (Pick<FactsView, 'kind' | 'clave' | 'date' | 'currency' | 'total'> & { issuer_id: string | null })
  | Exclude<InvoiceView, FactsView>

/** Adds the main facts of the invoices among documents. */
export async function addInvoiceSummaries<T extends Pick<DocumentRow, 'id'>>(
  db: ReadDb,
  documents: readonly T[],
): Promise<(T & { invoice?: InvoiceSummary })[]> {
  const invoices = await selectInvoices(
    db,
    documents.map(({ id }) => id),
  )
  return documents.map((document) => {
    const invoice = invoices.get(document.id)
    return invoice ? { ...document, invoice: summarize(describe(invoice)) } : document
  })
}

function summarize(view: InvoiceView): InvoiceSummary {
  if (!('issuer' in view)) return view
  const { kind, clave, issuer, date, currency, total } = view
  return { kind, clave, issuer_id: issuer?.id ?? null, date, currency, total }
}

function describe(invoice: StoredInvoice): InvoiceView {
  const { source, clave, kind, fault } = invoice
  if (source !== 'content') return { clave: clave ?? '', from: source }
  if (fault !== null || clave === null) return { kind: kind ?? '', fault: fault ?? '' }
  return {
    kind: kind ?? '',
    version: invoice.version,
    from: source,
    clave,
    consecutive: invoice.consecutive,
    issued_at: invoice.issued_at,
    date: invoice.date,
    issuer: party(invoice.issuer_type, invoice.issuer_id, invoice.issuer_name),
    receiver: party(invoice.receiver_type, invoice.receiver_id, invoice.receiver_name),
    currency: invoice.currency,
    exchange_rate: invoice.exchange_rate,
    total: invoice.total,
    tax: invoice.tax,
    ...(invoice.refs !== null && { references: JSON.parse(invoice.refs) as ReferenceView[] }),
    ...(invoice.outcome !== null && { outcome: invoice.outcome }),
  }
}

function party(type: string | null, id: string | null, name: string | null): PartyView | null {
  return type === null && id === null && name === null ? null : { type, id, name }
}

/** The side of a company with these tax ids; without them none. */
function findDirection(
  { issuer_id, receiver_id }: StoredInvoice,
  taxIds: ReadonlySet<string> | undefined,
): { direction?: Direction } {
  if (!taxIds) return {}
  if (issuer_id !== null && taxIds.has(issuer_id)) return { direction: 'issued' }
  return { direction: receiver_id !== null && taxIds.has(receiver_id) ? 'received' : 'other' }
}

/** The document that an invoice is a copy of: the first of the same kind and clave. */
function findFirst(
  invoice: StoredInvoice,
  copies: ReadonlyMap<string, Pick<CopyGroup, 'first_id'>>,
): number | undefined {
  const first = copies.get(copyKey(invoice))?.first_id
  return first !== undefined && first < invoice.document_id ? first : undefined
}

/** Merges the groups of one key: only a MensajeReceptor is another with another consecutive. */
function mergeGroups(groups: readonly CopyGroup[]): Map<string, Pick<CopyGroup, 'first_id' | 'last_id'>> {
  const merged = new Map<string, { first_id: number; last_id: number }>()
  for (const { first_id, last_id, ...group } of groups) {
    const key = copyKey(group)
    const other = merged.get(key)
    merged.set(key, {
      first_id: Math.min(first_id, other?.first_id ?? first_id),
      last_id: Math.max(last_id, other?.last_id ?? last_id),
    })
  }
  return merged
}

function definedValues(ids: ReadonlyMap<number, number | undefined>): number[] {
  return [...new Set([...ids.values()].filter((id) => id !== undefined))]
}
