import type { RateSide } from '../../api/responses.ts'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { CLOSES } from '../../i18n/closes.ts'
import { type PeriodCell, type PeriodFigure, type PeriodRow, periodHoles } from '../../model/rates/months.ts'
import type { LoadedCloses } from './loaded-closes.ts'

export type FigureColumns = {
  sides: readonly RateSide[]
  /** Most decimals of each column, for its alignment. */
  places: readonly number[]
  format: (text: string) => string
}

/** Chip of an incomplete period. The title names the unknown days, and the sides if not all are incomplete. */
export function PeriodChip({ row, loaded }: { row: PeriodRow<RateSide>; loaded: LoadedCloses }) {
  const words = pageTexts(CLOSES)
  const { partial, isCurrent } = row
  if (partial.length === 0) return null
  const { day } = formats.value
  const days = periodHoles(row, loaded.missing).map(({ from, to }) =>
    from === to ? day(from) : words.range(day(from), day(to)),
  )
  const sides =
    partial.length === loaded.sides.length
      ? ''
      : `${partial.map((side) => texts.value.sides[side]).join(', ')}. `
  const reason =
    days.length > 0 ? words.missing(days.join(', ')) : isCurrent ? words.currentMeans : words.missingUnknown
  return (
    <span class={isCurrent ? 'chip old' : 'chip old incomplete'} title={sides + reason}>
      {isCurrent ? words.current : words.incomplete}
      {!isCurrent && <span class="unseen">: {sides + reason}</span>}
    </span>
  )
}

export function RoundedMark({ figure, isAlone }: { figure: PeriodFigure; isAlone: boolean }) {
  const { rounded_to: places } = figure
  if (places === undefined) return null
  return (
    <>
      {!isAlone && ' · '}
      <span aria-hidden="true">r{places}</span>
      <span class="unseen">{texts.value.dollar.rounded(places)}</span>
    </>
  )
}

/** Sentence about the older leg, where its day is not that of the figure. */
export function olderDay({ stat, figure }: PeriodCell): string | undefined {
  if (!figure || stat === 'mean' || figure.rate_date === figure.day) return undefined
  return pageTexts(CLOSES).olderDay(formats.value.day(figure.rate_date))
}
