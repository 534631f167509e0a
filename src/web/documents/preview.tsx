// Previews a document, which may be hostile: text as text, images of five formats, a PDF in its own tab.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { contentPath, type Document } from '../api/documents.ts'
import { apiRequest, apiResponse, type Failure } from '../api/request.ts'
import { icons } from '../components/icons.tsx'
import { FailureNotice, failureText, Notice } from '../components/notice.tsx'
import { Scroller } from '../components/scroller.tsx'
import { formats, texts } from '../components/view.ts'
import {
  decodePreview,
  imageType,
  MAX_IMAGE_BYTES,
  MAX_TEXT_BYTES,
  previewKind,
} from '../model/media-types.ts'
import { visibleText } from '../model/visible.ts'
import { agentName, companyName, type DirectoryNames, DownloadButton } from './document-list.tsx'
import { documentsTexts } from './texts.ts'

export function Preview(props: { document: Document; names: DirectoryNames; onClose: () => void }) {
  const { document: doc, names, onClose } = props
  const words = documentsTexts.value.documents
  const { bytes, instant } = formats.value
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="card preview" aria-labelledby="preview" onClose={onClose}>
      <div class="card-head">
        <h2 id="preview">
          <bdi>{visibleText(doc.name)}</bdi>
        </h2>
        <button
          type="button"
          class="plain round"
          aria-label={texts.value.close}
          title={texts.value.close}
          onClick={() => dialog.current?.close()}
        >
          {icons.close}
        </button>
      </div>
      <Content document={doc} />
      <dl class="facts">
        <DocumentFact name={words.type}>{doc.mimetype}</DocumentFact>
        <DocumentFact name={words.size}>{bytes(doc.size)}</DocumentFact>
        <DocumentFact name={words.time}>{instant(doc.created_at)}</DocumentFact>
        <DocumentFact name={words.company}>{companyName(doc, names)}</DocumentFact>
        <DocumentFact name={words.agent}>{agentName(doc, names)}</DocumentFact>
        {doc.created_by !== null && (
          <DocumentFact name={words.sender}>{visibleText(doc.created_by)}</DocumentFact>
        )}
        <DocumentFact name={words.hash}>
          <code>{doc.sha256}</code>
        </DocumentFact>
      </dl>
      <div class="buttons">
        <DownloadButton document={doc} isOff={doc.content === 'lost'} isLong />
      </div>
    </dialog>
  )
}

function DocumentFact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Content({ document: doc }: { document: Document }) {
  const words = documentsTexts.value.documents
  if (doc.content === 'lost') return <Notice title={words.lost} />
  switch (previewKind(doc.mimetype)) {
    case 'text':
      return <TextContent document={doc} />
    case 'image':
      return doc.size > MAX_IMAGE_BYTES ? <Notice title={words.tooLarge} /> : <ImageContent document={doc} />
    case 'pdf':
      return <PdfContent document={doc} />
    case 'nothing':
      return <Notice title={words.notShown} />
  }
}

function TextContent({ document: { id, size } }: { document: Document }) {
  const words = documentsTexts.value.documents
  const { bytes, failure } = useBytes(id, MAX_TEXT_BYTES)
  if (failure) return <FailureNotice failure={failure} />
  if (!bytes) return <p class="preview-wait">{texts.value.loading}</p>
  const text = decodePreview(bytes)
  return (
    <>
      {text === '' ? (
        <Notice title={words.emptyText} />
      ) : (
        <Scroller class="text" label={words.preview}>
          <pre>{text}</pre>
        </Scroller>
      )}
      {size > MAX_TEXT_BYTES && <p class="hint">{words.cut(formats.value.bytes(MAX_TEXT_BYTES))}</p>}
    </>
  )
}

function ImageContent({ document: { id, name } }: { document: Document }) {
  const words = documentsTexts.value.documents
  const { bytes, failure } = useBytes(id)
  const [url, setUrl] = useState<string | undefined>(undefined)
  const [isBroken, setBroken] = useState(false)
  const type = bytes && imageType(bytes)
  useEffect(() => {
    if (!bytes || !type) return
    const objectUrl = URL.createObjectURL(new Blob([bytes], { type }))
    setUrl(objectUrl)
    return () => URL.revokeObjectURL(objectUrl)
  }, [bytes, type])
  if (failure) return <FailureNotice failure={failure} />
  if (bytes && (!type || isBroken)) return <Notice title={words.notAnImage} />
  if (url === undefined) return <p class="preview-wait">{texts.value.loading}</p>
  return <img class="picture" src={url} alt={name} onError={() => setBroken(true)} />
}

function PdfContent({ document: { id } }: { document: Document }) {
  const words = documentsTexts.value.documents
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const openTab = async () => {
    setBusy(true)
    const ticket = await apiRequest<{ url: string }>('/session/ticket', {
      method: 'POST',
      body: { document_id: id },
    })
    setBusy(false)
    setFailure(ticket.failure)
    if (ticket.value) window.open(ticket.value.url, '_blank', 'noopener,noreferrer')
  }
  return (
    <Notice title={words.pdfText}>
      <button type="button" class="button main" disabled={isBusy} onClick={() => void openTab()}>
        {words.openPdf}
      </button>
      {failure && (
        <p class="refusal">{failure.status === 415 ? words.notAPdf : failureText(failure).title}</p>
      )}
    </Notice>
  )
}

/** Loads the bytes of a document. @param limit number of bytes to load; undefined: all */
function useBytes(id: number, limit?: number) {
  const [state, setState] = useState<{ bytes?: Uint8Array<ArrayBuffer>; failure?: Failure }>({})
  useEffect(() => {
    const request = new AbortController()
    const headers: Record<string, string> = limit === undefined ? {} : { Range: `bytes=0-${limit - 1}` }
    const load = async () => {
      const { value, failure } = await apiResponse(contentPath(id), { headers, signal: request.signal })
      if (failure) return { failure }
      const buffer = await value.arrayBuffer().catch(() => undefined) // the connection was lost
      if (!buffer) return { failure: { kind: 'offline', status: 0, detail: '' } as const }
      return { bytes: new Uint8Array(buffer, 0, Math.min(buffer.byteLength, limit ?? buffer.byteLength)) }
    }
    void load().then((loaded) => {
      if (!request.signal.aborted) setState(loaded)
    })
    return () => request.abort()
  }, [id, limit])
  return state
}
