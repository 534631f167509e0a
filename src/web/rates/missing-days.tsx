import { formats, texts } from '../parts/view.ts'
import type { Series } from '../server/answers.ts'
import { pairOf } from '../words/currencies.ts'
import type { MissingDays } from '../words/holes.ts'
import { monthsTexts } from './months-texts.ts'

/** Names the days that a history lacks. Lows, highs and means are without them. */
export function MissingDaysNote({ missing }: { missing: MissingDays }) {
  const words = monthsTexts.value.missingDays
  const { day } = formats.value
  const [first, ...others] = missing.holes
  return (
    <p class="caution missing-days" role="status">
      {first && words.holes(day(first.from), day(first.to), others.length)}{' '}
      {missing.isUnknown && words.unknown}
    </p>
  )
}

/** Names the series whose day was never synchronized: without it they would seem to have no value. */
export function LeftOut({ ids, series }: { ids: readonly number[]; series: readonly Series[] }) {
  const { sides } = texts.value
  const names = ids.map((id) => {
    const one = series.find((candidate) => candidate.id === id)
    if (!one) return `#${id}`
    return one.rate_type === 'referencia'
      ? pairOf(one)
      : `${pairOf(one)} ${sides[one.rate_type].toLowerCase()}`
  })
  return <p class="caution left-out">{monthsTexts.value.leftOut(names.join(', '))}</p>
}
