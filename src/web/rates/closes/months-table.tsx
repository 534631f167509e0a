import type { RateSide } from '../../api/responses.ts'
import { Scroller } from '../../components/scroller.tsx'
import { formats, texts } from '../../components/view.ts'
import { countPlaces } from '../../model/decimal.ts'
import type { MonthCell, MonthPoint, MonthRow, SideMonths } from '../../model/months.ts'
import { monthRows, STATS } from '../../model/months.ts'
import type { LoadedMonths } from './loaded-months.ts'
import { monthsTexts } from './months-texts.ts'

const NO_STATS = { last: [], mean: [], low: [], high: [] }
const NO_FIGURES: readonly SideMonths<RateSide>[] = [
  { name: 'compra', stats: NO_STATS },
  { name: 'venta', stats: NO_STATS },
]

/** Table with a row for each month. The height is final while the first figures load. */
export function MonthsTable(props: {
  loaded: LoadedMonths | undefined
  pair: string
  year: string
  today: string
}) {
  const words = monthsTexts.value
  const { loaded, today } = props
  const { pair, year } = loaded ?? props
  const figures = loaded?.sides ?? NO_FIGURES
  const sides = figures.map(({ name }) => name)
  const rows = monthRows(year, today, figures)
  const [only = ''] = sides.length === 1 ? sides.map((name) => texts.value.sides[name]) : []
  const places = columnPlaces(rows)
  const caption = [`${pair}, ${year}`, only].filter(Boolean).join(' · ')
  return (
    <>
      <Scroller class="scroll" label={caption}>
        <table class="data">
          <caption>
            <span>{caption}</span>
          </caption>
          <TableHead sides={sides} />
          <tbody>
            {rows.map((row) => (
              <TableRow key={row.month} row={row} sides={sides} places={places} isLoading={!loaded} />
            ))}
          </tbody>
        </table>
      </Scroller>
      <p class="hint">{[words.meaning, ...markTexts(rows)].join(' ')}</p>
    </>
  )
}

function TableHead({ sides }: { sides: readonly RateSide[] }) {
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

function TableRow(props: {
  row: MonthRow<RateSide>
  sides: readonly RateSide[]
  places: readonly number[]
  isLoading: boolean
}) {
  const { row, sides, places, isLoading } = props
  const note = monthNote(row, sides)
  return (
    <tr>
      <th scope="row">
        {formats.value.monthName(row.month)}
        {note !== '' && <small class="caution">{note}</small>}
      </th>
      {row.cells.map((cell, at) => (
        <td key={cell.stat + cell.side} class={`number ${cell.stat}`}>
          {isLoading ? <Placeholder /> : <Figure cell={cell} places={places[at] ?? 0} />}
        </td>
      ))}
    </tr>
  )
}

function Placeholder() {
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
      <Aligner missing={places - visiblePlaces(point)} />
      <small>
        {stat === 'mean' ? '\u00a0' : monthDay(point.rate_date)}
        <RoundedMark point={point} isAlone={stat === 'mean'} />
      </small>
    </>
  )
}

/** Fills missing decimals with spaces, so that the column is aligned at the decimal sign. */
function Aligner({ missing }: { missing: number }) {
  return (
    <span class="aligner" aria-hidden="true">
      {'\u2007'.repeat(missing)}
    </span>
  )
}

/** Most decimals of each column. */
function columnPlaces(rows: readonly MonthRow<RateSide>[]): number[] {
  const [first] = rows
  return (first?.cells ?? []).map((_, at) =>
    Math.max(
      0,
      ...rows.map(({ cells }) => cells[at]?.point).map((point) => (point ? visiblePlaces(point) : 0)),
    ),
  )
}

function visiblePlaces({ value }: MonthPoint): number {
  return Math.max(2, countPlaces(value)) // as formats.exact writes it
}

function RoundedMark({ point: { rounded_to: places }, isAlone }: { point: MonthPoint; isAlone: boolean }) {
  if (places === undefined) return null
  return (
    <>
      {!isAlone && ' · '}
      <span aria-hidden="true">r{places}</span>
      <span class="unseen">{texts.value.dollar.rounded(places)}</span>
    </>
  )
}

/** Note of an incomplete month, with the sides if not all are. */
export function monthNote({ partial }: MonthRow<RateSide>, sides: readonly RateSide[]): string {
  const words = monthsTexts.value
  if (partial.length === 0) return ''
  if (partial.length === sides.length) return words.partial
  return words.partialOf(partial.map((side) => texts.value.sides[side]).join(', '))
}

/** Legend of the marks in the table. */
function markTexts(rows: readonly MonthRow<RateSide>[]): string[] {
  const words = monthsTexts.value
  const places = new Set(rows.flatMap(({ cells }) => cells.map(({ point }) => point?.rounded_to)))
  const rounded = [...places].filter((one) => one !== undefined).sort((a, b) => a - b)
  return [
    ...(rows.some(({ partial }) => partial.length > 0) ? [words.partialMeans] : []),
    ...rounded.map(words.roundedMeans),
  ]
}
