// History of a pair: controls, chart, figures, table and files of a range of days. While another history loads, every
// part shows the pair and days of the previous one.

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Series } from '../../api/responses.ts'
import { type DateChoice, type DayBounds, useDateChoice } from '../../components/dates/date-choice.ts'
import { lazyView } from '../../components/lazy-view.tsx'
import { FailureNotice, Notice } from '../../components/notice.tsx'
import { formats, setView, texts, view } from '../../components/view.ts'
import { addDays } from '../../model/days.ts'
import type { FigureFormat, Language } from '../../model/formats.ts'
import { firstRateDay, pairCode } from '../../model/rates/currencies.ts'
import { spanRange, type Trend } from '../../model/rates/history.ts'
import { isAnyMissing } from '../../model/rates/holes.ts'
import { ChartPanel } from './chart-panel.tsx'
import { type ComparedHistory, useComparison } from './comparison.ts'
import { type LoadedHistory, useHistory } from './loaded-history.ts'
import { SpanField, TrendFoot } from './trend-foot.tsx'
import { LegDays, TrendFields, TrendSource, TrendTitle } from './trend-texts.tsx'

const MISSING = '—'
const MissingDaysNote = lazyView(() => import('../missing-days.tsx'), 'MissingDaysNote')

export function History({ series, bounds }: { series: readonly Series[]; bounds: DayBounds }) {
  const { pair, table } = view.value
  const range = spanRange(view.value, addDays(bounds.today, 1)) // the bank publishes rates a day early
  const linkError = useRangeError(bounds)
  const { loaded, failure, isLoading } = useHistory(linkError ? undefined : range)
  const comparison = useComparison(loaded, bounds.last)
  const choices = useRangeChoices(bounds, loaded, range)
  const sides = useSides(loaded)
  const trend = comparison?.trend ?? sides
  const isPublished = series.some((one) => pairCode(one) === loaded?.pair)
  const figure = isPublished ? formats.value.exact : formats.value.cross
  const isRefused = choices.some(({ error }) => error !== undefined)
  const isEmpty = trend?.days.length === 0
  const visibleTrend = isRefused || isEmpty ? undefined : trend
  const isBusy = (isLoading || comparison?.isLoading === true) && !isRefused
  const note = loaded && isAnyMissing(loaded.missing) && <MissingDaysNote missing={loaded.missing} />
  return (
    <section class="card history" aria-labelledby="history" aria-busy={isBusy}>
      <TrendTitle pair={loaded?.pair ?? pair} trend={visibleTrend} />
      <div class="spread history-controls above-10">
        <TrendFields series={series} days={loaded?.data.days} last={bounds.last} />
        <SpanField
          name="span"
          value={view.value.from === '' ? view.value.span : undefined}
          onChoose={(span) => setView({ span, from: '', to: '' })}
        />
      </div>
      {failure && !loaded && failure.kind !== 'not-found' ? (
        <FailureNotice failure={failure} />
      ) : (
        <>
          {isRefused ? null : isEmpty || (failure && !loaded) ? (
            <NoValues pair={loaded?.pair ?? pair} series={series}>
              {note}
            </NoValues>
          ) : (
            <>
              <ChartPanel
                trend={trend}
                figure={figure}
                note={(index) => !comparison?.trend && loaded && <PointLegs loaded={loaded} index={index} />}
              />
              {comparison?.isMissing && (
                <p class="caution" role="status">
                  {texts.value.history.none(comparison.range.pair)}
                </p>
              )}
              {note}
            </>
          )}
          <TrendFoot
            subject={loaded?.pair ?? pair}
            trend={loaded && visibleTrend}
            figure={figure}
            isPublished={isPublished}
            choices={choices}
            onReset={view.value.from === '' ? undefined : () => setView({ from: '', to: '' })}
            hasFiles={!isRefused && !isEmpty}
            isOpen={table}
            onOpen={(table) => setView({ table })}
            table={
              loaded &&
              visibleTrend &&
              ((language) => fileTable(loaded, comparison, visibleTrend, figure, series, language))
            }
            name={`bccr-${loaded?.pair.replace('/', '-')}`}
            days={`${pair} ${range.from} ${range.to}`}
          >
            {isRefused && MISSING}
          </TrendFoot>
          <TrendSource pairs={[loaded?.pair ?? pair, ...(comparison ? [comparison.range.pair] : [])]} />
        </>
      )}
    </section>
  )
}

/** Lines of the sides of a pair. */
function useSides(loaded: LoadedHistory | undefined): Trend | undefined {
  const { sides } = texts.value
  return useMemo(() => {
    if (!loaded) return undefined
    const lines = loaded.data.lines.map(({ name, values }, at) => ({
      ...{ name, values, label: sides[name] },
      points: loaded.lines[at]?.points ?? [],
    }))
    return { days: loaded.data.days, lines, holes: loaded.missing.holes }
  }, [loaded, sides])
}

/** Days of the legs of a value, where they differ. */
function PointLegs({ loaded, index }: { loaded: LoadedHistory; index: number }) {
  const { pair, data, lines } = loaded
  const day = data.days[index]
  const line = lines.at(-1)
  const point = line?.points.find(({ date }) => date === day)
  if (!line || !point || point.rate_date === point.date) return null
  const side = line.name === 'referencia' ? 'venta' : line.name
  return <LegDays pair={pair} side={side} day={point.date} oldest={point.rate_date} />
}

function NoValues(props: { pair: string; series: readonly Series[]; children: ComponentChildren }) {
  const { pair, series, children } = props
  const { history, convert } = texts.value
  const codes = pair.split('/')
  const isKnown = (code: string) => series.some((one) => pairCode(one).includes(code))
  const unknown = series.length > 0 && codes.find((code) => !isKnown(code))
  const first = firstRateDay(pair, series)
  return (
    <Notice title={history.none(pair)}>
      <p>
        {unknown
          ? convert.unknown(unknown)
          : first
            ? history.firstDay(formats.value.day(first))
            : history.noneText}
      </p>
      {children}
    </Notice>
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

/** Table with the published values, also those of the second line of the chart. */
async function fileTable(
  { pair, from, to, data: { days } }: LoadedHistory,
  comparison: ComparedHistory | undefined,
  trend: Trend,
  figure: FigureFormat,
  series: readonly Series[],
  language: Language,
) {
  const { loadHistoryTable } = await import('./history-download.ts')
  const range = { pair, from: days[0] ?? from, to: days.at(-1) ?? to }
  return loadHistoryTable(
    comparison?.trend ? [range, comparison.range] : [range],
    trend,
    figure,
    series,
    language,
  )
}
