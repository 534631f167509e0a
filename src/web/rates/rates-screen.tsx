// Screen of exchange rates and its views. `query`: the dollar, a converter, a history and all currencies. `closes`:
// months, quarters and years. `list`: a pasted list. `differential`: exchange differences. `certificate`: a conversion as
// one page of paper.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { serverTime } from '../api/clock.ts'
import type { Series } from '../api/responses.ts'
import { hasIndicators, session } from '../api/session.ts'
import {
  type DateChoice,
  type DayBounds,
  useDateChoice,
  useDayBounds,
} from '../components/dates/date-choice.ts'
import { lazyView } from '../components/lazy-view.tsx'
import { FailureNotice } from '../components/notice.tsx'
import { type ApiState, useApi } from '../components/use-api.ts'
import { setView, texts, view } from '../components/view.ts'
import { costaRicaDay } from '../model/days.ts'
import { NeedsSecret } from '../session/lazy-doors.ts'
import { Converter } from './converter.tsx'
import { Dollar } from './dollar.tsx'
import { History } from './trend/history.tsx'
import { Views } from './views.tsx'

const EMPTY_EVERY_MS = 5000
const SERIES_EVERY_MS = 600_000

const Closes = lazyView(() => import('./closes/closes.tsx'), 'Closes')
const ConvertList = lazyView(() => import('./list/convert-list.tsx'), 'ConvertList')
const Differential = lazyView(() => import('./differential/differential.tsx'), 'Differential')
const Certificate = lazyView(() => import('./certificate/certificate.tsx'), 'Certificate')
const CurrencyTable = lazyView(() => import('./currencies/currency-table.tsx'), 'CurrencyTable')
const IndicatorsCard = lazyView(() => import('./indicators/indicators-card.tsx'), 'IndicatorsCard')
const EmptyDatabase = lazyView(() => import('../status/empty-database.tsx'), 'EmptyDatabase')

export function RatesScreen() {
  const current = session.value
  if (current.state === 'in' && !current.key) return <NeedsSecret kind="key" />
  return <Rates />
}

function Rates() {
  const today = costaRicaDay(serverTime())
  const bounds = useDayBounds(today)
  const [isEmpty, setEmpty] = useState(false)
  const series = useApi<readonly Series[]>(
    '/api/v1/series?provider=bccr',
    isEmpty ? EMPTY_EVERY_MS : SERIES_EVERY_MS,
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
  return (
    <>
      <Title />
      <Views />
      <div class="rates">
        {view.value.ratesView === 'list' ? (
          <ConvertList series={series.value ?? []} bounds={bounds} />
        ) : view.value.ratesView === 'differential' ? (
          <Differential series={series.value ?? []} bounds={bounds} />
        ) : view.value.ratesView === 'certificate' ? (
          <Certificate series={series.value ?? []} />
        ) : view.value.ratesView === 'closes' ? (
          <Closes series={series.value ?? []} today={today} />
        ) : (
          <Query bounds={bounds} series={series} />
        )}
      </div>
    </>
  )
}

function Query(props: { bounds: DayBounds; series: ApiState<readonly Series[]> }) {
  const { bounds } = props
  const series = props.series.value ?? []
  const { on } = view.value
  const choice = useDayChoice(bounds)
  const dollarDay = choice.day
  const conversionDay = useDateChoice(on || dollarDay, bounds, (newDay) =>
    setView({ on: newDay === dollarDay ? '' : newDay }),
  )
  return (
    <>
      <Dollar choice={choice} />
      <Converter series={series} choice={conversionDay} />
      <History series={series} bounds={bounds} />
      <section
        class="card currencies relative"
        aria-labelledby="currencies"
        hidden={choice.error !== undefined}
      >
        <h2 id="currencies">{texts.value.below.currencies}</h2>
        <DeferredContent class="below">
          <CurrencyTable series={series} day={choice.error ? undefined : choice.day} />
        </DeferredContent>
      </section>
      {hasIndicators() && (
        <section class="card indicators" aria-labelledby="indicators">
          <h2 id="indicators">{texts.value.below.indicators}</h2>
          <DeferredContent class="below">
            <IndicatorsCard today={bounds.today} />
          </DeferredContent>
        </section>
      )}
    </>
  )
}

/** Day of the dollar. Today is no parameter of the link. */
function useDayChoice(bounds: DayBounds): DateChoice {
  const { today } = bounds
  return useDateChoice(view.value.day || today, bounds, (day) => setView({ day: day === today ? '' : day }))
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
