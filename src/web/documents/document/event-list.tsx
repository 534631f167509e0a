// History of a document, newest first.

import { useState } from 'preact/hooks'
import { type DocumentEvent, documentPath } from '../../api/documents.ts'
import { apiRequest, type Failure } from '../../api/request.ts'
import { FailureNotice } from '../../components/notice.tsx'
import { Scroller } from '../../components/scroller.tsx'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { DOCUMENT } from '../../i18n/document.ts'
import { visibleText } from '../../model/visible.ts'
import { useChanging } from './use-changing.ts'

/** @param note of the document, shown above @param changed reads the events again when it changes */
export function EventList(props: {
  id: number
  note: string | null
  changed: string
  timeText: (instant: string) => string
}) {
  const words = pageTexts(DOCUMENT).history
  const path = `${documentPath(props.id)}/events`
  const { value, failure } = useChanging<{ events: readonly DocumentEvent[] }>(path, props.changed)
  const events = value?.events
  const outcomes = events?.filter(
    ({ event, via }) => (event === 'done' || event === 'failed') && via !== 'server',
  )
  const lastResult = outcomes?.at(-1) // an outcome without a result has dropped the result of the one before
  return (
    <section class="events" aria-labelledby="events">
      <h3 id="events">{words.title}</h3>
      {failure && !events && <FailureNotice failure={failure} />}
      {!failure && !events && <p class="quiet">{texts.value.loading}</p>}
      <ol>
        {events?.toReversed().map((event, index) => (
          <li key={events.length - index} class={event.event}>
            <p>{eventText(event)}</p>
            <p class="quiet tiny">
              <time dateTime={event.at} title={formats.value.instant(event.at)}>
                {props.timeText(event.at)}
              </time>
              {actorTexts(event).map((text) => ` · ${text}`)}
            </p>
            {event.note && event.note !== props.note && event.via !== 'server' && (
              <p class="quiet tiny">{visibleText(event.note)}</p>
            )}
            {event === lastResult && event.result && <ResultText id={props.id} size={event.result.size} />}
          </li>
        ))}
      </ol>
    </section>
  )
}

function eventText({ event, via, attempt = 0 }: DocumentEvent): string {
  const words = pageTexts(DOCUMENT).history
  return event === 'failed' && via === 'server' ? words.abandoned(attempt) : words[event]
}

function actorTexts({ event, by, via, person, attempt }: DocumentEvent): string[] {
  const words = pageTexts(DOCUMENT).history
  const isCreation = event === 'created'
  const actor = via === 'server' && !isCreation ? words.server : visibleText(person ?? by ?? '')
  const name = isCreation && actor !== '' ? words.sentBy(actor) : actor
  const isOutcome = event === 'failed' && via !== 'server'
  return [
    name,
    attempt !== undefined && (isOutcome || event === 'claimed') ? words.attempt(attempt) : '',
  ].filter(Boolean)
}

/** @param size bytes of the result of an event */
function ResultText({ id, size }: { id: number; size: number }) {
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
