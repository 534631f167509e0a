// Buttons of a document: view, download, delete.

import { useRef, useState } from 'preact/hooks'
import { type Document, documentPath } from '../../api/documents.ts'
import { apiRequest, type Failure } from '../../api/request.ts'
import { mayUse } from '../../api/session.ts'
import { Button } from '../../components/button.tsx'
import { icons, lineIcon } from '../../components/icons.tsx'
import { failureText } from '../../components/notice.tsx'
import { saveBlob } from '../../components/output/downloads.ts'
import { pageTexts } from '../../components/view.ts'
import { DOCUMENT } from '../../i18n/document.ts'
import { safeFileName } from '../../model/visible.ts'

type ActionState = 'idle' | 'busy' | Failure

const DELETE_ICON = lineIcon(<path d="M5 7h14M10 7V4.5h4V7m-7.5 0 .8 13h9.4l.8-13M10 11v5m4-5v5" />)

export function ViewButton({ isLarge, onClick }: { isLarge: boolean; onClick: () => void }) {
  const words = pageTexts(DOCUMENT)
  return (
    <Button class="button view-button" aria-pressed={isLarge} onClick={onClick}>
      {icons.eye}
      {words.view}
    </Button>
  )
}

/** Opens a PDF in its own tab. */
export function PdfButton({ id }: { id: number }) {
  const words = pageTexts(DOCUMENT)
  const [state, setState] = useState<ActionState>('idle')
  const openTab = async () => {
    setState('busy')
    const body = { document_id: id }
    const { value, failure } = await apiRequest<{ url: string }>('/session/ticket', { method: 'POST', body })
    setState(failure ?? 'idle')
    if (value) window.open(`.${value.url}`, '_blank', 'noopener,noreferrer')
  }
  return (
    <>
      <Button class="button view-button" disabled={state === 'busy'} onClick={() => void openTab()}>
        {icons.eye}
        {words.view}
      </Button>
      <Refusal state={state} text={({ status }) => (status === 415 ? words.preview.notAPdf : undefined)} />
    </>
  )
}

/** Downloads through a request, since a plain link cannot send the session's credentials. */
export function DownloadButton({ document, isOff }: { document: Document; isOff: boolean }) {
  const words = pageTexts(DOCUMENT)
  const [state, setState] = useState<ActionState>('idle')
  const download = async () => {
    setState('busy')
    const read = (response: Response) => response.blob()
    const { value, failure } = await apiRequest<Blob>(`${documentPath(document.id)}/content`, { read })
    if (value) saveBlob(new Blob([value], { type: 'application/octet-stream' }), safeFileName(document.name))
    setState(failure ?? 'idle')
  }
  const isBusy = state === 'busy'
  return (
    <>
      <Button class="button download-button" disabled={isOff || isBusy} onClick={() => void download()}>
        {icons.download}
        {isBusy ? words.downloading : words.download}
      </Button>
      <Refusal state={state} />
    </>
  )
}

/** Deletes after a question. Empty without the right. */
export function DeleteButton({ id, onDelete }: { id: number; onDelete: () => void }) {
  const words = pageTexts(DOCUMENT)
  const [isQuestion, setQuestion] = useState(false)
  const [state, setState] = useState<ActionState>('idle')
  const button = useRef<HTMLButtonElement>(null)
  if (!mayUse('documents:DELETE')) return null
  const remove = async () => {
    setState('busy')
    const { failure } = await apiRequest(documentPath(id), { method: 'DELETE' })
    if (!failure || failure.kind === 'not-found') return onDelete()
    setState(failure)
  }
  const cancel = () => {
    setQuestion(false)
    setState('idle')
    button.current?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class="plain delete-button gap-8"
        aria-expanded={isQuestion}
        onClick={() => setQuestion(true)}
      >
        {DELETE_ICON}
        {words.delete}
      </button>
      {isQuestion && (
        <div class="delete-question grid gap-10 rounded" role="alert">
          <p>{words.deleteQuestion}</p>
          <div class="buttons">
            <Button class="button danger" disabled={state === 'busy'} onClick={() => void remove()}>
              {words.delete}
            </Button>
            <Button onClick={cancel}>{words.cancel}</Button>
          </div>
          <Refusal state={state} />
        </div>
      )}
    </>
  )
}

function Refusal({ state, text }: { state: ActionState; text?: (failure: Failure) => string | undefined }) {
  if (typeof state === 'string') return null
  return (
    <p class="refusal" role="alert">
      {text?.(state) ?? failureText(state).title}
    </p>
  )
}
