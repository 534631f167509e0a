// State of the enabled indicators for operators (decisions#indicators). The calendar of the bank is not known, so an
// old value never degrades health: it is only named.

import { type StoredIndicator, selectIndicators } from '../../store/indicators/indicators.ts'
import { selectIndicatorCoverage, selectValueDays } from '../../store/indicators/values.ts'
import type { ReadDb } from '../../store/tables.ts'
import { type Clock, currentDay, dayNumber, type IsoDate } from '../../values/dates.ts'
import { historyPercent } from './history-share.ts'

/**
 * State of an enabled indicator. `history_since`: first day of the newest unbroken days; null: none yet.
 * `history_percent`: share of the history that was read; null: its begin is not known yet.
 */
export type IndicatorStatus = {
  code: string
  name: string | null
  state: StoredIndicator['state']
  refusal: string | null
  newest_date: IsoDate | null
  age_days: number | null
  is_stale: boolean
  history_since: IsoDate | null
  history_percent: number | null
}

/** Days without a new value after which an indicator is named, by periodicity. */
const STALE_DAYS: Readonly<Record<string, number>> = {
  diaria: 10,
  semanal: 21,
  'nueva semanal': 21,
  mensual: 75,
}
const OTHER_STALE_DAYS = 400
/** Age in days from which the doctor proposes to disable an indicator. */
export const ABANDONED_DAYS = 731

/** Selects the states of the enabled indicators, by code. */
export async function selectIndicatorStates(db: ReadDb, clock: Clock): Promise<IndicatorStatus[]> {
  const rows = (await selectIndicators(db)).filter(({ enabled }) => enabled)
  if (rows.length === 0) return []
  const days = await selectValueDays(db)
  const coverage = await selectIndicatorCoverage(db)
  const today = currentDay(clock)
  return rows.map((row) => {
    const { code, name, state, refusal, periodicity } = row
    const newest = days.get(code)?.newest ?? null
    const age = newest === null ? null : dayNumber(today) - dayNumber(newest)
    const covered = coverage.get(code) ?? []
    const limit = STALE_DAYS[periodicity ?? 'diaria'] ?? OTHER_STALE_DAYS
    return {
      ...{ code, name, state, refusal, newest_date: newest, age_days: age },
      is_stale: age !== null && age > limit,
      history_since: covered.at(-1)?.from ?? null,
      history_percent: historyPercent(row, covered, today),
    }
  })
}

/** Describes the indicators without a new value for too long, a text each. */
export function staleIndicators(states: readonly IndicatorStatus[]): string[] {
  return states
    .filter(({ is_stale: isStale }) => isStale)
    .map(
      ({ code, name, newest_date }) =>
        `${code} (${name ?? 'no name'}): the newest value is of ${newest_date}`,
    )
}
