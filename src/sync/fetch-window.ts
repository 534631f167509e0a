// The questions of one window, and which of the answers is believed to be whole. What fails is a problem of the run,
// and the other answers of the window count all the same.

import { addDays, dayOf, earliest, type IsoDate, todayIn } from '../dates.ts'
import { reasonOf } from '../errors.ts'
import { intersects } from '../intervals.ts'
import {
  type Answer,
  FetchFailure,
  type FetchRequest,
  type SeriesGroup,
  UnsynchronizedFailure,
  type Window,
} from '../providers/provider.ts'
import { type SyncState, seriesOf } from './state.ts'

/** One valid answer. */
export type Reading = {
  /** The one series that was asked for; undefined: the whole table. */
  indicator: string | undefined
  answer: Answer
  /** Series that were asked for and that the answer does not list. */
  unlisted: ReadonlySet<string>
  /** Whether these were asked for alone, or twice where that is impossible: then silence is an answer. */
  silenceCounts: boolean
  /**
   * The day in the provider's zone when it was asked: days after it had not begun. Not later than by the clock of the source:
   * this machine's may be years ahead, and would have empty years believed.
   */
  askedOn: IsoDate
  /** Whether the source gives values as published. */
  exact: boolean
  /** Not so: there was nothing at all, and a second look failed. */
  isConfirmed: boolean
}

/** Days that the source says it has not synchronized, of an indicator or, undefined, of the whole table. */
export type Unsynchronized = { indicator: string | undefined; days: Window }

/** Whether an answer says something of a series, be it that there is nothing (decisions 2.6). */
export function saysOf({ answer, unlisted, silenceCounts }: Reading, code: string): boolean {
  return !unlisted.has(code) || (silenceCounts && !answer.leftOut?.includes(code))
}

/**
 * Asks for a window of a group; `codes` are those of its series that are wanted. `stopped` is what ends the run, such as
 * a wish to stop: what was read before is still to be stored.
 */
export async function readWindow(
  state: SyncState,
  group: SeriesGroup,
  codes: ReadonlySet<string>,
  window: Window,
): Promise<{ readings: Reading[]; unsynchronized: Unsynchronized[]; stopped?: { cause: unknown } }> {
  const indicators = group.indicators?.filter((code) => codes.has(code)) ?? [undefined]
  const readings: Reading[] = []
  const unsynchronized: Unsynchronized[] = []
  for (const indicator of indicators) {
    try {
      readings.push(await readOne(state, group, indicator, window))
    } catch (cause) {
      if (!(cause instanceof FetchFailure)) return { readings, unsynchronized, stopped: { cause } }
      if (cause instanceof UnsynchronizedFailure) {
        // Days beside the window would have it requested again for ever.
        const days = intersects(cause.days, window) ? cause.days : window
        unsynchronized.push({ indicator, days })
        continue
      }
      state.problems.add(failureInWords(group, indicator, reasonOf(cause)))
    }
  }
  checkClock(state)
  return { readings, unsynchronized }
}

/** A clock that is years ahead would have a run ask for empty years; one that is wrong at all answers for a wrong day. */
function checkClock(state: SyncState): void {
  const { sourceDay } = state.session
  if (sourceDay === undefined) return
  const ahead = dayOf(state.today) - dayOf(sourceDay)
  if (Math.abs(ahead) < 2) return
  state.problems.add(`the clock of this machine says ${state.today}, that of the source ${sourceDay}`)
  if (ahead < 0) return
  state.today = sourceDay
  state.tomorrow = addDays(sourceDay, 1)
}

async function readOne(
  state: SyncState,
  group: SeriesGroup,
  indicator: string | undefined,
  window: Window,
): Promise<Reading> {
  const { session } = state
  const request = { table: group.table, indicator, window }
  const read = async (one: FetchRequest) => {
    const startedOn = todayIn(state.now, state.provider.timeZone)
    const answer = await session.read(one)
    return { answer, askedOn: earliest(startedOn, session.sourceDay ?? startedOn) }
  }
  const { answer, askedOn } = await read(request)
  const unlisted = unlistedIn(state, group, indicator, answer)
  const isAlone = indicator !== undefined && session.supportsSingleSeries
  // Nothing at all for days that have begun is rare enough to be worth a second look before it is believed. So is what a
  // table does not list, where it cannot be asked for alone (decisions 2.6).
  const isDoubtful =
    (answer.observations.length === 0 && window.from < askedOn) ||
    (unlisted.size > 0 && !session.supportsSingleSeries)
  const first = {
    indicator,
    answer,
    unlisted,
    silenceCounts: isAlone,
    askedOn,
    exact: session.exact,
    isConfirmed: true,
  }
  if (!isDoubtful) return first
  try {
    const second = await read({ ...request, again: true })
    const both = mergedAnswer(second.answer, answer)
    const stillUnlisted = unlistedIn(state, group, indicator, both)
    const silenceCounts = isAlone || !session.supportsSingleSeries
    const { askedOn } = second
    return { ...first, answer: both, unlisted: stillUnlisted, silenceCounts, askedOn, exact: session.exact }
  } catch (error) {
    if (!(error instanceof FetchFailure) || error instanceof UnsynchronizedFailure) throw error
    state.problems.add(failureInWords(group, indicator, reasonOf(error)))
    // Nothing at all is an answer too, but without a second one the next run asks again.
    return { ...first, isConfirmed: answer.observations.length > 0 }
  }
}

/** The series that were asked for and are not among those that the answer lists. */
function unlistedIn(
  state: SyncState,
  group: SeriesGroup,
  indicator: string | undefined,
  answer: Answer,
): Set<string> {
  const wanted =
    indicator === undefined ? seriesOf(state, group).map((one) => one.external_code) : [indicator]
  const listed = new Set(answer.listed.map(({ code }) => code))
  return new Set(wanted.filter((code) => !listed.has(code)))
}

/** The newer answer, and of the one before it the series that the newer does not list. */
function mergedAnswer(newer: Answer, older: Answer): Answer {
  const listed = new Set(newer.listed.map(({ code }) => code))
  const isOnlyInOlder = ({ code }: { code: string }) => !listed.has(code)
  return {
    listed: [...newer.listed, ...older.listed.filter(isOnlyInOlder)],
    observations: [...newer.observations, ...older.observations.filter(isOnlyInOlder)],
    ...(newer.leftOut && { leftOut: newer.leftOut }),
  }
}

/** Names what was asked for, unless the provider has named it by itself. */
function failureInWords(group: SeriesGroup, indicator: string | undefined, reason: string): string {
  const asked = indicator ?? group.table
  return reason.startsWith(`${asked}: `) ? reason : `${group.indicators ? asked : group.name}: ${reason}`
}
