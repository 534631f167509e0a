// Positions with both rates and their sources, values in the books and at closing, and the difference.

import type { Conversion } from '../../api/responses.ts'
import { Button } from '../../components/button.tsx'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import { decimalSign } from '../../model/decimal.ts'
import { oldLegAge, rateText, routeParts } from '../../model/pasted/route.ts'
import { computeTotals, type Position, signedBalance } from '../../model/rates/differential.ts'
import { AccountingFigure } from '../pasted/figure.tsx'
import { wording } from '../pasted/lists-texts.ts'
import { useDrawnRows } from '../pasted/use-drawn-rows.ts'
import { positionErrorText } from './position-error.ts'
import type { Differences, PositionRow } from './use-differences.ts'

const MISSING = '—'

export function PositionsTable(props: {
  list: readonly Position[]
  differences: Differences | undefined
  books: string
  /** Closing day. */
  day: string
  isBusy: boolean
  onEdit: (position: Position) => void
}) {
  const { list, differences, books, day, isBusy, onEdit } = props
  const { differential: words, list: listWords } = pageTexts(LISTS)
  const { count } = formats.value
  const { drawn, limit, more } = useDrawnRows(list.length, 'positions')
  const rows = new Map(differences?.rows.map((row) => [row.position.id, row]))
  return (
    <>
      <table class="data carded positions-table" aria-busy={isBusy}>
        <caption class="unseen">{words.positions}</caption>
        <thead>
          <tr>
            {[words.item, words.balance, words.registration].map((title, index) => (
              <th key={title} scope="col" rowSpan={2} class={index > 0 ? 'number' : undefined}>
                {title}
              </th>
            ))}
            <th scope="colgroup" colSpan={2} class="group">
              {words.rate}
            </th>
            <th scope="colgroup" colSpan={2} class="group">
              {books === 'CRC' ? words.colones : books}
            </th>
            <th scope="col" rowSpan={2} class="number group">
              {words.difference}
            </th>
          </tr>
          <tr>
            {[words.registration, words.atClosing, words.inBooks, words.closingValue].map((title, index) => (
              <th key={title} scope="col" class={index % 2 === 0 ? 'number group' : 'number'}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {list.slice(0, drawn).map((position) => (
            <PositionLine
              key={position.id}
              position={position}
              row={rows.get(position.id)}
              closingDay={day}
              onEdit={() => onEdit(position)}
            />
          ))}
        </tbody>
        <NetFoot list={list} differences={differences} />
      </table>
      {limit < list.length && (
        <div class="line quiet table-foot above-14">
          <span>{listWords.drawn(count(limit), count(list.length))}</span>
          <Button onClick={more}>{listWords.more}</Button>
        </div>
      )}
    </>
  )
}

function NetFoot({ list, differences }: { list: readonly Position[]; differences: Differences | undefined }) {
  const words = pageTexts(LISTS).differential
  const { cents, count } = formats.value
  const amounts = differences?.rows.flatMap(({ difference }) => difference?.difference ?? [])
  const isPartial = amounts !== undefined && amounts.length < list.length
  return (
    <tfoot>
      <tr>
        <th scope="row" colSpan={7}>
          {isPartial ? words.netOf(count(amounts.length), count(list.length)) : words.netRow}
        </th>
        <td class="number">
          {amounts ? <AccountingFigure value={computeTotals(amounts).net} format={cents} /> : MISSING}
        </td>
      </tr>
    </tfoot>
  )
}

function PositionLine(props: {
  position: Position
  row: PositionRow | undefined
  closingDay: string
  onEdit: () => void
}) {
  const { position, row, closingDay, onEdit } = props
  const words = pageTexts(LISTS).differential
  const { day, exact, cents } = formats.value
  const { difference, registration, closing } = row ?? {}
  return (
    <tr class={row?.error ? 'bad-row' : undefined}>
      <th scope="row" class="detail">
        <Button class="link item" aria-haspopup="true" onClick={onEdit}>
          {position.detail || words.form.unnamed}
        </Button>
        <small>{words.types[position.type]}</small>
      </th>
      <td class="number" data-label={words.balance}>
        <span>
          <AccountingFigure value={signedBalance(position)} format={exact} /> {position.currency}
        </span>
      </td>
      <td class="number" data-label={words.registration}>
        {day(position.day)}
      </td>
      {row?.error ? (
        <td colSpan={4} class="refusal">
          {positionErrorText(row.error, wording.value)}
        </td>
      ) : (
        <>
          <RateCell
            label={`${words.rate}, ${words.registration.toLowerCase()}`}
            name="number group"
            conversion={registration}
            day={position.day}
          />
          <RateCell
            label={`${words.rate}, ${words.atClosing.toLowerCase()}`}
            name="number"
            conversion={closing}
            day={closingDay}
          />
          <td class="number group" data-label={words.inBooks}>
            {difference ? <AccountingFigure value={difference.books} format={cents} /> : MISSING}
          </td>
          <td class="number" data-label={words.closingValue}>
            {difference ? <AccountingFigure value={difference.closing} format={cents} /> : MISSING}
          </td>
        </>
      )}
      <td class="number group result-cell" data-label={words.difference}>
        {difference ? (
          <span>
            <AccountingFigure value={difference.difference} format={cents} />
            <small>{effectText(difference.difference)}</small>
          </span>
        ) : (
          MISSING
        )}
      </td>
    </tr>
  )
}

/** A rate with the published values that it was computed from. */
function RateCell(props: { label: string; name: string; conversion: Conversion | undefined; day: string }) {
  const { label, name, conversion, day } = props
  const { sides } = texts.value
  if (!conversion) {
    return (
      <td class={name} data-label={label}>
        {MISSING}
      </td>
    )
  }
  const { legs, rate } = conversion
  const [leg] = legs
  const parts = routeParts(legs, day, formats.value, sides)
  const age = oldLegAge(legs, day)
  return (
    <td class={name} data-label={label}>
      <span>
        {rateText(rate, legs, formats.value)}
        {parts.length === 1 && leg && !leg.inverse ? (
          <small>
            {leg.rate_type === 'referencia' ? leg.pair : sides[leg.rate_type].toLowerCase()}, {parts[0]?.day}
          </small>
        ) : (
          parts.map((part) => (
            <small key={part.name} title={part.name}>
              {part.sign}
              {part.value} ({part.day})
            </small>
          ))
        )}
        {age !== undefined && <span class="chip old">{pageTexts(LISTS).list.old(String(age))}</span>}
      </span>
    </td>
  )
}

function effectText(difference: string): string {
  const words = pageTexts(LISTS).differential
  const sign = decimalSign(difference)
  if (sign === 0) return ''
  return sign > 0 ? words.isIncome : words.isExpense
}
