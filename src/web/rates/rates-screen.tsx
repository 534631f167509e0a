// Screen of exchange rates: the dollar, a converter, a history, months, all currencies and the export.

import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { serverTime } from '../api/clock.ts'
import { type DayRates, readDayRates, type Series } from '../api/responses.ts'
import { session } from '../api/session.ts'
import { FailureNotice } from '../components/notice.tsx'
import { useApi } from '../components/use-api.ts'
import { setView, texts, view } from '../components/view.ts'
import { costaRicaDay, validateDay } from '../model/days.ts'
import type { KnownHoles } from '../model/holes.ts'
import { Converter } from './converter.tsx'
import { Currencies } from './currencies.tsx'
import { type DayChoice, Dollar, dayErrorText } from './dollar.tsx'
import { History } from './history.tsx'

const EMPTY_EVERY_MS = 5000
const SERIES_EVERY_MS = 600_000

/** Parts of the screen that are fetched when one of them is rendered. */
type LazyParts = {
  MonthEnds: FunctionComponent<{ series: readonly Series[]; today: string }>
  ExportAll: FunctionComponent
  EmptyDatabase: FunctionComponent<{ everyMs: number }>
  LeftOutNote: FunctionComponent<{ ids: readonly number[]; series: readonly Series[] }>
  MissingDaysNote: FunctionComponent<{ missing: KnownHoles }>
  NeedsSecret: FunctionComponent<{ kind: 'key' | 'token' }>
}

export function RatesScreen({ below }: { below: LazyParts }) {
  const current = session.value
  if (current.state === 'in' && !current.key) return <below.NeedsSecret kind="key" />
  return <Rates below={below} />
}

function Rates({
  below: { MonthEnds, ExportAll, EmptyDatabase, LeftOutNote, MissingDaysNote },
}: {
  below: LazyParts
}) {
  const today = costaRicaDay(serverTime())
  const choice = useDayChoice(today)
  const { on } = view.value
  const [isEmpty, setEmpty] = useState(false)
  const series = useApi<readonly Series[]>('/api/v1/series', isEmpty ? EMPTY_EVERY_MS : SERIES_EVERY_MS)
  const rates = useApi<DayRates>(
    choice.error ? undefined : `/api/v1/rates${on === '' ? '' : `?on=${on}`}`,
    undefined,
    readDayRates,
  )
  const isFilled = series.value?.some(({ first_data_date }) => first_data_date) ?? true
  if (isEmpty === isFilled) setEmpty(!isFilled)
  if (isEmpty) return <EmptyDatabase everyMs={EMPTY_EVERY_MS} />
  if (series.failure && !series.value) {
    return (
      <>
        <Title />
        <FailureNotice failure={series.failure} />
      </>
    )
  }
  const dayError = choice.error && dayErrorText(choice.error, choice.day, today)
  return (
    <div class="rates">
      <Title />
      {series.failure && series.value && <OfflineBanner />}
      <Dollar today={today} choice={choice} />
      <Converter series={series.value ?? []} dayError={dayError} />
      <History series={series.value ?? []} today={today} MissingDaysNote={MissingDaysNote} />
      <BelowSection name="months">
        <MonthEnds series={series.value ?? []} today={today} />
      </BelowSection>
      {!dayError && (
        <Currencies LeftOutNote={LeftOutNote} series={series.value ?? []} rates={rates} day={choice.day} />
      )}
      <BelowSection name="export">
        <ExportAll />
      </BelowSection>
    </div>
  )
}

/** Day of the view, or the rejected day in the field. */
function useDayChoice(today: string): DayChoice {
  const { on } = view.value
  const [input, setInput] = useState({ on, day: '', isRefused: false })
  const isCurrent = input.isRefused && input.on === on // no other link was opened since
  const day = isCurrent ? input.day : on || today
  const choose = (newDay: string) => {
    const isRefused = validateDay(newDay, today) !== undefined
    const next = isRefused || newDay === today ? '' : newDay
    setInput({ on: isRefused ? on : next, day: newDay, isRefused })
    if (!isRefused) setView({ on: next })
  }
  return { day, error: validateDay(day, today), choose }
}

/** Section below the first screen. Its title is rendered at once, so that a search finds it. */
function BelowSection({ name, children }: { name: 'months' | 'export'; children: ComponentChildren }) {
  return (
    <section class={`card ${name}`} aria-labelledby={name}>
      <h2 id={name}>{texts.value.below[name]}</h2>
      <DeferredContent class="below">{children}</DeferredContent>
    </section>
  )
}

/** Renders its children when they are scrolled into view or a key is pressed. The first screen does not wait for them. */
function DeferredContent(props: { class: string; children: ComponentChildren }) {
  const host = useRef<HTMLDivElement>(null)
  const [isRendered, setRendered] = useState(false)
  useEffect(() => {
    if (isRendered || !host.current) return
    const render = () => setRendered(true)
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) render()
    })
    observer.observe(host.current)
    addEventListener('keydown', render) // Tab skips what is not rendered
    return () => {
      observer.disconnect()
      removeEventListener('keydown', render)
    }
  }, [isRendered])
  return (
    <div ref={host} class={props.class}>
      {isRendered && props.children}
    </div>
  )
}

function Title() {
  return <h1 class="unseen">{texts.value.screens.rates}</h1>
}

/** Warns that the data are from an earlier response. */
function OfflineBanner() {
  const words = texts.value.failures
  return (
    <p class="banner" role="status">
      <strong>{words.offline}.</strong> {words.lastShown} {words.offlineText}
    </p>
  )
}
