// Exchange rates: the dollar of a day, a converter, a history, and every currency.

import type { ComponentChildren, FunctionComponent } from 'preact'
import { useState } from 'preact/hooks'
import { useAnswer } from '../parts/answer.ts'
import { FailureNotice } from '../parts/notice.tsx'
import { look, texts, view } from '../parts/view.ts'
import { WhenSeen } from '../parts/when-seen.tsx'
import { type DayRates, readDayRates, type Series } from '../server/answers.ts'
import { now } from '../server/clock.ts'
import { session } from '../server/session.ts'
import { todayAt, validateDay } from '../words/days.ts'
import type { MissingDays } from '../words/holes.ts'
import { Converter } from './converter.tsx'
import { Currencies } from './currencies.tsx'
import { Dollar, faultText, type ShownDay } from './dollar.tsx'
import { History } from './history.tsx'

const EMPTY_EVERY_MS = 5000
const SERIES_EVERY_MS = 600_000

/** Parts of the screen in a file that is fetched when one of them is shown. */
type Fetched = {
  MonthEnds: FunctionComponent<{ series: readonly Series[]; today: string }>
  ExportAll: FunctionComponent
  EmptyBox: FunctionComponent<{ everyMs: number }>
  LeftOut: FunctionComponent<{ ids: readonly number[]; series: readonly Series[] }>
  MissingDaysNote: FunctionComponent<{ missing: MissingDays }>
  NeedsSecret: FunctionComponent<{ what: 'key' | 'token' }>
}

export function RatesScreen({ below }: { below: Fetched }) {
  const current = session.value
  if (current.state === 'in' && !current.key) return <below.NeedsSecret what="key" />
  return <Rates below={below} />
}

function Rates({ below: { MonthEnds, ExportAll, EmptyBox, LeftOut, MissingDaysNote } }: { below: Fetched }) {
  const today = todayAt(now())
  const shown = useShownDay(today)
  const { on } = view.value
  const [isEmpty, setEmpty] = useState(false)
  const series = useAnswer<readonly Series[]>('/api/v1/series', isEmpty ? EMPTY_EVERY_MS : SERIES_EVERY_MS)
  const rates = useAnswer<DayRates>(
    shown.fault ? undefined : `/api/v1/rates${on === '' ? '' : `?on=${on}`}`,
    undefined,
    readDayRates,
  )
  const isFilled = series.value?.some(({ first_data_date }) => first_data_date) ?? true
  if (isEmpty === isFilled) setEmpty(!isFilled)
  if (isEmpty) return <EmptyBox everyMs={EMPTY_EVERY_MS} />
  if (series.failure && !series.value) {
    return (
      <>
        <Title />
        <FailureNotice failure={series.failure} />
      </>
    )
  }
  const refused = shown.fault && faultText(shown.fault, shown.day, today)
  return (
    <div class="rates">
      <Title />
      {series.failure && series.value && <Stale />}
      <Dollar today={today} shown={shown} />
      <Converter series={series.value ?? []} refused={refused} />
      <History series={series.value ?? []} today={today} MissingDaysNote={MissingDaysNote} />
      <Below name="months">
        <MonthEnds series={series.value ?? []} today={today} />
      </Below>
      {!refused && <Currencies LeftOut={LeftOut} series={series.value ?? []} rates={rates} day={shown.day} />}
      <Below name="export">
        <ExportAll />
      </Below>
    </div>
  )
}

/** The day that is asked for, or the refused one that stands in the field. */
function useShownDay(today: string): ShownDay {
  const { on } = view.value
  const [typed, setTyped] = useState({ on, day: '', isRefused: false })
  const isTyped = typed.isRefused && typed.on === on // another link was not opened since
  const day = isTyped ? typed.day : on || today
  const choose = (to: string) => {
    const isRefused = validateDay(to, today) !== undefined
    const next = isRefused || to === today ? '' : to
    setTyped({ on: isRefused ? on : next, day: to, isRefused })
    if (!isRefused) look({ on: next })
  }
  return { day, fault: validateDay(day, today), choose }
}

/** What the first screen does not show: its title is there at once, to be found. */
function Below({ name, children }: { name: 'months' | 'export'; children: ComponentChildren }) {
  return (
    <section class={`card ${name}`} aria-labelledby={name}>
      <h2 id={name}>{texts.value.below[name]}</h2>
      <WhenSeen class="below">{children}</WhenSeen>
    </section>
  )
}

function Title() {
  return <h1 class="unseen">{texts.value.screens.rates}</h1>
}

/** What is there stays while the server cannot be asked, and the page says so. */
function Stale() {
  const words = texts.value.failures
  return (
    <p class="banner" role="status">
      <strong>{words.offline}.</strong> {words.lastShown} {words.offlineText}
    </p>
  )
}
