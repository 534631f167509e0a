// Head and foot of the printed page: the organization, the time of printing, and the address of the view.

import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { serverTime } from '../../api/clock.ts'
import { session } from '../../api/session.ts'
import { encodeFragment } from '../../model/fragment.ts'
import { visibleText } from '../../model/visible.ts'
import { icons } from '../icons.tsx'
import { formats, texts, view } from '../view.ts'

/** True while a view is made ready for paper: its tables draw all rows. */
export const isPrinting = signal(false)

export function Letterhead({ children }: { children: ComponentChildren }) {
  const words = texts.value.paper
  const [at, setTime] = useState(serverTime)
  useEffect(() => {
    const onPrint = () => setTime(serverTime())
    addEventListener('beforeprint', onPrint)
    return () => removeEventListener('beforeprint', onPrint)
  }, [])
  const current = session.value
  const { organization, person } = current.state === 'in' ? current : {}
  const facts = [organization?.tax_id, person].flatMap((fact) => (fact ? [visibleText(fact)] : []))
  const [day = '', time = ''] = formats.value.instant(at).split(', ')
  return (
    <>
      <div class="letterhead printed-only">
        {icons.mark}
        <p>
          <strong>{visibleText(organization?.name ?? 'cambista')}</strong>
          {facts.length > 0 && <small>{facts.join(' · ')}</small>}
        </p>
        <p class="letterhead-time">{words.printed(day, time)}</p>
      </div>
      {children}
      <p class="letterhead-foot printed-only">
        {location.origin + location.pathname + encodeFragment(view.value)}
      </p>
    </>
  )
}

/**
 * Prints the view when its tables have all rows and nothing in it is loading. Waits for 10 s at most; the event
 * `beforeprint` cannot wait.
 */
export async function printView(): Promise<void> {
  isPrinting.value = true
  addEventListener('afterprint', () => (isPrinting.value = false), { once: true })
  const isBusy = () => document.querySelector('main :is([aria-busy="true"], .loading)') !== null
  for (let turn = 0; turn < 100 && (turn === 0 || isBusy()); turn++)
    await new Promise((resolve) => setTimeout(resolve, 100))
  print()
}
