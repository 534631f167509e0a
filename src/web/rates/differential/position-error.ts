import type { Wording } from '../pasted/lists-texts.ts'
import type { PositionRow } from './use-differences.ts'

export function positionErrorText(
  error: NonNullable<PositionRow['error']>,
  { lists, page }: Wording,
): string {
  if (error === 'later') return lists.differential.later
  return error === 'not-synchronized' ? lists.rowErrors.notSynchronized : page.convert.none
}
