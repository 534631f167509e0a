// Reads a Costa Rican electronic invoice, in pieces: its facts, or the reason that it has none. No signature is verified,
// no total is added up. Rules: sections 1 and 2 of the contract of invoices in src/DECISIONS.md.

import { cleanText } from '../../values/clean-text.ts'
import { isIsoDate } from '../../values/dates.ts'
import { canonicalDecimal } from '../../values/decimal.ts'
import { createContent, type ReadableInvoice } from './content.ts'
import type { RawValues } from './element-tree.ts'
import type { ValueDecoder } from './encoding.ts'
import { type InvoiceField, type InvoiceKind, KINDS, type UnreadableInvoice } from './kinds.ts'

export type { UnreadableInvoice } from './kinds.ts'

export type InvoiceParty = {
  /** Two digits of the law (01 física, 02 jurídica …), or null. */
  type: string | null
  /** Without leading zeros. Null: none. */
  id: string | null
  /** Text of strangers, without control and direction characters, at most 160 characters. */
  name: string | null
}

export type InvoiceWarning =
  | 'clave_id'
  | 'clave_date'
  | 'clave_kind'
  | 'clave_consecutive'
  | 'crc_rate'
  | 'namespace'
  | 'encoding'

export type InvoiceOutcome = 'accepted' | 'partly_accepted' | 'rejected'

export type InvoiceFacts = {
  kind: InvoiceKind
  version: string | null
  clave: string
  consecutive: string | null
  /** FechaEmision as it is written. */
  issuedAt: string | null
  date: string | null
  issuer: InvoiceParty | null
  receiver: InvoiceParty | null
  currency: string | null
  /** Canonical decimals. */
  exchangeRate: string | null
  total: string | null
  tax: string | null
  references: { type: string | null; number: string | null; code: string | null }[]
  outcome: InvoiceOutcome | null
  warnings: InvoiceWarning[]
}

const MAX_BYTES = 5_000_000
const MAX_CHARACTERS = 400
const MAX_NAME = 160
const MAX_NUMBER = 50
const MAX_CODE = 4
const MAX_ID = 20
const OUTCOMES: Record<string, InvoiceOutcome> = { '1': 'accepted', '2': 'partly_accepted', '3': 'rejected' }
/** `ind-estado` of Hacienda's service. */
const STATES: Record<string, string> = { accepted: 'aceptado', rejected: 'rechazado' }
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?$/
const WITHOUT_CURRENCY = new Set(['4.2', '4.3']) // mean colones

export function createInvoiceReader(): InvoiceReader {
  return new InvoiceReader()
}

class InvoiceReader {
  readonly #content = createContent()
  #size = 0
  #isOfInterest = true

  /** Returns false once nothing that follows is of interest. */
  push(bytes: Uint8Array): boolean {
    const length = Math.min(bytes.length, MAX_BYTES - this.#size)
    this.#size += bytes.length
    if (this.#isOfInterest)
      this.#isOfInterest = this.#content.push(Buffer.from(bytes.buffer, bytes.byteOffset, length))
    if (this.#size > MAX_BYTES) this.#isOfInterest = false
    return this.#isOfInterest
  }

  /** Returns true for XML, also in base64, and also of another kind. Complete after `end`. */
  isXml(): boolean {
    return this.#content.isXml()
  }

  /** Undefined: no invoice. */
  end(): InvoiceFacts | UnreadableInvoice | undefined {
    const invoice = this.#content.end()
    if (!invoice) return undefined
    const { kind } = invoice
    if (this.#size > MAX_BYTES) return { kind, fault: 'it has more than 5 MB' }
    if ('fault' in invoice) return invoice
    const facts = parseFacts(invoice)
    const fault = 'fault' in facts ? undefined : findContradiction(facts, invoice.reply)
    return fault === undefined ? facts : { kind, fault }
  }
}

/** Compares an answer with the JSON that Hacienda's service sends around it. */
function findContradiction(
  { clave, outcome }: InvoiceFacts,
  reply: ReadableInvoice['reply'],
): string | undefined {
  const outerClave = reply?.get('clave') ?? clave
  const state = reply?.get('ind-estado')
  if (outerClave !== clave) return 'the clave of the JSON around it is another one'
  const isEqual = state == null || String(state).trim().toLowerCase() === STATES[outcome ?? '']
  return isEqual ? undefined : 'ind-estado of the JSON around it is not its Mensaje'
}

function parseFacts({ kind, raw, decoder }: ReadableInvoice): InvoiceFacts | UnreadableInvoice {
  const { version } = raw
  let fault: string | undefined
  const fail = (sentence: string) => {
    fault ??= sentence
    return null
  }
  const value = (field: InvoiceField, from: RawValues = raw.values): string | null => {
    const characters = from.get(field)
    if (!characters) return null
    const text = decoder.decode(characters).trim()
    return text.length > MAX_CHARACTERS ? fail(`${field} has more than ${MAX_CHARACTERS} characters`) : text
  }
  const formed = (field: InvoiceField, form: RegExp, right: string): string | null => {
    const text = value(field)
    return text === null || form.test(text) ? text : fail(`${elementName(kind, field)} is not ${right}`)
  }
  const amount = (field: InvoiceField): string | null => {
    const text = value(field)
    if (text === null) return null
    const decimal = canonicalDecimal(text)
    return decimal === undefined || text.startsWith('-')
      ? fail(`${elementName(kind, field)} is not an amount`)
      : decimal
  }
  const identification = (field: InvoiceField, form: RegExp) =>
    formed(field, form, 'an identification of at most 20 characters') || null
  // An answer of Hacienda has empty elements, with xsi:nil, for a receiver without an identification.
  const party = (side: 'issuer' | 'receiver'): InvoiceParty | null => {
    const type = formed(`${side}Type`, /^(?:\d{2})?$/, 'two digits') || null
    const localId = identification(`${side}Id`, /^\S{0,20}$/)
    const id = localId ?? (side === 'receiver' ? identification('receiverForeignId', /^.{0,20}$/su) : null)
    const name = cleanText(value(`${side}Name`), MAX_NAME)
    const hasAny = type !== null || id !== null || name !== null
    return hasAny ? { type, id: id && (/^0*(\d+)$/.exec(id)?.[1] ?? cleanText(id, MAX_ID)), name } : null
  }

  const clave = formed('clave', /^\d{50}$/, '50 digits')
  if (clave === null) fail('there is no Clave')
  const issueInstant = formed('issuedAt', INSTANT, 'a date and time')
  if (issueInstant !== null && !isIsoDate(issueInstant.slice(0, 10)))
    fail('FechaEmision is no day of the calendar')
  const message = formed('message', /^[123]$/, '1, 2 or 3')
  const isMessage = KINDS[kind].type === null
  const isInColones = !isMessage && version !== null && WITHOUT_CURRENCY.has(version)
  const currency = formed('currency', /^[A-Z]{3}$/, 'three capital letters') ?? (isInColones ? 'CRC' : null)
  const facts: InvoiceFacts = {
    ...{ kind, version, clave: clave ?? '', issuedAt: issueInstant, currency },
    consecutive: formed('consecutive', /^\d{20}$/, '20 digits'),
    date: null,
    issuer: party('issuer'),
    receiver: party('receiver'),
    exchangeRate: amount('exchangeRate') ?? (isInColones && currency === 'CRC' ? '1' : null),
    total: amount('total'),
    tax: amount('tax'),
    references: raw.references.map((from) => ({
      type: cleanText(value('referenceType', from), MAX_CODE),
      number: cleanText(value('referenceNumber', from), MAX_NUMBER),
      code: cleanText(value('referenceCode', from), MAX_CODE),
    })),
    outcome: message === null ? null : (OUTCOMES[message] ?? null),
    warnings: [],
  }
  if (fault !== undefined) return { kind, fault }
  facts.date = invoiceDate(facts)
  facts.warnings = findWarnings(facts, decoder)
  return facts
}

/** Day of the clave, as far as FechaEmision agrees in its own zone or in Costa Rica's. */
function invoiceDate({ clave, issuedAt }: InvoiceFacts): string | null {
  if (issuedAt === null) return null
  const letterDay = issuedAt.slice(0, 10)
  const day = claveDate(clave)
  return day !== undefined && (day === letterDay || day === localDay(issuedAt)) ? day : letterDay
}

function findWarnings(facts: InvoiceFacts, decoder: ValueDecoder): InvoiceWarning[] {
  const { clave, kind, consecutive, date } = facts
  const { type } = KINDS[kind]
  const claveType = clave.slice(29, 31)
  const claveId = clave.slice(9, 21)
  // The buyer issues a FacturaElectronicaCompra.
  const parties =
    claveType === KINDS.FacturaElectronicaCompra.type ? [facts.issuer, facts.receiver] : [facts.issuer]
  const ids = parties.flatMap((one) => one?.id ?? [])
  const signs: Record<InvoiceWarning, boolean> = {
    clave_id: ids.length > 0 && !ids.some((id) => id.padStart(12, '0') === claveId),
    clave_date: date !== null && date !== claveDate(clave),
    clave_kind: type !== null && type !== claveType,
    clave_consecutive: type !== null && consecutive !== null && consecutive !== clave.slice(21, 41),
    crc_rate: facts.currency === 'CRC' && facts.exchangeRate !== null && facts.exchangeRate !== '1',
    namespace: facts.version === null,
    encoding: !decoder.isAsDeclared,
  }
  return (Object.keys(signs) as InvoiceWarning[]).filter((warning) => signs[warning])
}

/** Day of a clave, `506ddmmyy…`; undefined: no day of the calendar. */
export function claveDate(clave: string): string | undefined {
  const [, day, month, year] = /^506(\d\d)(\d\d)(\d\d)/.exec(clave) ?? []
  const date = `20${year}-${month}-${day}`
  return day !== undefined && isIsoDate(date) ? date : undefined
}

/** Returns the day in Costa Rica. An instant without a zone is in its time. */
function localDay(instant: string): string | undefined {
  const hasZone = INSTANT.exec(instant)?.[1] !== undefined
  const time = Date.parse(hasZone ? instant : `${instant}-06:00`)
  return Number.isNaN(time) ? undefined : new Date(time - 6 * 3_600_000).toISOString().slice(0, 10)
}

function elementName(kind: InvoiceKind, field: InvoiceField): string {
  const search = [...KINDS[kind].elements.children.values()]
  for (const rule of search) {
    if (rule.field === field) return rule.name
    search.push(...rule.children.values())
  }
  return field
}
