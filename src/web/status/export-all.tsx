// Exports every stored value. The browser downloads a one-time URL, so the data never pass through the page.

import { useState } from 'preact/hooks'
import { apiRequest, type Failure } from '../api/request.ts'
import { Button } from '../components/button.tsx'
import { icons } from '../components/icons.tsx'
import { failureText } from '../components/notice.tsx'
import { saveUrl } from '../components/output/downloads.ts'
import { pageTexts } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'

const FORMATS = ['csv', 'ndjson'] as const

export function ExportAll() {
  const words = pageTexts(STATUS).export
  const [state, setState] = useState<'idle' | 'busy' | 'started' | Failure>('idle')
  const startExport = async (format: (typeof FORMATS)[number]) => {
    setState('busy')
    const ticket = await apiRequest<{ url: string }>('/session/ticket', {
      method: 'POST',
      body: { export: format },
    })
    if (ticket.value) saveUrl(ticket.value.url, `cambista.${format}`)
    setState(ticket.failure ?? 'started')
  }
  return (
    <>
      <p class="quiet">{words.text}</p>
      <div class="buttons">
        {FORMATS.map((format) => (
          <Button key={format} disabled={state === 'busy'} onClick={() => void startExport(format)}>
            {icons.download}
            {words.file(format.toUpperCase())}
          </Button>
        ))}
        <p role="status" class={typeof state === 'object' ? 'refusal' : 'quiet'}>
          {typeof state === 'object' ? failureText(state).title : state === 'started' && words.started}
        </p>
      </div>
    </>
  )
}
