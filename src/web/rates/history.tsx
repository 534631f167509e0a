// History of a pair: controls, chart, figures, table and files of a range of days. While another history loads, every
// part shows the pair and days of the previous one.

import type { FunctionComponent } from 'preact'
import type { Series } from '../api/responses.ts'
import { FailureNotice, Notice } from '../components/notice.tsx'
import { SegmentedControl } from '../components/segmented-control.tsx'
import { setView, texts, view } from '../components/view.ts'
import { pairCode } from '../model/currencies.ts'
import { addDays } from '../model/days.ts'
import { SPANS, type Span } from '../model/fragment.ts'
import { spanRange } from '../model/history.ts'
import { isAnyMissing, type KnownHoles } from '../model/holes.ts'
import { ChartPanel } from './chart-panel.tsx'
import { HistoryFiles } from './history-files.tsx'
import { HistoryTable } from './history-table.tsx'
import { useHistory } from './loaded-history.ts'
import { StatisticsTable } from './statistics-table.tsx'

export function History(props: {
  series: readonly Series[]
  today: string
  MissingDaysNote: FunctionComponent<{ missing: KnownHoles }>
}) {
  const { series, today, MissingDaysNote } = props
  const words = texts.value.history
  const { pair, table } = view.value
  const range = spanRange(view.value, addDays(today, 1)) // the bank publishes rates a day early
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
  const pairs = new Set([pair, ...series.map(pairCode)])
  return (
    <select
      class="field pair"
      aria-label={texts.value.history.pair}
      value={pair}
      onChange={(event) => setView({ pair: event.currentTarget.value })}
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
    <SegmentedControl<Span>
      name="span"
      label={words.span}
      value={from === '' ? span : undefined}
      choices={SPANS.map((value) => ({ value, label: words.spans[value], title: words.spanNames[value] }))}
      onChoose={(span) => setView({ span, from: '', to: '' })}
    />
  )
}

/** Fields for the first and last day, which dragging on the chart sets too. */
function RangeFields(range: { from: string; to: string }) {
  const words = texts.value.history
  const choose = (from: string, to: string) => {
    if (from !== '' && to !== '' && from <= to) setView({ from, to })
  }
  return (
    <div class="range">
      <label>
        <span>{words.from}</span>
        <input
          type="date"
          class="field"
          value={range.from}
          max={range.to}
          onChange={(event) => choose(event.currentTarget.value, range.to)}
        />
      </label>
      <label>
        <span>{words.to}</span>
        <input
          type="date"
          class="field"
          value={range.to}
          min={range.from}
          onChange={(event) => choose(range.from, event.currentTarget.value)}
        />
      </label>
      {view.value.from !== '' && (
        <button type="button" class="link" onClick={() => setView({ from: '', to: '' })}>
          {words.zoomOut}
        </button>
      )}
    </div>
  )
}
