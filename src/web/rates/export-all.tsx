// Every stored value as a file. The browser fetches it by itself, with a URL that is good once, and writes it as it arrives.

import { useState } from 'preact/hooks'
import { icons } from '../parts/icons.tsx'
import { wordsOf } from '../parts/notice.tsx'
import { saveUrl } from '../parts/save.ts'
import { ask, type Failure } from '../server/ask.ts'
import { monthsTexts } from './months-texts.ts'

const FORMATS = ['csv', 'ndjson'] as const

export function ExportAll() {
  const words = monthsTexts.value.export
  const [state, setState] = useState<'idle' | 'asking' | 'started' | Failure>('idle')
  const keep = async (format: (typeof FORMATS)[number]) => {
    setState('asking')
    const ticket = await ask<{ url: string }>('/session/ticket', { method: 'POST', body: { export: format } })
    if (ticket.value) saveUrl(ticket.value.url, `cambista.${format}`)
    setState(ticket.failure ?? 'started')
  }
  return (
    <>
      <p class="quiet">{words.text}</p>
      <div class="buttons">
        {FORMATS.map((format) => (
          <button
            key={format}
            type="button"
            class="button"
            disabled={state === 'asking'}
            onClick={() => void keep(format)}
          >
            {icons.download}
            {words.file(format.toUpperCase())}
          </button>
        ))}
        <p role="status" class={typeof state === 'object' ? 'refusal' : 'quiet'}>
          {typeof state === 'object' ? wordsOf(state).title : state === 'started' && words.started}
        </p>
      </div>
    </>
  )
}
