import { useState } from 'preact/hooks'
import { icons } from '../parts/icons.tsx'
import { wordsOf } from '../parts/notice.tsx'
import { saveBlob } from '../parts/save.ts'
import { formats } from '../parts/view.ts'
import { askBytes, type Failure } from '../server/ask.ts'
import { now } from '../server/clock.ts'
import { contentPath, type Document } from '../server/documents.ts'
import { badgeOf, typeName } from '../words/contents.ts'
import { safeFileName, visibleText } from '../words/visible.ts'
import { documentsTexts } from './texts.ts'

/** Of companies and agents, by id. */
export type Names = { companies: ReadonlyMap<number, string>; agents: ReadonlyMap<number, string> }

export function companyName({ company_id: id }: Document, { companies }: Names): string {
  return companies.get(id) ?? documentsTexts.value.documents.companyId(id)
}

export function agentName({ agent_id: id }: Document, { agents }: Names): string {
  return agents.get(id) ?? documentsTexts.value.documents.agentId(id)
}

export function DocumentList(props: {
  documents: readonly Document[]
  names: Names
  onOpen: (document: Document) => void
}) {
  return (
    <ul class="document-list">
      {props.documents.map((document) => (
        <li key={document.id}>
          <Row document={document} names={props.names} onOpen={props.onOpen} />
        </li>
      ))}
    </ul>
  )
}

function Row(props: { document: Document; names: Names; onOpen: (document: Document) => void }) {
  const { document, names, onOpen } = props
  const words = documentsTexts.value.documents
  const { bytes, instant, ago } = formats.value
  const isLost = document.content === 'lost'
  return (
    <article class="document">
      <span class="badge" aria-hidden="true">
        {badgeOf(document.name, document.mimetype)}
      </span>
      <div class="document-facts">
        <h3>
          <bdi>{visibleText(document.name)}</bdi>
        </h3>
        <p class="document-of">
          <bdi title={words.company}>{companyName(document, names)}</bdi> ·{' '}
          <bdi title={words.agent}>{agentName(document, names)}</bdi>
        </p>
        <p class="quiet">
          <span>{bytes(document.size)}</span>
          <span title={document.mimetype}>{typeName(document.mimetype)}</span>
          <code title={document.sha256}>{document.sha256.slice(0, 10)}</code>
        </p>
        {isLost && <p class="refusal">{words.lost}</p>}
      </div>
      <time class="quiet" dateTime={document.created_at} title={instant(document.created_at)}>
        {ago(document.created_at, now())}
      </time>
      <div class="document-tools">
        <button
          type="button"
          class="button"
          aria-label={words.previewOf(visibleText(document.name))}
          onClick={() => onOpen(document)}
        >
          {icons.eye}
          {words.preview}
        </button>
        <Download document={document} isOff={isLost} />
      </div>
    </article>
  )
}

/** Fetched with the session's credentials and then kept, for a plain link could not send them. */
export function Download({
  document,
  isOff = false,
  isLong = false,
}: {
  document: Document
  isOff?: boolean
  isLong?: boolean
}) {
  const words = documentsTexts.value.documents
  const [state, setState] = useState<'idle' | 'busy' | Failure>('idle')
  const download = async () => {
    setState('busy')
    const { value, failure } = await askBytes(contentPath(document.id))
    const blob = await value?.blob().catch(() => undefined)
    if (blob) saveBlob(new Blob([blob], { type: 'application/octet-stream' }), safeFileName(document.name))
    setState(blob ? 'idle' : (failure ?? { kind: 'offline', status: 0, detail: '' }))
  }
  const isBusy = state === 'busy'
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={isOff || isBusy}
        title={words.download}
        aria-label={words.downloadOf(visibleText(document.name))}
        onClick={() => void download()}
      >
        {icons.download}
        {isBusy ? words.downloading : isLong && words.download}
      </button>
      {typeof state === 'object' && (
        <span class="refusal" role="alert">
          {wordsOf(state).title}
        </span>
      )}
    </>
  )
}
