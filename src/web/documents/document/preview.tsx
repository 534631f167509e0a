// Previews a document, which may be hostile: text as text, images of five formats, a PDF in its own tab.

import { useEffect, useState } from 'preact/hooks'
import { type Document, documentPath } from '../../api/documents.ts'
import { apiRequest, type Failure } from '../../api/request.ts'
import { FailureNotice, Notice } from '../../components/notice.tsx'
import { Scroller } from '../../components/scroller.tsx'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { DOCUMENT } from '../../i18n/document.ts'
import {
  decodePreview,
  imageType,
  MAX_IMAGE_BYTES,
  MAX_TEXT_BYTES,
  previewKind,
} from '../../model/documents/media-types.ts'

/** @param isLarge true if the whole text or image is shown */
export function Preview({ document: doc, isLarge }: { document: Document; isLarge: boolean }) {
  return (
    <div class={isLarge ? 'preview large' : 'preview'}>
      <Content document={doc} />
    </div>
  )
}

function Content({ document: doc }: { document: Document }) {
  const words = pageTexts(DOCUMENT).preview
  switch (previewKind(doc.mimetype)) {
    case 'text':
      return <TextContent document={doc} />
    case 'image':
      return doc.size > MAX_IMAGE_BYTES ? <Notice title={words.tooLarge} /> : <ImageContent document={doc} />
    case 'pdf':
      return <Notice title={words.pdfText} />
    case 'nothing':
      return <Notice title={words.notShown} />
  }
}

function TextContent({ document: { id, size } }: { document: Document }) {
  const words = pageTexts(DOCUMENT).preview
  const { bytes, failure } = useBytes(id, MAX_TEXT_BYTES)
  if (failure) return <FailureNotice failure={failure} />
  if (!bytes) return <p class="preview-wait quiet">{texts.value.loading}</p>
  const text = decodePreview(bytes, size > bytes.length)
  return (
    <>
      {text === '' ? (
        <Notice title={words.emptyText} />
      ) : (
        <Scroller class="text" label={pageTexts(DOCUMENT).view}>
          <pre>{text}</pre>
        </Scroller>
      )}
      {size > MAX_TEXT_BYTES && <p class="hint">{words.cut(formats.value.bytes(MAX_TEXT_BYTES))}</p>}
    </>
  )
}

function ImageContent({ document: { id, name } }: { document: Document }) {
  const words = pageTexts(DOCUMENT).preview
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
  if (url === undefined) return <p class="preview-wait quiet">{texts.value.loading}</p>
  return <img class="picture" src={url} alt={name} onError={() => setBroken(true)} />
}

/** Loads the bytes of a document. @param limit number of bytes to load; undefined: all */
function useBytes(id: number, limit?: number) {
  const [state, setState] = useState<{ bytes?: Uint8Array<ArrayBuffer>; failure?: Failure }>({})
  useEffect(() => {
    const request = new AbortController()
    const { signal } = request
    const headers: Record<string, string> = limit === undefined ? {} : { Range: `bytes=0-${limit - 1}` }
    const read = async (response: Response) => new Uint8Array(await response.arrayBuffer()).subarray(0, limit)
    const path = `${documentPath(id)}/content`
    void apiRequest<Uint8Array<ArrayBuffer>>(path, { headers, signal, read }).then(({ value, failure }) => {
      if (!signal.aborted) setState(failure ? { failure } : { bytes: value })
    })
    return () => request.abort()
  }, [id, limit])
  return state
}
