import type { ComponentChildren } from 'preact'
import { serverTime } from '../api/clock.ts'
import type { Document } from '../api/documents.ts'
import { Button } from '../components/button.tsx'
import { icons } from '../components/icons.tsx'
import { formats, pageTexts, view } from '../components/view.ts'
import { DOCUMENTS } from '../i18n/documents-texts.ts'
import { INVOICES } from '../i18n/invoice-words.ts'
import { documentKind } from '../model/documents/document-kinds.ts'
import { canRetry } from '../model/documents/document-queue.ts'
import { type DocumentInvoice, isReadInvoice } from '../model/documents/invoices.ts'
import { visibleText } from '../model/visible.ts'
import { amountText, invoiceKindText, invoiceMarks, rateTitle } from './invoice-texts.ts'
import { openButtonId } from './panel.tsx'
import { type Replace, RetryButton } from './retry-button.tsx'
import { noteText, StateChip } from './state-chip.tsx'
import { recentText } from './times.ts'

/** Names by id. `companies` is empty if there is one company. */
export type DirectoryNames = { companies: ReadonlyMap<number, string>; agents: ReadonlyMap<number, string> }

export type ListProps = { names: DirectoryNames; onOpen: (id: number) => void; onChange: Replace }

const TONE_ICONS = { quiet: undefined, good: icons.done, caution: icons.warning, refusal: icons.warning }

/** Company, if there are several, and agent. */
export function partyNames({ company_id, agent_id }: Document, names: DirectoryNames): string[] {
  const words = pageTexts(DOCUMENTS).documents
  const agent = names.agents.get(agent_id) ?? words.agentId(agent_id)
  if (names.companies.size < 2) return [agent]
  return [names.companies.get(company_id) ?? words.companyId(company_id), agent]
}

export function DocumentList(props: ListProps & { documents: readonly Document[] }) {
  return (
    <ul class="document-list above-14">
      {props.documents.map((document) => (
        <li key={document.id} data-id={document.id}>
          <DocumentRow {...props} document={document} />
        </li>
      ))}
    </ul>
  )
}

function DocumentRow({ document, names, onOpen, onChange }: ListProps & { document: Document }) {
  const words = pageTexts(DOCUMENTS).documents
  const { bytes, instant } = formats.value
  const { id, state, finished_at, created_at, invoice } = document
  const time = finished_at ?? created_at
  const isOpen = view.value.document === id
  const classes = ['document', isOpen ? 'open' : '', invoice ? 'of-invoice' : '']
  const note = noteText(document)
  const { word, letters } = documentKind(document.name, document.mimetype)
  return (
    <article class={classes.filter(Boolean).join(' ')}>
      <span class="badge grid rounded" aria-hidden="true">
        {word ? words[word] : letters}
      </span>
      <div class="document-facts">
        <h3>
          <Button
            class="document-open touch text-start breaks"
            id={openButtonId(id)}
            aria-current={isOpen}
            title={isReadInvoice(invoice) ? rateTitle(invoice) : undefined}
            onClick={() => onOpen(id)}
          >
            <bdi>{visibleText(document.name)}</bdi>
          </Button>
        </h3>
        {invoice && <InvoiceLines invoice={invoice} />}
        <p class="quiet tiny">
          <bdi class="document-of">{partyNames(document, names).join(' · ')}</bdi>
          <span>{bytes(document.size)}</span>
        </p>
        {document.content === 'lost' && <p class="refusal">{words.lost}</p>}
      </div>
      <StateChip state={state} />
      <time class="quiet" dateTime={time} title={instant(time)}>
        {recentText(time)}
      </time>
      {(note !== '' || canRetry(document, serverTime())) && (
        <Note state={state} text={note}>
          <RetryButton document={document} onChange={onChange} />
        </Note>
      )}
    </article>
  )
}

function Note(props: { state: string; text: string; children: ComponentChildren }) {
  return (
    <div class={`row tiny quiet document-note ${props.state}`}>
      <p>{props.text}</p>
      {props.children}
    </div>
  )
}

function InvoiceLines({ invoice }: { invoice: DocumentInvoice }) {
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
