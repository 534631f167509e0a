import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import { icons } from '../icons.tsx'
import { texts } from '../view.ts'

const COPIED_MS = 2000

/** Button that copies a text, and reports it. @param label name of a button without children */
export function CopyButton(props: {
  class: string
  text: () => string
  icon?: ComponentChildren
  label?: string
  isOff?: boolean
  children?: ComponentChildren
}) {
  const { copied, notCopied } = texts.value
  const [result, setResult] = useState<'copied' | 'failed' | undefined>(undefined)
  const copy = async () => {
    const isCopied = await writeClipboard(props.text())
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

async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false // no permission; the button reports it
  }
}
