// History of a pair: controls, chart, figures, table and files of a range of days. While another history loads, every
// part shows the pair and days of the previous one.

import type { FunctionComponent } from 'preact'
import { useId } from 'preact/hooks'
import type { Series } from '../../api/responses.ts'
import { type DateChoice, type DayBounds, useDateChoice } from '../../components/date-choice.ts'
import { DateField, DateWords } from '../../components/date-field.tsx'
import { FailureNotice, Notice } from '../../components/notice.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { setView, texts, view } from '../../components/view.ts'
import { pairCode } from '../../model/currencies.ts'
import { addDays } from '../../model/days.ts'
import { SPANS, type Span } from '../../model/fragment.ts'
import { spanRange } from '../../model/history.ts'
import { isAnyMissing, type KnownHoles } from '../../model/holes.ts'
import { ChartPanel } from './chart-panel.tsx'
import { HistoryFiles } from './history-files.tsx'
import { HistoryTable } from './history-table.tsx'
import { type LoadedHistory, useHistory } from './loaded-history.ts'
import { StatisticsTable } from './statistics-table.tsx'

const MISSING = '—'

export function History(props: {
  series: readonly Series[]
  bounds: DayBounds
  MissingDaysNote: FunctionComponent<{ missing: KnownHoles }>
}) {
  const { series, bounds, MissingDaysNote } = props
  const words = texts.value.history
  const { pair, table } = view.value
  const range = spanRange(view.value, addDays(bounds.today, 1)) // the bank publishes rates a day early
  const linkError = useRangeError(bounds)
  const { loaded, failure, isLoading } = useHistory(series, range, linkError)
  const choices = useRangeChoices(bounds, loaded, range)
  const isRefused = choices.some(({ error }) => error !== undefined)
  const isEmpty = loaded?.data.days.length === 0
  const note = loaded && isAnyMissing(loaded.missing) && <MissingDaysNote missing={loaded.missing} />
  return (
    <section class="card history" aria-labelledby="history" aria-busy={isLoading && !isRefused}>
      <div class="card-head">
        <h2 id="history">{words.title}</h2>
        <div class="history-controls">
          <PairField series={series} />
          <SpanField />
        </div>
      </div>
      {failure && !loaded ? (
        <FailureNotice failure={failure} />
      ) : (
        <>
          {isRefused ? null : isEmpty ? (
            <Notice title={words.none}>
              <p>{words.noneText}</p>
              {note}
            </Notice>
          ) : (
            <>
              <ChartPanel loaded={loaded} />
              {note}
            </>
          )}
          {/* The fields stay in their place, and with them the focus. */}
          <div class="history-foot">
            {loaded && !isRefused && !isEmpty ? (
              <StatisticsTable loaded={loaded} />
            ) : (
              <div class="statistics">{isRefused && MISSING}</div>
            )}
            <div class="history-tools">
              <RangeFields choices={choices} />
              {!isRefused && !isEmpty && <HistoryFiles loaded={loaded} series={series} isOpen={table} />}
            </div>
          </div>
          {loaded && !isRefused && !isEmpty && (
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

/** Returns true if a link has days that cannot have rates: they are not requested. */
function useRangeError({ first, last }: DayBounds): boolean {
  const { from, to } = view.value
  return from !== '' && (from < first || to > last)
}

/** Fields for the first and last day, which dragging on the chart sets too. */
function useRangeChoices(
  bounds: DayBounds,
  loaded: LoadedHistory | undefined,
  range: { from: string; to: string },
): [DateChoice, DateChoice] {
  const isChosen = view.value.from !== ''
  const { first } = bounds
  // The history may have a day that was published after the bounds were read.
  const last = [bounds.last, loaded?.data.days.at(-1) ?? ''].toSorted().at(-1) ?? bounds.last
  const days = { ...bounds, last }
  // A span shows the days that it has.
  const earliest = view.value.span === 'all' ? first : range.from
  const from = isChosen ? range.from : (loaded?.data.days[0] ?? earliest)
  const to = isChosen ? range.to : (loaded?.data.days.at(-1) ?? last)
  return [
    useDateChoice(from, days, (day) => setView({ from: day, to }), { max: to }),
    useDateChoice(to, days, (day) => setView({ from, to: day }), { min: from }),
  ]
}

function RangeFields({ choices: [from, to] }: { choices: [DateChoice, DateChoice] }) {
  const words = texts.value.history
  const id = useId()
  const fields = [
    { name: 'from', label: words.from, choice: from },
    { name: 'to', label: words.to, choice: to },
  ]
  return (
    <div class="range">
      {fields.map(({ name, label, choice }) => (
        <div key={name} class="range-day">
          <DateField label={label} choice={choice} describedBy={`${id}-${name}`} />
          <DateWords id={`${id}-${name}`} choice={choice} isShort />
        </div>
      ))}
      {view.value.from !== '' && (
        <button type="button" class="link" onClick={() => setView({ from: '', to: '' })}>
          {words.zoomOut}
        </button>
      )}
    </div>
  )
}
