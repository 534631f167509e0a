// Panel beside the list. On narrow screens it is a modal dialog over the list. Opening it makes a history entry, so that
// the back button closes it.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { IconButton } from '../components/icon-button.tsx'
import { icons } from '../components/icons.tsx'
import { setView, texts, view } from '../components/view.ts'
import { encodeFragment } from '../model/fragment.ts'

type PanelView = { document: number; send: boolean }

const CLOSED: PanelView = { document: 0, send: false }
const narrow = matchMedia('(max-width: 1099px)')

export function openPanel(change: Partial<PanelView>): void {
  const { document, send } = view.value
  const isOpen = document > 0 || send
  const next = { ...view.value, ...CLOSED, ...change }
  if (!isOpen) history.pushState({ isPanel: true }, '', encodeFragment(next))
  setView(next)
}

/** Goes back to the entry before the panel, with the filters of now. */
export function closePanel(): void {
  const next = { ...view.value, ...CLOSED }
  if ((history.state as { isPanel?: boolean } | null)?.isPanel) {
    addEventListener('popstate', () => setView(next), { once: true })
    history.back()
  } else setView(next)
}

/** Id of the button of a row, to which the focus returns. */
export function openButtonId(id: number): string {
  return `document-${id}`
}

/** @param content changes with the content, whose title then receives the focus */
export function Panel(props: {
  isOpen: boolean
  content: number
  title: ComponentChildren
  subtitle: string
  children: ComponentChildren
}) {
  const { isOpen, content } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useRef<HTMLHeadingElement>(null)
  const ownCloses = useRef(0) // their events come later, when the panel may be open again
  const [isModal, setModal] = useState(narrow.matches)
  useEffect(() => {
    const update = () => setModal(narrow.matches)
    narrow.addEventListener('change', update)
    return () => narrow.removeEventListener('change', update)
  }, [])
  useEffect(() => {
    const { current } = dialog
    if (!current) return
    if (current.open) {
      ownCloses.current += 1
      current.close()
    }
    if (!isOpen) return
    if (isModal) current.showModal()
    else current.show()
    title.current?.focus({ preventScroll: !isModal })
  }, [isOpen, isModal, content])
  return (
    <dialog
      ref={dialog}
      class="card panel full breaks"
      aria-labelledby={isOpen ? 'panel-title' : undefined}
      onCancel={(event) => {
        event.preventDefault()
        closePanel()
      }}
      // The browser may close it without a cancel event.
      onClose={() => {
        if (ownCloses.current > 0) ownCloses.current -= 1
        else closePanel()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isModal) return
        event.preventDefault()
        closePanel()
      }}
    >
      <div class="panel-head flex gap-8">
        <div>
          <h2 ref={title} id={isOpen ? 'panel-title' : undefined} tabIndex={-1}>
            {props.title}
          </h2>
          {props.subtitle && <p class="quiet tiny">{props.subtitle}</p>}
        </div>
        <IconButton label={texts.value.close} onClick={closePanel}>
          {icons.close}
        </IconButton>
      </div>
      {props.children}
    </dialog>
  )
}
