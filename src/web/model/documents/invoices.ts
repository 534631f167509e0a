// Electronic invoices among documents: types of the API, parts of a clave, and the text of the search.

export type MessageOutcome = 'accepted' | 'partly_accepted' | 'rejected'

/** Outcome by a message whose signature is not verified. */
export type HaciendaOutcome = { outcome: MessageOutcome; document_id: number }

/** Rate of an invoice beside the published venta. `matches`: the published value that it is. */
export type InvoiceRate =
  | {
      published: string
      rate_date: string
      via?: string
      difference: string
      percent: string
      matches: 'venta' | 'compra' | 'previous_venta' | null
    }
  | { published: null; reason: string }

/** Names are a stranger's. */
export type InvoiceSide = { type: string | null; id: string | null; name: string | null }

/** Facts that were read. Amounts are decimals. */
export type ReadInvoice = {
  kind: string
  version: string | null
  from: 'content'
  clave: string
  consecutive: string | null
  date: string | null
  issuer: InvoiceSide | null
  receiver: InvoiceSide | null
  currency: string | null
  exchange_rate: string | null
  total: string | null
  tax: string | null
  references?: readonly { type: string | null; number: string | null; code: string | null }[]
  outcome?: MessageOutcome
  direction?: 'issued' | 'received' | 'other'
  hacienda?: HaciendaOutcome
  hacienda_others?: readonly HaciendaOutcome[]
  duplicate_of?: number
  same_content?: boolean
  rate_check?: InvoiceRate
  warnings?: readonly string[]
}

/** An invoice that was not read, or a file that belongs to one. */
export type DocumentInvoice =
  | ReadInvoice
  | { kind: string; fault: string }
  | { clave: string; from: 'name' | 'mail' }

/** Text of the search field. `error`: it is neither; `digits` counts those of a wrong clave. */
export type InvoiceSearch =
  | { issuer: string; clave: string; error?: undefined }
  | { error: 'digits'; digits: number }
  | { error: 'text' }

const CLAVE_DIGITS = 50
const MAX_ISSUER = 20
/** Country, day, issuer, consecutive, situation and security code. */
const CLAVE_GROUPS = /^(\d{3})(\d{6})(\d{12})(\d{20})(\d)(\d{8})$/
const SEPARATORS = /[\s.\-\u00ad\u200b\u2010-\u2015\u2212]/g

export function isReadInvoice(invoice: DocumentInvoice | undefined): invoice is ReadInvoice {
  return invoice !== undefined && 'from' in invoice && invoice.from === 'content'
}

/** Divides a clave into its parts. */
export function claveGroups(clave: string): string[] {
  const [, ...groups] = CLAVE_GROUPS.exec(clave) ?? []
  return groups.length > 0 ? groups : [clave]
}

/** Reads an id of an issuer or a clave. Spaces, hyphens and points are dropped. Empty: no filter. */
export function readInvoiceSearch(text: string): InvoiceSearch {
  const digits = text.replace(SEPARATORS, '')
  if (!/^\d*$/.test(digits)) return { error: 'text' }
  if (digits.length === CLAVE_DIGITS) return { issuer: '', clave: digits }
  if (digits.length > MAX_ISSUER) return { error: 'digits', digits: digits.length }
  return { issuer: digits, clave: '' }
}
