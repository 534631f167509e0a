// Table of periods with both sides of each figure, and the same as cards for narrow screens.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { RateSide } from '../../api/responses.ts'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { CLOSES } from '../../i18n/closes.ts'
import { decimalCount } from '../../model/formats.ts'
import { type PeriodCell, type PeriodFigure, type PeriodRow, STATS } from '../../model/rates/months.ts'
import { PeriodCards } from './closes-cards.tsx'
import { periodName } from './closes-texts.ts'
import { type FigureColumns, olderDay, PeriodChip, RoundedMark } from './figure-parts.tsx'
import type { ClosesQuery, LoadedCloses } from './loaded-closes.ts'

const LONG = 8 // characters of a figure, from which tables need more room
const LONGEST = 10

export function ClosesFigures(props: {
  loaded: LoadedCloses | undefined
  query: ClosesQuery
  /** Undefined: the figures are loading. */
  rows: readonly PeriodRow<RateSide>[] | undefined
  isExact: boolean
  onExact: (isExact: boolean) => void
}) {
  const { loaded, rows, isExact, onExact } = props
  const words = pageTexts(CLOSES)
  const { pair, every, year } = loaded ?? props.query
  const sides = loaded?.sides.map(({ name }) => name) ?? (['compra', 'venta'] as const)
  const visibleRows = rows ?? emptyRows(every, sides)
  const format = isExact ? formats.value.exact : formats.value.cross
  const figures = visibleRows.flatMap(({ cells }) => cells.flatMap(({ figure }) => figure ?? []))
  const length = figures.reduce((most, { value }) => Math.max(most, format(value).length), 0)
  const columns = { sides, format, places: mostDecimals(visibleRows, format) }
  const [only = ''] = sides.length === 1 ? sides.map((name) => texts.value.sides[name]) : []
  const caption = [[pair, year || words.every[every]].join(', '), only].filter(Boolean).join(' · ')
  const isSmall = figures.some(({ value }) => /^-?\d(\.|$)/.test(value))
  const size = length > LONGEST ? 'longest' : length > LONG ? 'long' : 'short'
  return (
    <div class={`closes ${size}`}>
      <p class="row closes-options">
        <label>
          <input
            type="checkbox"
            checked={isExact}
            onChange={({ currentTarget }) => onExact(currentTarget.checked)}
          />
          {words.exact}
        </label>
        <span class="hint">{!isExact && (isSmall ? words.crossRounding : words.rounding)}</span>
      </p>
      <TableFrame label={caption} watch={`${caption} ${isExact} ${rows?.length}`}>
        <table class="data">
          <caption class="unseen">{caption}</caption>
          <TableHead every={every} sides={sides} />
          <tbody>
            {visibleRows.map((row) => (
              <TableRow key={row.first} row={row} loaded={loaded} every={every} columns={columns} />
            ))}
          </tbody>
        </table>
      </TableFrame>
      <PeriodCards
        rows={visibleRows}
        every={every}
        loaded={loaded}
        columns={columns}
        isLong={length > LONG}
      />
      <p class="hint">{roundedTexts(figures).join(' ')}</p>
    </div>
  )
}

function TableHead({ every, sides }: { every: ClosesQuery['every']; sides: readonly RateSide[] }) {
  const words = pageTexts(CLOSES)
  const isPair = sides.length > 1
  return (
    <thead>
      <tr>
        <th scope="col" rowSpan={isPair ? 2 : 1}>
          {words.periods[every]}
        </th>
        {!isPair && (
          <th scope="col" class="number">
            {words.closeDay}
          </th>
        )}
        {STATS.map((stat) => (
          <th
            key={stat}
            scope={isPair ? 'colgroup' : 'col'}
            class={isPair ? 'group' : 'number'}
            colSpan={isPair ? sides.length + (stat === 'last' ? 1 : 0) : 1}
          >
            {words.stats[stat]}
          </th>
        ))}
      </tr>
      {isPair && (
        <tr>
          <th scope="col" class="number day-column">
            {words.day}
          </th>
          {STATS.flatMap((stat) =>
            sides.map((side, index) => (
              <th key={stat + side} scope="col" class={`number${isGroupStart(stat, index) ? ' start' : ''}`}>
                {texts.value.sides[side]}
              </th>
            )),
          )}
        </tr>
      )}
    </thead>
  )
}

function TableRow(props: {
  row: PeriodRow<RateSide>
  loaded: LoadedCloses | undefined
  every: ClosesQuery['every']
  columns: FigureColumns
}) {
  const { row, loaded, every, columns } = props
  const { sides, places } = columns
  const closeDay = row.cells.find(({ stat, figure }) => stat === 'last' && figure)?.figure?.day
  return (
    <tr>
      <th scope="row">
        {periodName(every, row.first, pageTexts(CLOSES), formats.value.monthName)}{' '}
        {loaded && <PeriodChip row={row} loaded={loaded} />}
      </th>
      <td class="number">{loaded ? closeDay ? formats.value.shortDay(closeDay) : '—' : <Placeholder />}</td>
      {row.cells.map((cell, at) => (
        <td
          key={cell.stat + cell.side}
          class={`number ${cell.stat}${isGroupStart(cell.stat, at % sides.length) ? ' start' : ''}`}
          title={olderDay(cell)}
        >
          {loaded ? (
            <Figure cell={cell} places={places[at] ?? 0} closeDay={closeDay} format={columns.format} />
          ) : (
            <Placeholder />
          )}
        </td>
      ))}
    </tr>
  )
}

function Placeholder() {
  return <span class="awaited" />
}

function Figure(props: {
  cell: PeriodCell
  places: number
  closeDay: string | undefined
  format: (text: string) => string
}) {
  const { cell, places, closeDay, format } = props
  const { stat, figure } = cell
  if (!figure) return <>—</>
  const text = format(figure.value)
  const isDayShown = stat === 'last' ? figure.day !== closeDay : stat !== 'mean'
  const day = isDayShown && figure.day ? formats.value.shortDay(figure.day) : ''
  return (
    <>
      {text}
      <span class="aligner" aria-hidden="true">
        {'\u2007'.repeat(Math.max(0, places - decimalCount(text)))}
      </span>
      <small>
        {day}
        <RoundedMark figure={figure} isAlone={day === ''} />
      </small>
    </>
  )
}

function isGroupStart(stat: PeriodCell['stat'], index: number): boolean {
  return stat !== 'last' && index === 0
}

/** Rows of the table's final height while the figures load. */
function emptyRows(every: ClosesQuery['every'], sides: readonly RateSide[]): PeriodRow<RateSide>[] {
  const count = { month: 12, quarter: 4, year: 20 }[every]
  const cells = STATS.flatMap((stat) => sides.map((side) => ({ stat, side, figure: undefined })))
  return Array.from({ length: count }, (_, index) => {
    const first = `2000-${String((index % 12) + 1).padStart(2, '0')}-${String(1 + Math.floor(index / 12)).padStart(2, '0')}`
    return { first, last: first, partial: [], isCurrent: false, cells }
  })
}

function mostDecimals(rows: readonly PeriodRow<RateSide>[], format: (text: string) => string): number[] {
  const [first] = rows
  return (first?.cells ?? []).map((_, at) =>
    rows.reduce((most, { cells }) => {
      const value = cells[at]?.figure?.value
      return value === undefined ? most : Math.max(most, decimalCount(format(value)))
    }, 0),
  )
}

/** Legend of the marks of rounded figures. */
function roundedTexts(figures: readonly PeriodFigure[]): string[] {
  const places = new Set(figures.map(({ rounded_to }) => rounded_to))
  return [...places]
    .filter((one) => one !== undefined)
    .sort((a, b) => a - b)
    .map(pageTexts(CLOSES).roundedMeans)
}

/** Frame in which a table scrolls sideways. A shadow is at each edge that hides something. `watch` changes with the table. */
function TableFrame(props: { label: string; watch: string; children: ComponentChildren }) {
  const host = useRef<HTMLElement>(null)
  const [edges, setEdges] = useState('')
  const measure = () => {
    const { scrollLeft = 0, scrollWidth = 0, clientWidth = 0 } = host.current ?? {}
    const isEnd = scrollLeft + clientWidth >= scrollWidth - 1
    setEdges(`${scrollLeft > 1 ? ' hides-start' : ''}${isEnd ? '' : ' hides-end'}`)
  }
  useLayoutEffect(() => {
    measure()
    addEventListener('resize', measure)
    return () => removeEventListener('resize', measure)
  }, [props.watch])
  return (
    <div class={`table-frame relative${edges}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it not every browser lets keys scroll here */}
      <section ref={host} class="scroll" aria-label={props.label} tabIndex={0} onScroll={measure}>
        {props.children}
      </section>
    </div>
  )
}
