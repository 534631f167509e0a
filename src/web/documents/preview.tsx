// One document, shown as far as it can do no harm: text as text, images of five formats, a PDF in its own tab.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { icons } from '../parts/icons.tsx'
import { FailureNotice, Notice, wordsOf } from '../parts/notice.tsx'
import { Scroller } from '../parts/scroller.tsx'
import { formats, texts } from '../parts/view.ts'
import { ask, askBytes, type Failure } from '../server/ask.ts'
import { contentPath, type Document } from '../server/documents.ts'
import { HEAD_BYTES, IMAGE_BYTES, imageTypeOf, showingOf, TEXT_BYTES, textIn } from '../words/contents.ts'
import { visibleText } from '../words/visible.ts'
import { agentName, companyName, Download, type Names } from './document-list.tsx'
import { documentsTexts } from './texts.ts'

export function Preview({
  document: shown,
  names,
  onClose,
}: {
  document: Document
  names: Names
  onClose: () => void
}) {
  const words = documentsTexts.value.documents
  const { bytes, instant } = formats.value
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="card preview" aria-labelledby="preview" onClose={onClose}>
      <div class="card-head">
        <h2 id="preview">
          <bdi>{visibleText(shown.name)}</bdi>
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
      <Content document={shown} />
      <dl class="facts">
        <Fact name={words.type}>{shown.mimetype}</Fact>
        <Fact name={words.size}>{bytes(shown.size)}</Fact>
        <Fact name={words.time}>{instant(shown.created_at)}</Fact>
        <Fact name={words.company}>{companyName(shown, names)}</Fact>
        <Fact name={words.agent}>{agentName(shown, names)}</Fact>
        {shown.created_by !== null && <Fact name={words.sender}>{visibleText(shown.created_by)}</Fact>}
        <Fact name={words.hash}>
          <code>{shown.sha256}</code>
        </Fact>
      </dl>
      <div class="buttons">
        <Download document={shown} isOff={shown.content === 'lost'} isLong />
      </div>
    </dialog>
  )
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Content({ document: shown }: { document: Document }) {
  const words = documentsTexts.value.documents
  if (shown.content === 'lost') return <Notice title={words.lost} />
  switch (showingOf(shown.mimetype)) {
    case 'text':
      return <TextContent document={shown} />
    case 'image':
      return shown.size > IMAGE_BYTES ? <Notice title={words.tooLarge} /> : <ImageContent document={shown} />
    case 'pdf':
      return <PdfContent document={shown} />
    case 'nothing':
      return <Notice title={words.notShown} />
  }
}

function TextContent({ document: { id, size } }: { document: Document }) {
  const words = documentsTexts.value.documents
  const { bytes, failure } = useBytes(id, TEXT_BYTES)
  if (failure) return <FailureNotice failure={failure} />
  if (!bytes) return <p class="preview-wait">{texts.value.loading}</p>
  const text = textIn(bytes)
  return (
    <>
      {text === '' ? (
        <Notice title={words.emptyText} />
      ) : (
        <Scroller class="text" label={words.preview}>
          <pre>{text}</pre>
        </Scroller>
      )}
      {size > TEXT_BYTES && <p class="hint">{words.cut(formats.value.bytes(TEXT_BYTES))}</p>}
    </>
  )
}

function ImageContent({ document: { id, name } }: { document: Document }) {
  const words = documentsTexts.value.documents
  const { bytes, failure } = useBytes(id)
  const [url, setUrl] = useState<string | undefined>(undefined)
  const [isBroken, setBroken] = useState(false)
  const type = bytes && imageTypeOf(bytes.subarray(0, HEAD_BYTES))
  useEffect(() => {
    if (!bytes || !type) return
    const made = URL.createObjectURL(new Blob([bytes], { type }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
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
    const ticket = await ask<{ url: string }>('/session/ticket', {
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
      {failure && <p class="refusal">{failure.status === 415 ? words.notAPdf : wordsOf(failure).title}</p>}
    </Notice>
  )
}

/** The bytes of a document, all or the first of them. */
function useBytes(id: number, most?: number) {
  const [state, setState] = useState<{ bytes?: Uint8Array<ArrayBuffer>; failure?: Failure }>({})
  useEffect(() => {
    const stop = new AbortController()
    const headers: Record<string, string> = most === undefined ? {} : { Range: `bytes=0-${most - 1}` }
    const load = async () => {
      const { value, failure } = await askBytes(contentPath(id), { headers, signal: stop.signal })
      if (failure) return { failure }
      const buffer = await value.arrayBuffer().catch(() => undefined)
      if (!buffer) return { failure: { kind: 'offline', status: 0, detail: '' } as const }
      return { bytes: new Uint8Array(buffer, 0, Math.min(buffer.byteLength, most ?? buffer.byteLength)) }
    }
    void load().then((loaded) => {
      if (!stop.signal.aborted) setState(loaded)
    })
    return () => stop.abort()
  }, [id, most])
  return state
}
