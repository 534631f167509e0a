import { Scroller } from '../parts/scroller.tsx'
import { formats, texts } from '../parts/view.ts'
import type { RateSide } from '../server/answers.ts'
import { placesOf } from '../words/decimal.ts'
import { type MonthCell, type MonthPoint, type MonthRow, rowsOf, STATS } from '../words/months.ts'
import type { LoadedMonths } from './loaded-months.ts'
import { monthsTexts } from './months-texts.ts'

const WAITING: readonly RateSide[] = ['compra', 'venta']

/** A row a month. While the first answers are on their way it is as high as it will be. */
export function MonthsTable(props: {
  loaded: LoadedMonths | undefined
  pair: string
  year: string
  today: string
}) {
  const words = monthsTexts.value
  const { loaded, today } = props
  const { pair, year } = loaded ?? props
  const sides = loaded?.sides.map(({ name }) => name) ?? WAITING
  const rows = rowsOf(year, today, loaded?.sides ?? WAITING.map((name) => ({ name, stats: NOTHING })))
  const [only = ''] = sides.length === 1 ? sides.map((name) => texts.value.sides[name]) : []
  const places = placesIn(rows)
  const caption = words.caption(pair, year, only)
  return (
    <>
      <Scroller class="scroll" label={caption}>
        <table class="data">
          <caption>
            <span>{caption}</span>
          </caption>
          <Head sides={sides} />
          <tbody>
            {rows.map((row) => (
              <Row key={row.month} row={row} sides={sides} places={places} isWaiting={!loaded} />
            ))}
          </tbody>
        </table>
      </Scroller>
      <p class="hint">{[words.meaning, ...marksIn(rows)].join(' ')}</p>
    </>
  )
}

const NOTHING = { last: [], mean: [], low: [], high: [] } as const

function Head({ sides }: { sides: readonly RateSide[] }) {
  const words = monthsTexts.value
  const isPair = sides.length > 1
  return (
    <thead>
      <tr>
        <th scope="col" rowSpan={isPair ? 2 : 1}>
          {words.month}
        </th>
        {STATS.map((stat) =>
          isPair ? (
            <th key={stat} scope="colgroup" colSpan={sides.length} class="number">
              {words.stats[stat]}
            </th>
          ) : (
            <th key={stat} scope="col" class="number">
              {words.stats[stat]}
            </th>
          ),
        )}
      </tr>
      {isPair && (
        <tr>
          {STATS.flatMap((stat) =>
            sides.map((side) => (
              <th key={stat + side} scope="col" class="number">
                {texts.value.sides[side]}
              </th>
            )),
          )}
        </tr>
      )}
    </thead>
  )
}

function Row(props: {
  row: MonthRow<RateSide>
  sides: readonly RateSide[]
  places: readonly number[]
  isWaiting: boolean
}) {
  const { row, sides, places, isWaiting } = props
  const note = noteOf(row, sides)
  return (
    <tr>
      <th scope="row">
        {formats.value.monthName(row.month)}
        {note !== '' && <small class="caution">{note}</small>}
      </th>
      {row.cells.map((cell, at) => (
        <td key={cell.stat + cell.side} class={`number ${cell.stat}`}>
          {isWaiting ? <Awaited /> : <Figure cell={cell} places={places[at] ?? 0} />}
        </td>
      ))}
    </tr>
  )
}

function Awaited() {
  return (
    <>
      <span class="awaited" />
      <small>{'\u00a0'}</small>
    </>
  )
}

function Figure({ cell: { stat, point }, places }: { cell: MonthCell<RateSide>; places: number }) {
  if (!point)
    return (
      <>
        —<Aligner missing={places} />
      </>
    )
  const { exact, monthDay } = formats.value
  return (
    <>
      {exact(point.value)}
      <Aligner missing={places - shownPlaces(point)} />
      <small>
        {stat === 'mean' ? '\u00a0' : monthDay(point.rate_date)}
        <Rounded point={point} isAlone={stat === 'mean'} />
      </small>
    </>
  )
}

/** As wide as the digits that others of the column have more, so that decimal signs stand below each other. */
function Aligner({ missing }: { missing: number }) {
  return (
    <span class="aligner" aria-hidden="true">
      {'\u2007'.repeat(missing)}
    </span>
  )
}

/** How many decimals of each column are shown at most. */
function placesIn(rows: readonly MonthRow<RateSide>[]): number[] {
  const [first] = rows
  return (first?.cells ?? []).map((_, at) =>
    Math.max(
      0,
      ...rows.map(({ cells }) => cells[at]?.point).map((point) => (point ? shownPlaces(point) : 0)),
    ),
  )
}

function shownPlaces({ value }: MonthPoint): number {
  return Math.max(2, placesOf(value)) // as formats.exact writes it
}

function Rounded({ point: { rounded_to: places }, isAlone }: { point: MonthPoint; isAlone: boolean }) {
  if (places === undefined) return null
  return (
    <>
      {!isAlone && ' · '}
      <span aria-hidden="true">r{places}</span>
      <span class="unseen">{texts.value.dollar.rounded(places)}</span>
    </>
  )
}

/** In what a month is not whole: on all sides, or on those that are named. */
export function noteOf({ partial }: MonthRow<RateSide>, sides: readonly RateSide[]): string {
  const words = monthsTexts.value
  if (partial.length === 0) return ''
  if (partial.length === sides.length) return words.partial
  return words.partialOf(partial.map((side) => texts.value.sides[side]).join(', '))
}

/** What the marks mean that are there. */
function marksIn(rows: readonly MonthRow<RateSide>[]): string[] {
  const words = monthsTexts.value
  const places = new Set(rows.flatMap(({ cells }) => cells.map(({ point }) => point?.rounded_to)))
  const rounded = [...places].filter((one) => one !== undefined).sort((a, b) => a - b)
  return [
    ...(rows.some(({ partial }) => partial.length > 0) ? [words.partialMeans] : []),
    ...rounded.map(words.roundedMeans),
  ]
}
