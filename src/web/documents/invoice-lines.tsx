// Lines of a row about an electronic invoice: kind, issuer, date and total, and the marks. The issuer's name is a
// stranger's, so it is text and isolated.

import { icons } from '../components/icons.tsx'
import { formats, pageTexts } from '../components/view.ts'
import { INVOICES } from '../i18n/invoice-words.ts'
import { type DocumentInvoice, isReadInvoice } from '../model/documents/invoices.ts'
import { visibleText } from '../model/visible.ts'
import { amountText, invoiceKindText, invoiceMarks } from './invoice-texts.ts'

const TONE_ICONS = { quiet: undefined, good: icons.done, caution: icons.warning, refusal: icons.warning }

export function InvoiceLines({ invoice }: { invoice: DocumentInvoice }) {
  const marks = invoiceMarks(invoice)
  const read = isReadInvoice(invoice) ? invoice : undefined
  return (
    <>
      <p class="small invoice-line">
        <span>{'kind' in invoice ? invoiceKindText(invoice.kind) : pageTexts(INVOICES).belongs}</span>
        {read?.issuer && <bdi>{visibleText(read.issuer.name ?? read.issuer.id ?? '')}</bdi>}
        {read?.date && <span class="nowrap">{formats.value.day(read.date)}</span>}
        {read && read.total !== null && (
          <strong class="nowrap">{amountText(read.total, read.currency)}</strong>
        )}
      </p>
      {marks.length > 0 && (
        <p class="tiny invoice-marks">
          {marks.map(({ tone, text }) => (
            <span key={text} class={tone}>
              {TONE_ICONS[tone]}
              {text}
            </span>
          ))}
        </p>
      )}
    </>
  )
}
