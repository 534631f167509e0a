import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { source } from '../../i18n/table-texts.ts'
import type { CopiedRows } from '../../model/files/copy.ts'
import { Button } from '../button.tsx'
import { icons } from '../icons.tsx'
import { language, texts } from '../view.ts'

const COPIED_MS = 2000

/** Button that copies a text or a table, and reports it. @param label name of a button without children */
export function CopyButton(props: {
  class: string
  content: () => string | CopiedRows
  icon?: ComponentChildren
  label?: string
  isOff?: boolean
  children?: ComponentChildren
}) {
  const { copied, notCopied } = texts.value
  const [result, setResult] = useState<'copied' | 'failed' | undefined>(undefined)
  const copy = () =>
    encodeCopy(withSource(props.content()))
      .then(writeClipboard)
      .then(
        () => setResult('copied'),
        () => setResult('failed'), // no permission, or no connection
      )
      .then(() => setTimeout(() => setResult(undefined), COPIED_MS))
  const message = result && (result === 'copied' ? copied : notCopied)
  return (
    <Button
      class={props.class}
      title={props.label}
      aria-label={props.label}
      disabled={props.isOff}
      onClick={() => void copy()}
    >
      {result === 'copied' ? icons.done : (props.icon ?? icons.copy)}
      {props.children && (message ?? props.children)}
      <span class="unseen" role="status">
        {message}
      </span>
    </Button>
  )
}

/** Adds the source to a table of invented values. */
function withSource(content: string | CopiedRows): string | CopiedRows {
  const isTable = source.isInvented && typeof content !== 'string' && content.length > 1
  return isTable ? [...content, [texts.value.inventedSource]] : content
}

type Copy = { text: string; html?: string }

async function encodeCopy(content: string | CopiedRows): Promise<Copy> {
  if (typeof content === 'string') return { text: content }
  const { copyHtml, copyText } = await import('../../model/files/copy.ts')
  const isLocal = language.value === 'es'
  return { text: copyText(content, isLocal), html: copyHtml(content, isLocal) }
}

/** Writes a copy by an event of the browser, which accepts HTML as it is, or else its text alone. */
async function writeClipboard({ text, html }: Copy): Promise<void> {
  let isWritten = false
  const write = (event: ClipboardEvent) => {
    event.preventDefault()
    event.clipboardData?.setData('text/plain', text)
    if (html !== undefined) event.clipboardData?.setData('text/html', html)
    isWritten = true
  }
  document.addEventListener('copy', write, { once: true })
  const isAccepted = document.execCommand('copy') && isWritten
  document.removeEventListener('copy', write)
  if (!isAccepted) await navigator.clipboard.writeText(text)
}
