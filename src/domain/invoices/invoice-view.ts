// Invoices among documents as clients see them, with their copies and answers within the access of the client.

import { selectTaxIds } from '../../store/directory/companies.ts'
import type { DocumentRow } from '../../store/documents/documents.ts'
import {
  type CopyGroup,
  copyKey,
  selectCopyGroups,
  selectSha256s,
} from '../../store/documents/invoice-copies.ts'
import { type StoredInvoice, selectInvoices } from '../../store/documents/invoices.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { Access } from '../documents/access.ts'
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
  hacienda?: { outcome: string; document_id: number }
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

const ANSWER = 'MensajeHacienda'
/** Its copies have the same consecutive too: a receiver may answer twice. */
const RECEIVER_ANSWER = 'MensajeReceptor'

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
  const groups = await selectCopyGroups(db, rows, agentId ?? undefined)
  const firsts = new Map(rows.map((one) => [one.document_id, findFirst(one, groups)]))
  const answers = new Map(rows.map((one) => [one.document_id, findHaciendaAnswer(one, groups)]))
  const answerRows = await selectInvoices(db, definedValues(answers))
  const sha256s = await selectSha256s(db, definedValues(firsts))
  const checks = await checkRates(rates, rows)
  const taxIds = await selectTaxIds(db, [...new Set(rows.map(({ company_id }) => company_id))])
  return documents.map((document) => {
    const invoice = invoices.get(document.id)
    if (!invoice) return document
    const { document_id } = invoice
    const first = firsts.get(document_id)
    const answer = answerRows.get(answers.get(document_id) ?? 0)
    const check = checks.get(document_id)
    const view = describe(invoice)
    if (!('from' in view) || view.from !== 'content') return { ...document, invoice: view }
    return {
      ...document,
      invoice: {
        ...view,
        ...findDirection(invoice, taxIds.get(invoice.company_id)),
        ...(answer?.outcome && { hacienda: { outcome: answer.outcome, document_id: answer.document_id } }),
        ...(first !== undefined && {
          duplicate_of: first,
          same_content: sha256s.get(first) === document.sha256,
        }),
        ...(check && { rate_check: check }),
        ...(invoice.warnings !== null && { warnings: invoice.warnings.split(' ') }),
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
function findFirst(invoice: StoredInvoice, groups: readonly CopyGroup[]): number | undefined {
  if (invoice.source !== 'content' || invoice.clave === null) return undefined
  const key = copyKey(invoice)
  const copies = groups.filter((one) => copyKey(one) === key)
  const first = Math.min(...copies.map(({ first_id }) => first_id))
  return first < invoice.document_id ? first : undefined
}

/** The newest answer of Hacienda to an invoice. */
function findHaciendaAnswer(invoice: StoredInvoice, groups: readonly CopyGroup[]): number | undefined {
  if (invoice.source !== 'content' || invoice.kind === ANSWER || invoice.kind === RECEIVER_ANSWER)
    return undefined
  return groups
    .filter(
      (one) => one.kind === ANSWER && one.company_id === invoice.company_id && one.clave === invoice.clave,
    )
    .map(({ last_id }) => last_id)
    .sort((one, other) => other - one)[0]
}

function definedValues(ids: ReadonlyMap<number, number | undefined>): number[] {
  return [...new Set([...ids.values()].filter((id) => id !== undefined))]
}
