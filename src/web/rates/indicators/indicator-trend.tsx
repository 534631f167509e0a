// Chart, figures, table and files of the chosen indicator over a range of days.

import { useMemo, useState } from 'preact/hooks'
import { type DateChoice, type DayBounds, useDateChoice } from '../../components/dates/date-choice.ts'
import { FailureNotice, Notice } from '../../components/notice.tsx'
import { formats, pageTexts, setView, texts, view } from '../../components/view.ts'
import { INDICATORS } from '../../i18n/indicator-texts.ts'
import type { ChartSubject } from '../../model/indicators.ts'
import { spanRange, type Trend } from '../../model/rates/history.ts'
import { isAnyMissing } from '../../model/rates/holes.ts'
import { MissingDaysNote } from '../missing-days.tsx'
import { ChartPanel } from '../trend/chart-panel.tsx'
import { SpanField, TrendFoot } from '../trend/trend-foot.tsx'
import { indicatorTable, joinCodes } from './indicator-files.ts'
import { type LoadedIndicator, useIndicatorValues } from './loaded-indicator.ts'

export const INDICATOR_TREND = 'indicator-trend'

type TrendProps = { subject: ChartSubject; today: string }

export function IndicatorTrend({ subject, today }: TrendProps) {
  const words = pageTexts(INDICATORS)
  const { name, unit, newest } = subject
  return (
    <section class="indicator-trend" id={INDICATOR_TREND} aria-labelledby="indicator-name">
      <h3 id="indicator-name" lang="es">
        {name}
      </h3>
      <p class="quiet small" lang="es">
        {unit ?? '\u00a0'}
      </p>
      {newest === undefined ? (
        <Notice title={words.awaited} text={words.awaitedText} />
      ) : (
        <Values key={subject.code} subject={subject} today={today} />
      )}
    </section>
  )
}

function Values({ subject, today }: TrendProps) {
  const words = pageTexts(INDICATORS)
  const { history } = texts.value
  const { indicatorSpan, indicatorFrom } = view.value
  const [isOpen, setOpen] = useState(false)
  const bounds = indicatorBounds(subject, today)
  const range = shownRange(bounds)
  const choices = useRangeChoices(bounds, range)
  const isRefused = choices.some(({ error }) => error !== undefined)
  const { loaded, failure, isLoading } = useIndicatorValues(subject, isRefused ? undefined : range)
  const trend = useTrend(loaded)
  const isEmpty = trend?.days.length === 0
  const visibleTrend = isRefused || isEmpty ? undefined : trend
  const { exact } = formats.value
  const points = subject.kind === 'interest' ? words.points : undefined
  const codes = subject.lines.map(({ code }) => code)
  return (
    <div class="history" aria-busy={isLoading}>
      <div class="spread history-controls above-10">
        <SpanField
          name="indicator-span"
          value={indicatorFrom === '' ? indicatorSpan : undefined}
          onChoose={(span) => setView({ indicatorSpan: span, indicatorFrom: '', indicatorTo: '' })}
        />
      </div>
      {failure && !loaded ? (
        <FailureNotice failure={failure} />
      ) : (
        <>
          {isRefused ? null : isEmpty ? (
            <Notice title={history.none(subject.name)} text={words.noneText} />
          ) : (
            <ChartPanel
              trend={visibleTrend}
              figure={exact}
              note={() => subject.unit && <UnitNote unit={subject.unit} />}
              onZoom={(indicatorFrom, indicatorTo) => setView({ indicatorFrom, indicatorTo })}
            />
          )}
          {loaded && isAnyMissing(loaded.missing) && <MissingDaysNote missing={loaded.missing} />}
          <TrendFoot
            subject={subject.name}
            trend={visibleTrend}
            figure={exact}
            isPublished
            points={points}
            choices={choices}
            onReset={indicatorFrom === '' ? undefined : () => setView({ indicatorFrom: '', indicatorTo: '' })}
            hasFiles={!isRefused && !isEmpty}
            isOpen={isOpen}
            onOpen={setOpen}
            table={loaded && visibleTrend && ((language) => indicatorTable(loaded, visibleTrend, language))}
            name={['bccr-indicador', ...codes].join('-')}
            days={`${range.from} ${range.to}`}
          />
          <p class="hint trend-source above-14">{words.source(joinCodes(codes, words.and), codes.length)}</p>
        </>
      )}
    </div>
  )
}

function UnitNote({ unit }: { unit: string }) {
  return (
    <span class="quiet" lang="es">
      {unit}
    </span>
  )
}

/** Days that have values. A series that ended years ago ends there. */
function indicatorBounds({ first = '', newest = '' }: ChartSubject, today: string): DayBounds {
  return { first, last: newest > today ? newest : today, today, newest, isOther: true }
}

/** Spans end with the newest value. */
function shownRange({ first, newest }: DayBounds): { from: string; to: string } {
  const { indicatorSpan: span, indicatorFrom: from, indicatorTo: to } = view.value
  const range = spanRange({ span, from, to }, newest)
  return from === '' && range.from < first ? { ...range, from: first } : range
}

function useRangeChoices(bounds: DayBounds, range: { from: string; to: string }): [DateChoice, DateChoice] {
  const { from, to } = range
  const set = (indicatorFrom: string, indicatorTo: string) => setView({ indicatorFrom, indicatorTo })
  return [
    useDateChoice(from, bounds, (day) => set(day, to), { max: to }),
    useDateChoice(to, bounds, (day) => set(from, day), { min: from }),
  ]
}

function useTrend(loaded: LoadedIndicator | undefined): Trend | undefined {
  const { sides } = texts.value
  const { value } = pageTexts(INDICATORS)
  return useMemo(() => {
    if (!loaded) return undefined
    const lines = loaded.data.lines.map(({ name, values }, at) => ({
      ...{ name, values, label: name === 'compra' || name === 'venta' ? sides[name] : value },
      points: loaded.lines[at]?.points ?? [],
    }))
    const { missing, subject, data } = loaded
    return { days: data.days, lines, holes: missing.holes, maxGapDays: subject.maxGapDays }
  }, [loaded, sides, value])
}
