import { formats, pageTexts } from '../components/view.ts'
import { MISSING_DATA } from '../i18n/missing-data.ts'
import type { KnownHoles } from '../model/rates/holes.ts'

/** Names the holes of a history, which its lowest, highest and mean do not include. */
export function MissingDaysNote({ missing }: { missing: KnownHoles }) {
  const words = pageTexts(MISSING_DATA).missingDays
  const { day } = formats.value
  const [first, ...others] = missing.holes
  return (
    <p class="caution missing-days" role="status">
      {first && words.holes(day(first.from), day(first.to), others.length)}{' '}
      {missing.isUnknown && words.unknown}
    </p>
  )
}
