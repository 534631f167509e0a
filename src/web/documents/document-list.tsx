import { useState } from 'preact/hooks'
import { serverTime } from '../api/clock.ts'
import { contentPath, type Document } from '../api/documents.ts'
import { apiResponse, type Failure } from '../api/request.ts'
import { saveBlob } from '../components/downloads.ts'
import { icons } from '../components/icons.tsx'
import { failureText } from '../components/notice.tsx'
import { formats } from '../components/view.ts'
import { typeBadge, typeName } from '../model/media-types.ts'
import { safeFileName, visibleText } from '../model/visible.ts'
import { documentsTexts } from './texts.ts'

/** Names of companies and agents by id. */
export type DirectoryNames = { companies: ReadonlyMap<number, string>; agents: ReadonlyMap<number, string> }

export function companyName({ company_id: id }: Document, { companies }: DirectoryNames): string {
  return companies.get(id) ?? documentsTexts.value.documents.companyId(id)
}

export function agentName({ agent_id: id }: Document, { agents }: DirectoryNames): string {
  return agents.get(id) ?? documentsTexts.value.documents.agentId(id)
}

export type ListProps = { names: DirectoryNames; onOpen: (document: Document) => void }

export function DocumentList(props: ListProps & { documents: readonly Document[] }) {
  return (
    <ul class="document-list">
      {props.documents.map((document) => (
        <li key={document.id}>
          <DocumentRow document={document} names={props.names} onOpen={props.onOpen} />
        </li>
      ))}
    </ul>
  )
}

function DocumentRow({ document, names, onOpen }: ListProps & { document: Document }) {
  const words = documentsTexts.value.documents
  const { bytes, instant, ago } = formats.value
  const isLost = document.content === 'lost'
  return (
    <article class="document">
      <span class="badge" aria-hidden="true">
        {typeBadge(document.name, document.mimetype)}
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
        {ago(document.created_at, serverTime())}
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
        <DownloadButton document={document} isOff={isLost} />
      </div>
    </article>
  )
}

/** Downloads through a request, since a plain link cannot send the session's credentials. */
export function DownloadButton(props: { document: Document; isOff?: boolean; isLong?: boolean }) {
  const { document, isOff = false, isLong = false } = props
  const words = documentsTexts.value.documents
  const [state, setState] = useState<'idle' | 'busy' | Failure>('idle')
  const download = async () => {
    setState('busy')
    const { value, failure } = await apiResponse(contentPath(document.id))
    const blob = await value?.blob().catch(() => undefined) // the connection was lost
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
          {failureText(state).title}
        </span>
      )}
    </>
  )
}
