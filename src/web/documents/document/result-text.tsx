// Result of a worker: its JSON as text, loaded when it is opened.

import { useState } from 'preact/hooks'
import { documentPath } from '../../api/documents.ts'
import { apiRequest, type Failure } from '../../api/request.ts'
import { FailureNotice } from '../../components/notice.tsx'
import { Scroller } from '../../components/scroller.tsx'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { DOCUMENT } from '../../i18n/document.ts'

/** @param size bytes of the result of an event */
export function ResultText({ id, size }: { id: number; size: number }) {
  const [state, setState] = useState<{ text?: string; failure?: Failure | undefined }>()
  const label = pageTexts(DOCUMENT).history.result(formats.value.bytes(size))
  const load = async () => {
    setState({})
    const read = (response: Response) => response.text()
    const { value: text = '', failure } = await apiRequest<string>(`${documentPath(id)}/result`, { read })
    setState({ text, failure })
  }
  const onToggle = (event: { currentTarget: HTMLDetailsElement }) => {
    if (event.currentTarget.open && state === undefined) void load()
  }
  return (
    <details class="worker-result" onToggle={onToggle}>
      <summary class="link tiny">{label}</summary>
      {state?.failure && <FailureNotice failure={state.failure} />}
      {state !== undefined && !state.failure && (
        <Scroller class="result-text" label={label}>
          <pre>{state.text ?? texts.value.loading}</pre>
        </Scroller>
      )}
    </details>
  )
}
