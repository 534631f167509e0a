import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type CopiedRows, copyHtml, copyText } from '../../model/files/copy.ts'
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
  const copy = async () => {
    const isCopied = await writeClipboard(props.content())
    setResult(isCopied ? 'copied' : 'failed')
    setTimeout(() => setResult(undefined), COPIED_MS)
  }
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

/** Writes texts as text alone, and tables as HTML too. Only an event of the browser accepts HTML as it is. */
async function writeClipboard(content: string | CopiedRows): Promise<boolean> {
  const isLocal = language.value === 'es'
  const text = typeof content === 'string' ? content : copyText(content, isLocal)
  let isWritten = false
  const write = (event: ClipboardEvent) => {
    event.preventDefault()
    event.clipboardData?.setData('text/plain', text)
    if (typeof content !== 'string') event.clipboardData?.setData('text/html', copyHtml(content, isLocal))
    isWritten = true
  }
  document.addEventListener('copy', write, { once: true })
  try {
    if (!document.execCommand('copy') || !isWritten) await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false // no permission; the button reports it
  } finally {
    document.removeEventListener('copy', write)
  }
}
