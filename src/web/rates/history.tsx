// How a pair moved: controls, chart, figures, table and files of one range of days. All that is shown is of one loaded
// history, whose pair and days are named with it, also while another one is on its way.

import type { FunctionComponent } from 'preact'
import { FailureNotice, Notice } from '../parts/notice.tsx'
import { Segmented } from '../parts/segmented.tsx'
import { look, texts, view } from '../parts/view.ts'
import type { Series } from '../server/answers.ts'
import { pairOf } from '../words/currencies.ts'
import { addDays } from '../words/days.ts'
import { SPANS, type Span } from '../words/fragment.ts'
import { rangeOf } from '../words/history.ts'
import { isAnyMissing, type MissingDays } from '../words/holes.ts'
import { ChartPanel } from './chart-panel.tsx'
import { HistoryFiles } from './history-files.tsx'
import { HistoryTable } from './history-table.tsx'
import { useHistory } from './loaded-history.ts'
import { StatisticsTable } from './statistics-table.tsx'

export function History(props: {
  series: readonly Series[]
  today: string
  MissingDaysNote: FunctionComponent<{ missing: MissingDays }>
}) {
  const { series, today, MissingDaysNote } = props
  const words = texts.value.history
  const { pair, table } = view.value
  const range = rangeOf(view.value, addDays(today, 1)) // what is published for tomorrow is there today
  const { loaded, failure, isLoading } = useHistory(series, range)
  const note = loaded && isAnyMissing(loaded.missing) && <MissingDaysNote missing={loaded.missing} />
  return (
    <section class="card history" aria-labelledby="history" aria-busy={isLoading}>
      <div class="card-head">
        <h2 id="history">{words.title}</h2>
        <div class="history-controls">
          <PairField series={series} />
          <SpanField />
        </div>
      </div>
      {failure && !loaded ? (
        <FailureNotice failure={failure} />
      ) : loaded && loaded.data.days.length === 0 ? (
        <Notice title={words.none}>
          <p>{words.noneText}</p>
          {note}
        </Notice>
      ) : (
        <>
          <ChartPanel loaded={loaded} />
          {note}
          <div class="history-foot">
            {loaded ? <StatisticsTable loaded={loaded} /> : <div class="statistics" />}
            <div class="history-tools">
              <RangeFields
                from={loaded?.data.days[0] ?? range.from}
                to={loaded?.data.days.at(-1) ?? range.to}
              />
              <HistoryFiles loaded={loaded} isOpen={table} />
            </div>
          </div>
          {loaded && (
            <HistoryTable key={`${pair} ${range.from} ${range.to}`} loaded={loaded} isOpen={table} />
          )}
        </>
      )}
    </section>
  )
}

function PairField({ series }: { series: readonly Series[] }) {
  const { pair } = view.value
  const pairs = new Set([pair, ...series.map(pairOf)])
  return (
    <select
      class="field pair"
      aria-label={texts.value.history.pair}
      value={pair}
      onChange={(event) => look({ pair: event.currentTarget.value })}
    >
      {[...pairs].map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  )
}

function SpanField() {
  const words = texts.value.history
  const { span, from } = view.value
  return (
    <Segmented<Span>
      name="span"
      label={words.span}
      value={from === '' ? span : undefined}
      choices={SPANS.map((value) => ({ value, label: words.spans[value], title: words.spanNames[value] }))}
      onChoose={(chosen) => look({ span: chosen, from: '', to: '' })}
    />
  )
}

/** The same range as by dragging, for keyboards, fingers, and days that are known. */
function RangeFields(shown: { from: string; to: string }) {
  const words = texts.value.history
  const choose = (from: string, to: string) => {
    if (from !== '' && to !== '' && from <= to) look({ from, to })
  }
  return (
    <div class="range">
      <label>
        <span>{words.from}</span>
        <input
          type="date"
          class="field"
          value={shown.from}
          max={shown.to}
          onChange={(event) => choose(event.currentTarget.value, shown.to)}
        />
      </label>
      <label>
        <span>{words.to}</span>
        <input
          type="date"
          class="field"
          value={shown.to}
          min={shown.from}
          onChange={(event) => choose(shown.from, event.currentTarget.value)}
        />
      </label>
      {view.value.from !== '' && (
        <button type="button" class="link" onClick={() => look({ from: '', to: '' })}>
          {words.zoomOut}
        </button>
      )}
    </div>
  )
}
