// Details of a document: state, note, actions, preview, history, and its facts.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Document } from '../../api/documents.ts'
import type { Failure } from '../../api/request.ts'
import { FailureNotice, Notice } from '../../components/notice.tsx'
import { formats, pageTexts } from '../../components/view.ts'
import { DOCUMENT } from '../../i18n/document.ts'
import { previewKind } from '../../model/documents/media-types.ts'
import { visibleText } from '../../model/visible.ts'
import { DeleteButton, DownloadButton, PdfButton, ViewButton } from './actions.tsx'
import { Companions } from './companions.tsx'
import { EventList } from './event-list.tsx'
import { DocumentFact, MailFacts } from './facts.tsx'
import { InvoiceSection } from './invoice-section.tsx'
import { Preview } from './preview.tsx'

export type DetailsProps = {
  /** Undefined: it was not loaded. */
  document: Document | undefined
  failure: Failure | undefined
  /** Rises with each event of the list; undefined: not yet known. */
  changed: number | undefined
  /** Company, if there are several, and agent. */
  parties: readonly string[]
  chip: ComponentChildren
  note: string
  retry: ComponentChildren
  timeText: (instant: string) => string
  onOpen: (id: number) => void
  onDelete: () => void
}

export function DocumentDetails(props: DetailsProps) {
  const words = pageTexts(DOCUMENT)
  const { document: doc, failure, chip, note, retry, changed, timeText } = props
  const [isLarge, setLarge] = useState(false)
  if (!doc) {
    if (failure && failure.kind !== 'not-found') return <FailureNotice failure={failure} />
    return <Notice title={words.gone} text={words.goneText} />
  }
  const isLost = doc.content === 'lost'
  const kind = previewKind(doc.mimetype)
  const hasEnd = doc.state === 'failed' || doc.state === 'done'
  const eventsKey = [changed, doc.state, doc.attempts, doc.finished_at].join(' ') // the list may lack the document
  return (
    <div class="details">
      <p class="row tiny details-state">
        {chip}
        {hasEnd && doc.attempts > 0 && <span class="quiet">{words.attempts(doc.attempts)}</span>}
      </p>
      {note !== '' && <p class={`details-note rounded sunk ${doc.state}`}>{note}</p>}
      <div class="buttons">
        {retry}
        {!isLost && kind === 'pdf' && <PdfButton id={doc.id} />}
        {!isLost && (kind === 'text' || kind === 'image') && (
          <ViewButton isLarge={isLarge} onClick={() => setLarge(!isLarge)} />
        )}
        <DownloadButton document={doc} isOff={isLost} />
      </div>
      {doc.invoice && <InvoiceSection invoice={doc.invoice} />}
      {doc.invoice && 'clave' in doc.invoice && (
        <Companions document={doc} clave={doc.invoice.clave} changed={changed} onOpen={props.onOpen} />
      )}
      {doc.mail && <MailFacts mail={doc.mail} />}
      {!isLost && <Preview document={doc} isLarge={isLarge} />}
      <EventList id={doc.id} note={doc.note} changed={eventsKey} timeText={timeText} />
      <Facts document={doc} parties={props.parties} />
      <div class="spread tiny details-foot gap-8 touch">
        <span class="quiet">
          {formats.value.bytes(doc.size)} · {words.number(doc.id)}
        </span>
        <DeleteButton id={doc.id} onDelete={props.onDelete} />
      </div>
    </div>
  )
}

function Facts({ document: doc, parties }: { document: Document; parties: readonly string[] }) {
  const words = pageTexts(DOCUMENT)
  const [agent = '', company] = parties.toReversed()
  return (
    <details class="more-facts">
      <summary class="link">{words.details}</summary>
      <dl class="facts grid">
        <DocumentFact name={words.type}>{doc.mimetype}</DocumentFact>
        <DocumentFact name={words.time}>{formats.value.instant(doc.created_at)}</DocumentFact>
        {company !== undefined && <DocumentFact name={words.company}>{company}</DocumentFact>}
        <DocumentFact name={words.agent}>{agent}</DocumentFact>
        {doc.created_by !== null && (
          <DocumentFact name={words.sender}>{visibleText(doc.created_by)}</DocumentFact>
        )}
        <DocumentFact name={words.hash}>
          <code>{doc.sha256}</code>
        </DocumentFact>
      </dl>
    </details>
  )
}
