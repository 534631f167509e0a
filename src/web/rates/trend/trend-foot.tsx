// Foot of a chart: its figures, fields of its days, its table and the files.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import type { DateChoice } from '../../components/dates/date-choice.ts'
import { DateField, DateWords } from '../../components/dates/date-field.tsx'
import { icons } from '../../components/icons.tsx'
import type { DownloadSource } from '../../components/output/download-list.tsx'
import { DownloadMenu } from '../../components/output/download-menu.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { texts } from '../../components/view.ts'
import type { FigureFormat } from '../../model/formats.ts'
import { SPANS, type Span } from '../../model/fragment.ts'
import type { Trend } from '../../model/rates/history.ts'
import { HistoryTable } from './history-table.tsx'
import { StatisticsTable } from './statistics-table.tsx'

/** `children` are in the place of the figures while there is no trend. */
export function TrendFoot(props: {
  /** Pair or indicator of the trend. */
  subject: string
  trend: Trend | undefined
  figure: FigureFormat
  isPublished: boolean
  points?: string | undefined
  choices: readonly [DateChoice, DateChoice]
  /** Returns to the span; undefined: it is shown. */
  onReset: (() => void) | undefined
  hasFiles: boolean
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
  /** Files of the trend. */
  table: DownloadSource['table'] | undefined
  name: string
  /** Changes with the days: a table begins with its newest rows. */
  days: string
  children?: ComponentChildren
}) {
  const { subject, trend, figure, isPublished, points, choices, onReset, isOpen } = props
  const words = texts.value.history
  return (
    <>
      {/* The fields stay in their place, and with them the focus. */}
      <div class="spread history-foot above-12">
        {trend ? (
          <StatisticsTable trend={trend} figure={figure} isPublished={isPublished} points={points} />
        ) : (
          <div class="statistics">{props.children}</div>
        )}
        <div class="history-tools grid gap-10">
          <div class="row range">
            <RangeDay label={words.from} choice={choices[0]} />
            <RangeDay label={words.to} choice={choices[1]} />
            {onReset && (
              <Button class="link" onClick={onReset}>
                {words.zoomOut}
              </Button>
            )}
          </div>
          {props.hasFiles && (
            <div class="buttons">
              <Button aria-expanded={isOpen} onClick={() => props.onOpen(!isOpen)}>
                {icons.table}
                {isOpen ? words.hideTable : words.asTable}
              </Button>
              <DownloadMenu
                table={trend && props.table}
                name={trend && [props.name, trend.days[0], trend.days.at(-1)].join('-')}
              />
            </div>
          )}
        </div>
      </div>
      {trend && (
        <HistoryTable key={props.days} pair={subject} trend={trend} figure={figure} isOpen={isOpen} />
      )}
    </>
  )
}

function RangeDay({ label, choice }: { label: string; choice: DateChoice }) {
  const id = useId()
  return (
    <div class="range-day">
      <DateField label={label} choice={choice} describedBy={id} />
      <DateWords id={id} choice={choice} isShort />
    </div>
  )
}

/** Choice of a span. @param value undefined: days are chosen */
export function SpanField(props: { name: string; value: Span | undefined; onChoose: (span: Span) => void }) {
  const words = texts.value.history
  return (
    <SegmentedControl<Span>
      {...props}
      label={words.span}
      choices={SPANS.map((value) => ({ value, label: words.spans[value], title: words.spanNames[value] }))}
    />
  )
}
