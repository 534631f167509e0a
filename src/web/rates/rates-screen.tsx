// Exchange rates: the dollar of a day, a converter, a history, and every currency.

import type { ComponentChildren, FunctionComponent } from 'preact'
import { useState } from 'preact/hooks'
import { useAnswer } from '../parts/answer.ts'
import { FailureNotice } from '../parts/notice.tsx'
import { texts, view } from '../parts/view.ts'
import { WhenSeen } from '../parts/when-seen.tsx'
import type { Rate, Series } from '../server/answers.ts'
import { now } from '../server/clock.ts'
import { session } from '../server/session.ts'
import { NeedsSecret } from '../session/add-secret.tsx'
import { todayAt } from '../words/days.ts'
import { Converter } from './converter.tsx'
import { Currencies } from './currencies.tsx'
import { Dollar } from './dollar.tsx'
import { History } from './history.tsx'

const EMPTY_EVERY_MS = 5000
const SERIES_EVERY_MS = 600_000

/** What lies below the first screen, from a file that is fetched when it is scrolled to. */
type Fetched = {
  MonthEnds: FunctionComponent<{ series: readonly Series[]; today: string }>
  ExportAll: FunctionComponent
}

export function RatesScreen({ below }: { below: Fetched }) {
  const current = session.value
  if (current.state === 'in' && !current.key) return <NeedsSecret what="key" />
  return <Rates below={below} />
}

function Rates({ below: { MonthEnds, ExportAll } }: { below: Fetched }) {
  const { on } = view.value
  const [isEmpty, setEmpty] = useState(false)
  const series = useAnswer<readonly Series[]>('/api/v1/series', isEmpty ? EMPTY_EVERY_MS : SERIES_EVERY_MS)
  const rates = useAnswer<readonly Rate[]>(`/api/v1/rates${on === '' ? '' : `?on=${on}`}`)
  const today = todayAt(now())
  const isFilled = series.value?.some(({ first_data_date }) => first_data_date) ?? true
  if (isEmpty === isFilled) setEmpty(!isFilled)
  if (isEmpty) return <EmptyBox />
  if (series.failure && !series.value) {
    return (
      <>
        <Title />
        <FailureNotice failure={series.failure} />
      </>
    )
  }
  return (
    <div class="rates">
      <Title />
      {series.failure && series.value && <Stale />}
      <Dollar today={today} />
      <Converter series={series.value ?? []} />
      <History series={series.value ?? []} today={today} />
      <Below name="months">
        <MonthEnds series={series.value ?? []} today={today} />
      </Below>
      <Currencies series={series.value ?? []} rates={rates} day={on || today} />
      <Below name="export">
        <ExportAll />
      </Below>
    </div>
  )
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
      <strong>{words.offline}.</strong> {words.offlineText}
    </p>
  )
}

function EmptyBox() {
  const words = texts.value.empty
  return (
    <div class="door">
      <section class="card door-card">
        <h1>{words.title}</h1>
        <p>{words.text}</p>
        <pre class="command">cambista sync</pre>
        <p class="quiet" role="status">
          {words.after}
        </p>
      </section>
    </div>
  )
}
