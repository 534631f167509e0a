import type { RateSide } from '../../api/responses.ts'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { CLOSES } from '../../i18n/closes.ts'
import { type PeriodCell, type PeriodRow, STATS } from '../../model/rates/months.ts'
import { periodName } from './closes-texts.ts'
import { type FigureColumns, olderDay, PeriodChip, RoundedMark } from './figure-parts.tsx'
import type { ClosesQuery, LoadedCloses } from './loaded-closes.ts'

/** Periods as cards, newest first: a small table for each. Long figures have a line for each side. */
export function PeriodCards(props: {
  rows: readonly PeriodRow<RateSide>[]
  every: ClosesQuery['every']
  /** Undefined: the figures are loading. */
  loaded: LoadedCloses | undefined
  columns: FigureColumns
  isLong: boolean
}) {
  const { rows, every, loaded, columns, isLong } = props
  const words = pageTexts(CLOSES)
  const { sides } = columns
  const newest = rows.toSorted((a, b) => (a.first < b.first ? 1 : -1))
  return (
    <div class="period-cards">
      {newest.map((row) => (
        <table key={row.first} class="period-card full">
          <caption>
            {periodName(every, row.first, words, formats.value.monthName)}{' '}
            {loaded && <PeriodChip row={row} loaded={loaded} />}
          </caption>
          {sides.length > 1 && !isLong && (
            <thead>
              <tr>
                <td />
                {sides.map((side) => (
                  <th key={side} scope="col">
                    {texts.value.sides[side]}
                  </th>
                ))}
              </tr>
            </thead>
          )}
          <tbody>
            {STATS.map((stat) => {
              const cells = row.cells.filter((cell) => cell.stat === stat)
              return isLong
                ? cells.map((cell) => (
                    <CardRow
                      key={stat + cell.side}
                      name={[
                        words.stats[stat],
                        sides.length > 1 && texts.value.sides[cell.side].toLowerCase(),
                      ]
                        .filter(Boolean)
                        .join(' ')}
                      cells={[cell]}
                      columns={columns}
                      isLoading={!loaded}
                    />
                  ))
                : [
                    <CardRow
                      key={stat}
                      name={words.stats[stat]}
                      cells={cells}
                      columns={columns}
                      isLoading={!loaded}
                    />,
                  ]
            })}
          </tbody>
        </table>
      ))}
    </div>
  )
}

function CardRow(props: {
  name: string
  cells: readonly PeriodCell<RateSide>[]
  columns: FigureColumns
  isLoading: boolean
}) {
  const { name, cells, isLoading } = props
  const { format } = props.columns
  const stat = cells[0]?.stat
  const days = new Set(stat === 'mean' ? [] : cells.flatMap(({ figure }) => figure?.day ?? []))
  const day = [...days].map((one) => formats.value.shortDay(one)).join(', ')
  return (
    <tr class={stat}>
      <th scope="row">
        {name} {day !== '' && <small>{day}</small>}
      </th>
      {cells.map((cell) => (
        <td key={cell.side} title={olderDay(cell)}>
          {isLoading ? <span class="awaited" /> : cell.figure ? format(cell.figure.value) : '—'}{' '}
          {cell.figure?.rounded_to !== undefined && (
            <small>
              <RoundedMark figure={cell.figure} isAlone />
            </small>
          )}
        </td>
      ))}
    </tr>
  )
}
