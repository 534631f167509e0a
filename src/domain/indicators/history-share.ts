// Share of an indicator's history that is stored. Its begin is known with `--from`, or after a year without values.

import type { StoredIndicator } from '../../store/indicators/indicators.ts'
import { addDays, type IsoDate } from '../../values/dates.ts'
import { countDays, findGaps, type Interval } from '../../values/intervals.ts'

const WHOLE = 100

/** Returns the first day of the history that will be read; undefined: it is not known yet. */
export function historyBegin(
  { history_from: from, history_done: isDone }: Pick<StoredIndicator, 'history_from' | 'history_done'>,
  covered: readonly Interval[],
): IsoDate | undefined {
  return from ?? (isDone ? covered[0]?.from : undefined)
}

/** Returns the whole percent of the days up to yesterday that were read: 100 is all. Null: the begin is not known. */
export function historyPercent(
  row: Pick<StoredIndicator, 'history_from' | 'history_done'>,
  covered: readonly Interval[],
  today: IsoDate,
): number | null {
  const from = historyBegin(row, covered)
  if (from === undefined) return null
  const days = { from, to: addDays(today, -1) }
  if (days.from > days.to) return WHOLE
  const missing = findGaps(covered, days).reduce((sum, gap) => sum + countDays(gap), 0)
  return Math.floor((WHOLE * (countDays(days) - missing)) / countDays(days))
}
