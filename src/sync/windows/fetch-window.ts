// Fetches the answers of one window and checks that they are complete. A failed request is a problem of the run; the
// other answers of the window still count.

import {
  completeAnswer,
  FetchFailure,
  type FetchRequest,
  type SeriesGroup,
  type SourceAnswer,
  UnsynchronizedFailure,
  type Window,
} from '../../providers/provider.ts'
import { errorReason } from '../../runtime/errors.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { addDays, currentDay, dayNumber, earliest, type IsoDate } from '../../values/dates.ts'
import { intersects } from '../../values/intervals.ts'
import { errorFailure } from '../problems.ts'
import { enabledSeries, type RunState } from '../state.ts'
import type { ValidatedRows } from './accept.ts'

/** Valid answer to one request. */
export type Reading = {
  /** Code of the requested series; undefined: the whole table. */
  indicator: string | undefined
  answer: SourceAnswer
  /** Requested series that the answer does not list. */
  unlisted: ReadonlySet<string>
  /** True when an unlisted series has no data: it was requested alone, or twice where that is impossible. */
  unlistedIsEmpty: boolean
  /**
   * Day of the request in the time zone of the provider, at most the day of the source's clock. Later days had not
   * begun. A machine whose clock is years ahead would store empty years.
   */
  requestedOn: IsoDate
  /** True when the source does not round. */
  exact: boolean
  /** False for an answer without data whose second request failed. */
  isConfirmed: boolean
}

/** Validated answer to a request of a window. */
export type AnsweredWindow = {
  reading: Reading
  window: Window
  validated: ValidatedRows
  /** Requested series whose values are stored. */
  series: readonly SeriesRow[]
  /** Name of the request in messages. */
  name: string
}

/** Days that the source reports as not synchronized, of an indicator or, undefined, of the whole table. */
export type Unsynchronized = { indicator: string | undefined; days: Window }

/** Returns true when an answer covers a series, with or without values (decisions#coverage). */
export function answersSeries({ answer, unlisted, unlistedIsEmpty }: Reading, code: string): boolean {
  return !unlisted.has(code) || (unlistedIsEmpty && !answer.leftOut?.includes(code))
}

/**
 * Fetches a window of a group for the series in `codes`. `stopped` is an error that ends the run, such as an abort;
 * the caller stores the readings first.
 */
export async function fetchWindow(
  state: RunState,
  group: SeriesGroup,
  codes: ReadonlySet<string>,
  window: Window,
): Promise<{ readings: Reading[]; unsynchronized: Unsynchronized[]; stopped?: { cause: unknown } }> {
  const indicators = group.indicators?.filter((code) => codes.has(code)) ?? [undefined]
  const readings: Reading[] = []
  const unsynchronized: Unsynchronized[] = []
  for (const indicator of indicators) {
    try {
      readings.push(await fetchAnswer(state, group, indicator, window))
    } catch (cause) {
      if (!(cause instanceof FetchFailure)) return { readings, unsynchronized, stopped: { cause } }
      if (cause instanceof UnsynchronizedFailure) {
        // A source that names other days would be requested endlessly.
        const days = intersects(cause.days, window) ? cause.days : window
        unsynchronized.push({ indicator, days })
        continue
      }
      addFailure(state, group, indicator, cause)
    }
  }
  checkClock(state)
  return { readings, unsynchronized }
}

/**
 * Reports a clock that differs by 2 days or more. If the clock is ahead, the day of the source replaces it, or the
 * run would store empty years.
 */
function checkClock(state: RunState): void {
  const { sourceDay } = state.connection
  if (sourceDay === undefined) return
  const ahead = dayNumber(state.today) - dayNumber(sourceDay)
  if (Math.abs(ahead) < 2) return
  const message = `the clock of this machine says ${state.today}, that of the source ${sourceDay}`
  state.problems.add({ message }, state.provider.code)
  if (ahead < 0) return
  state.today = sourceDay
  state.tomorrow = addDays(sourceDay, 1)
}

async function fetchAnswer(
  state: RunState,
  group: SeriesGroup,
  indicator: string | undefined,
  window: Window,
): Promise<Reading> {
  const { connection } = state
  const request = { table: group.table, indicator, window }
  const read = async (one: FetchRequest) => {
    const requestDay = currentDay(state.now, state.provider.timeZone)
    const answer = await connection.read(one)
    return { answer, requestedOn: earliest(requestDay, connection.sourceDay ?? requestDay) }
  }
  const { answer, requestedOn } = await read(request)
  const unlisted = findUnlisted(state, group, indicator, answer)
  const isSingle = indicator !== undefined && connection.supportsSingleSeries
  // An answer without data for past days is rare, so it is confirmed by a second request. So are unlisted series that
  // cannot be requested alone (decisions#coverage).
  const isDoubtful =
    (answer.observations.length === 0 && window.from < requestedOn) ||
    (unlisted.size > 0 && !connection.supportsSingleSeries)
  const first = {
    indicator,
    answer,
    unlisted,
    unlistedIsEmpty: isSingle,
    requestedOn,
    exact: connection.exact,
    isConfirmed: true,
  }
  if (!isDoubtful) return first
  try {
    const second = await read({ ...request, again: true })
    const both = completeAnswer(second.answer, answer)
    return {
      ...first,
      answer: both,
      unlisted: findUnlisted(state, group, indicator, both),
      unlistedIsEmpty: isSingle || !connection.supportsSingleSeries,
      requestedOn: second.requestedOn,
      exact: connection.exact,
    }
  } catch (error) {
    if (!(error instanceof FetchFailure) || error instanceof UnsynchronizedFailure) throw error
    addFailure(state, group, indicator, error)
    // An unconfirmed answer without data is not final, so the next run requests it again.
    return { ...first, isConfirmed: answer.observations.length > 0 }
  }
}

/** Returns the requested series that an answer does not list. */
function findUnlisted(
  state: RunState,
  group: SeriesGroup,
  indicator: string | undefined,
  answer: SourceAnswer,
): Set<string> {
  const requested =
    indicator === undefined ? enabledSeries(state, group).map((one) => one.external_code) : [indicator]
  const listed = new Set(answer.listed.map(({ code }) => code))
  return new Set(requested.filter((code) => !listed.has(code)))
}

function addFailure(
  { problems }: RunState,
  group: SeriesGroup,
  indicator: string | undefined,
  error: unknown,
): void {
  const of = indicator ?? group.table
  const reason = errorReason(error)
  const name = group.indicators ? of : group.name
  // Providers prefix some reasons with the request.
  const message = reason.startsWith(`${of}: `) ? reason : `${name}: ${reason}`
  problems.add({ message, failure: errorFailure(error, of) }, of)
}
