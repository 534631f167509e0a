// Button of a menu with the three files of a table: a workbook and two forms of CSV. The menu is fetched when it opens.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { icons } from '../icons.tsx'
import { lazyView } from '../lazy-view.tsx'
import { texts } from '../view.ts'
import type { DownloadSource } from './download-list.tsx'

const DownloadList = lazyView(() => import('./download-list.tsx'), 'DownloadList')

/**
 * @param props.table undefined until its data are loaded. The button stands there from the start: one that appears
 *   later would move its neighbours under the pointer.
 */
export function DownloadMenu({
  table,
  name,
}: { [key in keyof DownloadSource]: DownloadSource[key] | undefined }) {
  const words = texts.value.download
  const [open, setOpen] = useState<'first' | 'last' | undefined>(undefined)
  const [state, setState] = useState<'idle' | 'busy' | 'failed'>('idle')
  const host = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  useEffect(() => {
    if (!open) return
    const onPress = ({ target }: Event) => {
      if (target instanceof Node && !host.current?.contains(target)) setOpen(undefined)
    }
    document.addEventListener('pointerdown', onPress)
    return () => document.removeEventListener('pointerdown', onPress)
  }, [open])
  const close = (hasFocus: boolean) => {
    setOpen(undefined)
    if (hasFocus) button.current?.focus()
  }
  const save = (saving: Promise<void>) => {
    setState('busy')
    saving.then(
      () => setState('idle'),
      () => setState('failed'),
    )
  }
  return (
    <div ref={host} class="download relative">
      <button
        ref={button}
        type="button"
        id={id}
        class="button"
        aria-haspopup="menu"
        aria-expanded={open !== undefined}
        aria-controls={open && `${id}-menu`}
        disabled={!table}
        onClick={() => setOpen(open ? undefined : 'first')}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
          event.preventDefault()
          setOpen(event.key === 'ArrowDown' ? 'first' : 'last')
        }}
      >
        {icons.download}
        {state === 'busy' ? words.preparing : words.button}
        {icons.down}
      </button>
      {open && table && (
        <DownloadList
          table={table}
          name={name ?? ''}
          id={`${id}-menu`}
          labelledBy={id}
          first={open}
          onClose={close}
          onSave={save}
        />
      )}
      <span role="status" class={state === 'failed' ? 'refusal' : 'unseen'}>
        {state === 'failed' ? words.failed : state === 'busy' && words.preparing}
      </span>
    </div>
  )
}
