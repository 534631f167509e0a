// Words of an invoice for its row and its panel.

import { formats, pageTexts } from '../components/view.ts'
import { INVOICES } from '../i18n/invoice-words.ts'
import {
  type DocumentInvoice,
  type InvoiceRate,
  isReadInvoice,
  type MessageOutcome,
  type ReadInvoice,
} from '../model/documents/invoices.ts'
import { visibleText } from '../model/visible.ts'

export type InvoiceMark = { tone: 'quiet' | 'good' | 'caution' | 'refusal'; text: string }

/** Kind of an answer of Hacienda. */
export const HACIENDA = 'MensajeHacienda'
const OUTCOME_TONES = { accepted: 'good', partly_accepted: 'caution', rejected: 'refusal' } as const

/** Writes a kind in words; an unknown one as the API has it, and an empty one as XML. */
export function invoiceKindText(kind: string): string {
  const { kinds } = pageTexts(INVOICES)
  return Object.hasOwn(kinds, kind) ? kinds[kind as keyof typeof kinds] : visibleText(kind || 'XML')
}

/** Writes an outcome; that of Hacienda with the words that its signature is not verified. */
export function outcomeText(kind: string, outcome: MessageOutcome): string {
  const { outcomes, unverified } = pageTexts(INVOICES)
  return kind === HACIENDA ? unverified(outcomes[outcome]) : outcomes[outcome]
}

/** Writes an amount with all its digits and its currency, if there is one. */
export function amountText(amount: string, currency: string | null): string {
  return [formats.value.exact(amount), currency ?? ''].join(' ').trim()
}

/** Conspicuous facts of an invoice, for its row. */
export function invoiceMarks(invoice: DocumentInvoice): InvoiceMark[] {
  const words = pageTexts(INVOICES)
  if ('fault' in invoice) return [{ tone: 'refusal', text: words.unread }]
  if (!isReadInvoice(invoice)) return []
  const { kind, outcome, hacienda, duplicate_of, same_content, rate_check, warnings = [] } = invoice
  const marks: InvoiceMark[] = []
  if (outcome) marks.push({ tone: OUTCOME_TONES[outcome], text: outcomeText(kind, outcome) })
  if (hacienda) {
    const text = words.hacienda(outcomeText(HACIENDA, hacienda.outcome))
    marks.push({ tone: OUTCOME_TONES[hacienda.outcome], text })
  }
  if (warnings.includes('hacienda_mismatch')) marks.push({ tone: 'caution', text: words.mismatch })
  if (duplicate_of !== undefined) marks.push({ tone: 'quiet', text: words.copyOf(duplicate_of) })
  if (same_content === false) marks.push({ tone: 'caution', text: words.otherContent })
  else if (warnings.includes('clave_twice')) marks.push({ tone: 'caution', text: words.claveTwice })
  if (rate_check) marks.push(...rateMarks(rate_check))
  return marks
}

/** Compares the rate of an invoice with the published one, in words; undefined: there is nothing to compare. */
export function rateComparison({ rate_check: check }: ReadInvoice): string | undefined {
  if (!check) return undefined
  const { rate } = pageTexts(INVOICES)
  if (check.published === null) return rate.noValue
  const { exact, cross, day, percent } = formats.value
  const { published, rate_date, via, matches } = check
  const value =
    via === undefined
      ? rate.published(exact(published), day(rate_date))
      : rate.computed(cross(published), day(rate_date), via)
  const difference =
    matches === 'venta' ? [] : [rate.difference(differenceText(check)), percent(check.percent)]
  return `${rate.details[matches ?? 'other']} (${[value, ...difference].join('; ')})`
}

/** The same as a sentence about an unnamed thing, for a row. Undefined: the rate is the venta, or there is none. */
export function rateTitle(invoice: ReadInvoice): string | undefined {
  const { rate_check: check } = invoice
  const text = check && (check.published === null || check.matches !== 'venta') && rateComparison(invoice)
  return text ? pageTexts(INVOICES).rate.title(`${text.charAt(0).toLowerCase()}${text.slice(1)}`) : undefined
}

function rateMarks(check: InvoiceRate): InvoiceMark[] {
  const { marks } = pageTexts(INVOICES).rate
  if (check.published === null) return [{ tone: 'quiet', text: marks.unknown }]
  if (check.matches === 'venta') return []
  const text = check.matches === null ? marks.other(differenceText(check)) : marks[check.matches]
  return [{ tone: 'caution', text }]
}

function differenceText(check: Exclude<InvoiceRate, { published: null }>): string {
  const { signed, crossChange } = formats.value
  const { difference, published, via } = check
  return via === undefined ? signed(difference) : crossChange(difference, published)
}
