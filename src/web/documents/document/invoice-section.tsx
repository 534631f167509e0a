// Facts of an electronic invoice. Names are a stranger's, so they are text and isolated.

import { type ComponentChildren, Fragment } from 'preact'
import { CopyButton } from '../../components/output/copy-button.tsx'
import { formats, pageTexts } from '../../components/view.ts'
import { DOCUMENT } from '../../i18n/document.ts'
import { INVOICES } from '../../i18n/invoice-words.ts'
import {
  claveGroups,
  type DocumentInvoice,
  type InvoiceSide,
  isReadInvoice,
  type ReadInvoice,
} from '../../model/documents/invoices.ts'
import { visibleText } from '../../model/visible.ts'
import { amountText, HACIENDA, invoiceKindText, outcomeText, rateComparison } from '../invoice-texts.ts'
import { DocumentFact } from './facts.tsx'

export function InvoiceSection({ invoice }: { invoice: DocumentInvoice }) {
  const words = pageTexts(DOCUMENT).invoice
  return (
    <section class="details-part grid gap-8" aria-labelledby="invoice">
      <h3 id="invoice">{words.title}</h3>
      {'fault' in invoice ? (
        <UnreadInvoice {...invoice} />
      ) : (
        <dl class="facts grid">
          {isReadInvoice(invoice) ? (
            <InvoiceFacts invoice={invoice} />
          ) : (
            <DocumentFact name={words.belongs} isWide>
              {words.sources[invoice.from]}
            </DocumentFact>
          )}
          <Clave clave={invoice.clave} />
        </dl>
      )}
      {isReadInvoice(invoice) && <Warnings codes={invoice.warnings ?? []} />}
    </section>
  )
}

function UnreadInvoice({ kind, fault }: { kind: string; fault: string }) {
  const words = pageTexts(DOCUMENT).invoice
  return (
    <p class="refusal">
      {invoiceKindText(kind)}: {pageTexts(INVOICES).unread}. {words.unreadText} <q lang="en">{fault}</q>
    </p>
  )
}

function InvoiceFacts({ invoice }: { invoice: ReadInvoice }) {
  const words = pageTexts(DOCUMENT).invoice
  const { copyOf, otherContent, outcomes } = pageTexts(INVOICES)
  const { day, exact } = formats.value
  const { currency, date, total, tax, exchange_rate, consecutive, references = [] } = invoice
  const { outcome, direction, duplicate_of, same_content, hacienda_others = [] } = invoice
  const answer = invoice.kind === HACIENDA ? outcome : invoice.hacienda?.outcome
  const kind = [invoiceKindText(invoice.kind), ...(outcome ? [outcomes[outcome]] : [])].join(', ')
  const copy = duplicate_of === undefined ? [] : [copyOf(duplicate_of), same_content ? '' : otherContent]
  const facts: readonly (readonly [name: string, value: ComponentChildren, isWide?: boolean])[] = [
    [words.kind, invoice.version === null ? kind : words.version(kind, invoice.version), true],
    [words.issuer, invoice.issuer && <Party party={invoice.issuer} />, true],
    [words.receiver, invoice.receiver && <Party party={invoice.receiver} />, true],
    [words.direction, direction && words.directions[direction], true],
    [words.total, total && amountText(total, currency)],
    [words.tax, tax && amountText(tax, currency)],
    [words.date, date && day(date)],
    [words.rate, (currency !== 'CRC' || exchange_rate !== '1') && exchange_rate && exact(exchange_rate)],
    [words.comparison, rateComparison(invoice), true],
    [invoiceKindText(HACIENDA), answer && outcomeText(HACIENDA, answer), true],
    [
      words.others,
      hacienda_others.length > 0 &&
        hacienda_others.map((one) => (
          <p key={one.document_id}>{words.other(outcomeText(HACIENDA, one.outcome), one.document_id)}</p>
        )),
      true,
    ],
    [words.copy, copy.filter(Boolean).join(', ')],
    [words.consecutive, consecutive && <code>{consecutive}</code>, true],
    [
      words.references,
      references.length > 0 &&
        references.map(({ number, type }, index) => (
          <p key={index}>
            <bdi>{visibleText(number ?? type ?? '')}</bdi>
          </p>
        )),
      true,
    ],
  ]
  return facts.map(
    ([name, value, isWide]) =>
      value && (
        <DocumentFact key={name} name={name} isWide={isWide}>
          {value}
        </DocumentFact>
      ),
  )
}

function Party({ party }: { party: InvoiceSide }) {
  const { idTypes, id } = pageTexts(DOCUMENT).invoice
  const { type } = party
  const typeName = type !== null && Object.hasOwn(idTypes, type) ? idTypes[type as keyof typeof idTypes] : id
  return (
    <>
      {party.name !== null && <bdi>{visibleText(party.name)}</bdi>}
      {party.id !== null && (
        <p class="quiet">
          {typeName} <bdi>{visibleText(party.id)}</bdi>
        </p>
      )}
    </>
  )
}

/** Digits in groups, without characters between them: a selection copies the clave. */
function Clave({ clave }: { clave: string }) {
  const words = pageTexts(DOCUMENT).invoice
  return (
    <DocumentFact name={words.clave} isWide>
      <span class="line clave">
        <code>
          {claveGroups(clave).map((group, index) => (
            <Fragment key={index}>
              <span>{group}</span>
              <wbr />
            </Fragment>
          ))}
        </code>
        <CopyButton class="plain round" label={words.copyClave} content={() => [[clave]]} />
      </span>
    </DocumentFact>
  )
}

function Warnings({ codes }: { codes: readonly string[] }) {
  const { warnings } = pageTexts(DOCUMENT).invoice
  if (codes.length === 0) return null
  return (
    <ul class="invoice-warnings small caution">
      {codes.map((code) => (
        <li key={code}>
          {Object.hasOwn(warnings, code) ? warnings[code as keyof typeof warnings] : visibleText(code)}
        </li>
      ))}
    </ul>
  )
}
