import type { Series } from '../api/responses.ts'
import { formats, texts } from '../components/view.ts'
import { pairCode } from '../model/currencies.ts'
import type { KnownHoles } from '../model/holes.ts'
import { monthsTexts } from './closes/months-texts.ts'

/** Names the holes of a history, which its lowest, highest and mean do not include. */
export function MissingDaysNote({ missing }: { missing: KnownHoles }) {
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

/** Names the series that lack the day because it was never synchronized. */
export function LeftOutNote({ ids, series }: { ids: readonly number[]; series: readonly Series[] }) {
  const { sides } = texts.value
  const names = ids.map((id) => {
    const one = series.find((candidate) => candidate.id === id)
    if (!one) return `#${id}`
    return one.rate_type === 'referencia'
      ? pairCode(one)
      : `${pairCode(one)} ${sides[one.rate_type].toLowerCase()}`
  })
  return <p class="caution left-out">{monthsTexts.value.leftOut(names.join(', '))}</p>
}
