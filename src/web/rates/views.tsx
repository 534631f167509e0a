// Links to the views of exchange rates, and the tools of each view.

import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { icons } from '../components/icons.tsx'
import { CopyButton } from '../components/output/copy-button.tsx'
import { printView } from '../components/output/letterhead.tsx'
import { texts, view } from '../components/view.ts'
import { encodeFragment, RATES_VIEWS } from '../model/fragment.ts'

export function Views() {
  const words = texts.value.views
  const list = useRef<HTMLElement>(null)
  const { ratesView } = view.value
  useEffect(() => {
    const current = list.current?.querySelector<HTMLElement>('[aria-current]')
    // Scrolls the row alone; scrollIntoView would move the page too.
    if (list.current && current) list.current.scrollLeft = current.offsetLeft - list.current.offsetLeft - 40
  }, [ratesView])
  return (
    <div class="spread views">
      <nav ref={list} class="view-links flex gap-4 shrink" aria-label={words.label}>
        {RATES_VIEWS.map((one) => (
          <a
            key={one}
            href={encodeFragment({ ...view.value, ratesView: one })}
            aria-current={one === ratesView ? 'page' : undefined}
          >
            {words[one]}
          </a>
        ))}
      </nav>
      <div class={ratesView === 'certificate' ? 'view-tools flex absent' : 'view-tools flex'}>
        <CopyButton
          class="plain tool gap-8"
          icon={icons.link}
          content={() => location.origin + location.pathname + encodeFragment(view.value)}
        >
          {words.copyLink}
        </CopyButton>
        <Button class="plain tool gap-8" onClick={() => void printView()}>
          {icons.print}
          {words.print}
        </Button>
      </div>
    </div>
  )
}
