import { useState } from 'preact/hooks'
import { serverTime } from '../api/clock.ts'
import { type Document, documentPath } from '../api/documents.ts'
import { apiRequest, type Failure } from '../api/request.ts'
import { mayUse } from '../api/session.ts'
import { Button } from '../components/button.tsx'
import { lineIcon } from '../components/icons.tsx'
import { failureText } from '../components/notice.tsx'
import { pageTexts } from '../components/view.ts'
import { DOCUMENTS } from '../i18n/documents-texts.ts'
import { canRetry } from '../model/documents/document-queue.ts'
import { visibleText } from '../model/visible.ts'
import { openButtonId } from './panel.tsx'

export type Replace = (document: Document) => void

const RETRY_ICON = lineIcon(<path d="M19 12a7 7 0 1 1-2.2-5.1M19 4v4.5h-4.5" />)

/** Button that puts a document back into the queue. Empty without the right, and in other states. */
export function RetryButton(props: { document: Document; isMain?: boolean; onChange: Replace }) {
  const { document: doc, isMain } = props
  const words = pageTexts(DOCUMENTS).documents
  const [state, setState] = useState<'idle' | 'busy' | Failure>('idle')
  if (!canRetry(doc, serverTime()) || !mayUse('documents:RETRY')) return null
  const retry = async () => {
    setState('busy')
    const path = `${documentPath(doc.id)}/retry`
    const { value, failure } = await apiRequest<{ document: Document }>(path, { method: 'POST' })
    setState(failure ?? 'idle')
    if (!value) return
    // The button disappears, and the focus stays in the row or the panel.
    if (isMain) document.getElementById('panel-title')?.focus()
    else document.getElementById(openButtonId(doc.id))?.focus()
    props.onChange(value.document)
  }
  return (
    <>
      <Button
        class={isMain ? 'button main' : 'button'}
        aria-label={words.retryNamed(visibleText(doc.name))}
        disabled={state === 'busy'}
        onClick={() => void retry()}
      >
        {RETRY_ICON}
        {words.retry}
      </Button>
      {typeof state === 'object' && (
        <span class="refusal" role="alert">
          {state.status === 409 ? words.busy : failureText(state).title}
        </span>
      )}
    </>
  )
}
