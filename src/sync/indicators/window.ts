// Reads and stores one window of an indicator. Values, coverage and the counts of the run are one short transaction. A
// failure changes only when the indicator is requested again.

import { plainName } from '../../providers/plain-name.ts'
import {
  FetchFailure,
  type IndicatorConnection,
  type IndicatorSource,
  type Provider,
  type SourceAnswer,
  UnsynchronizedFailure,
} from '../../providers/provider.ts'
import { errorReason } from '../../runtime/errors.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import {
  insertIndicatorRevisions,
  markWaiting,
  raiseIndicatorRevision,
  replaceIndicatorCoverage,
  selectIndicatorValues,
  updateIndicator,
  upsertIndicatorValues,
} from '../../store/indicators/changes.ts'
import type { StoredIndicator } from '../../store/indicators/indicators.ts'
import { updateIndicatorRun } from '../../store/indicators/open-runs.ts'
import { selectIndicatorCoverage, type ValueDays } from '../../store/indicators/values.ts'
import type { StoredRate } from '../../store/rates/rates.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import { currentDay, dayNumber, earliest, type IsoDate } from '../../values/dates.ts'
import {
  addInterval,
  countDays,
  type Interval,
  intersects,
  subtractInterval,
} from '../../values/intervals.ts'
import { countNoun } from '../../values/sizes.ts'
import { errorFailure, type Problems } from '../problems.ts'
import type { SyncDeps } from '../run.ts'
import { compareRates, validateRows } from '../windows/accept.ts'
import { answeredDays, changeDays, reduceCoverage } from '../windows/answer-coverage.ts'
import { HISTORY_DAYS, type IndicatorWindow, type SourceHoles } from './plan.ts'

/** State of a run. `runId` undefined: no window was read yet. */
export type IndicatorReading = SourceHoles & {
  readonly deps: SyncDeps
  readonly provider: Provider
  readonly source: IndicatorSource
  readonly connection: IndicatorConnection
  runId: number | undefined
  from: IsoDate
  to: IsoDate
  counts: { inserted: number; updated: number; unchanged: number }
  answers: number
  history: number
  problems: Problems
  /** Failed requests since the last answer. */
  failures: number
  isTokenRefused: boolean
}

type StoreOptions = { runId: number; lock: Lock; days: ValueDays | undefined }
type WindowAnswer = { answer: SourceAnswer; requestedOn: IsoDate; isEnd: boolean }

const TOKEN_STATUSES = [401, 403]
const CODE_STATUSES = [400, 404]
const REFUSAL_DAYS = 3
const ONLY_SERIES = 1 // compareRates has ids
const FACTS_EVERY_DAYS = 7

/** Reads a window; failures become problems of the run. @throws the reason of the signal, and errors of the database */
export async function readIndicatorWindow(
  reading: IndicatorReading,
  next: IndicatorWindow,
  options: StoreOptions,
): Promise<void> {
  const { row, window, isHistory } = next
  const remaining = reading.remaining.get(row.code) ?? []
  if (!isHistory) reading.remaining.delete(row.code)
  try {
    const read = await readAnswer(reading, next, options.days)
    if (read.answer.listed.every(({ code }) => code !== row.code)) {
      const other = read.answer.listed[0]?.code.slice(0, 20)
      await recordRefusal(reading, next, options, `the answer is of ${other}, not of ${row.code}`)
      return
    }
    const facts = next.isHistory ? {} : await readMissingFacts(reading, row)
    await storeAnswer(reading, next, { ...options, ...read, facts })
    reading.failures = 0
    if (!isHistory) reading.remaining.set(row.code, subtractInterval(remaining, window))
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error
    if (error instanceof UnsynchronizedFailure) {
      const days = intersects(error.days, window) ? error.days : window
      if (!isHistory) reading.remaining.set(row.code, subtractInterval(addInterval(remaining, window), days))
      await recordUnsynchronized(reading, next, options, days)
      return
    }
    const { status } = error.fact
    if (status !== undefined && TOKEN_STATUSES.includes(status)) {
      await recordTokenRefusal(reading, error, options)
    } else if (status !== undefined && CODE_STATUSES.includes(status)) {
      await recordRefusal(reading, next, options, errorReason(error))
    } else {
      reading.failures += 1
      const message = prefixed(row.code, errorReason(error))
      reading.problems.add({ message, failure: errorFailure(error, row.code) }, row.code)
      await recordFailure(reading, next, options, {})
    }
  }
}

/** Reads an answer. A year of history without values is confirmed by a second request before it ends the history. */
async function readAnswer(
  reading: IndicatorReading,
  { row, window, isHistory }: IndicatorWindow,
  days: ValueDays | undefined,
): Promise<WindowAnswer> {
  const { connection, deps, provider } = reading
  const read = async () => {
    if (isHistory) reading.history += 1
    const requestDay = currentDay(deps.clock, provider.timeZone)
    const answer = await connection.read(row.code, window)
    return { answer, requestedOn: earliest(requestDay, connection.sourceDay ?? requestDay) }
  }
  const first = await read()
  if (!isOldestYear({ row, window, isHistory }, days) || first.answer.observations.length > 0)
    return { ...first, isEnd: false }
  const second = await read()
  return { ...second, isEnd: second.answer.observations.length === 0 }
}

function isOldestYear({ row, window, isHistory }: IndicatorWindow, days: ValueDays | undefined): boolean {
  return (
    isHistory &&
    row.history_from === null &&
    countDays(window) >= HISTORY_DAYS &&
    (days === undefined || window.to < days.first)
  )
}

/** Reads name, unit and periodicity where neither the list nor an answer has them, at most once a week. */
async function readMissingFacts({ connection, deps }: IndicatorReading, row: StoredIndicator) {
  const isFirst = row.asked_at === null || dayNumber(currentDay(deps.clock)) % FACTS_EVERY_DAYS === 0
  if ((row.unit !== null && row.periodicity !== null) || !isFirst) return {}
  try {
    const { name, unit, periodicity } = await connection.readFacts(row.code)
    return {
      ...(row.name === null && name !== '' && { name }),
      ...{ unit: row.unit ?? unit, periodicity: row.periodicity ?? periodicity },
    }
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error
    deps.log.debug('no metadata of an indicator', { code: row.code, reason: errorReason(error) })
    return {}
  }
}

async function storeAnswer(
  reading: IndicatorReading,
  { row, window, isHistory }: IndicatorWindow,
  read: StoreOptions &
    WindowAnswer & { facts: Partial<Pick<StoredIndicator, 'name' | 'unit' | 'periodicity'>> },
): Promise<void> {
  const { db, clock } = reading.deps
  const { code } = row
  const { answer, runId, lock, requestedOn, isEnd, facts } = read
  const validated = validateRows(answer.observations, new Set([code]), window, { anySign: true })
  const { accepted, rejected } = validated
  const name = findNewName(reading, row, answer)
  const work = async (trx: WriteDb) => {
    const before = await selectStoredValues(trx, code, window)
    const covered = (await selectIndicatorCoverage(trx, code)).get(code) ?? []
    const changes = compareRates(accepted, new Map([[code, ONLY_SERIES]]), before)
    const valueDays = accepted.map(({ day }) => day)
    const answered = answeredDays(valueDays, validated.undated.has(code), window, requestedOn)
    const storedDays = new Set(before.map(({ rate_date }) => rate_date))
    const lostDays = [...(validated.rejectedDays.get(code) ?? [])].filter((day) => !storedDays.has(day))
    const after = changeDays(covered, answered, lostDays)
    const isChanged = changes.writes.length > 0 || after !== undefined || name.name !== undefined
    const hasFacts = Object.keys(facts).length > 0
    if (isChanged || hasFacts || isEnd) {
      const at = await raiseIndicatorRevision(trx, clock())
      const stored_at = at.getTime()
      await upsertIndicatorValues(
        trx,
        changes.writes.map(({ rate_date, value }) => ({ code, value_date: rate_date, value, stored_at })),
      )
      await insertIndicatorRevisions(
        trx,
        changes.revisions.map(({ rate_date, old_value, old_stored_at, new_value }) => ({
          ...{ code, value_date: rate_date, old_value, old_stored_at: old_stored_at ?? 0 },
          ...{ new_value: new_value ?? '', replaced_at: at.toISOString(), run_id: runId },
        })),
      )
      if (after) await replaceIndicatorCoverage(trx, code, { before: covered, after, at: stored_at })
    }
    const asked_at = clock().toISOString()
    const today = currentDay(clock, reading.provider.timeZone)
    await updateIndicator(trx, code, {
      ...{ state: 'active', refusals: 0, refusal_day: null, refusal: null, ...facts },
      ...(name.isNamed && { is_named: true }),
      ...(name.name !== undefined && { name: name.name }),
      ...(isHistory ? {} : { asked_at, tried_at: asked_at }),
      ...(isEnd && { history_done: true }),
      // Days of rejected rows are missing: tomorrow requests them again.
      ...(isHistory && rejected.length > 0 && { history_failure: today }),
    })
    await updateIndicatorRun(trx, runId, progress(reading, changes))
    return changes
  }
  const { inserted, updated, unchanged } = await atomically(db, work, lock)
  // Applied after the commit, since the transaction may run twice.
  reading.answers += 1
  reading.counts.inserted += inserted
  reading.counts.updated += updated
  reading.counts.unchanged += unchanged
  if (name.problem !== undefined) reading.problems.add({ message: name.problem }, code)
  if (rejected.length > 0) {
    const message = `${code}: ${countNoun(rejected.length, 'row')} rejected, the first: ${rejected[0]}`
    const failure = { code: 'row_rejected', of: code, count: rejected.length } as const
    reading.problems.add({ message, failure }, code)
  }
}

async function selectStoredValues(db: ReadDb, code: string, window: Interval): Promise<StoredRate[]> {
  const rows = await selectIndicatorValues(db, code, window)
  return rows.map(({ value_date: rate_date, value, stored_at }) => ({
    ...{ series_id: ONLY_SERIES, rate_date, value, rounded_to: null, stored_at },
  }))
}

/** Compares the first name of an answer with the shipped names. Another one is stored and reported once. */
function findNewName(
  { source }: IndicatorReading,
  { code, name, is_named: isNamed }: StoredIndicator,
  { listed }: SourceAnswer,
): { isNamed?: true; name?: string; problem?: string } {
  const answerName = listed.find((one) => one.code === code)?.name.trim() ?? ''
  if (isNamed || answerName === '') return {}
  if (name === null) return { isNamed: true, name: answerName }
  const names = [name, source.catalogueNames().get(code) ?? name].map(plainName)
  if (names.includes(plainName(answerName))) return { isNamed: true }
  const problem = `${code}: the bank calls it "${answerName.slice(0, 100)}", the list "${name}": its code may have been given anew`
  return { isNamed: true, name: answerName, problem }
}

/** Records days that the source has not synchronized itself: without a value they are not covered. */
async function recordUnsynchronized(
  reading: IndicatorReading,
  { row, window, isHistory }: IndicatorWindow,
  { runId, lock, days }: StoreOptions,
  hole: Interval,
): Promise<void> {
  const { db, clock } = reading.deps
  const { code } = row
  reading.unsynchronized.set(code, addInterval(reading.unsynchronized.get(code) ?? [], hole))
  // Older years are most likely missing too.
  const isEnd =
    isOldestYear({ row, window, isHistory }, days) && hole.from <= window.from && hole.to >= window.to
  const work = async (trx: WriteDb) => {
    const before = (await selectIndicatorCoverage(trx, code)).get(code) ?? []
    const covered = { answered: new Map([[ONLY_SERIES, before]]), final: new Map(), exact: new Map() }
    const values = await selectStoredValues(trx, code, hole)
    const lack = { indicator: code, days: hole }
    const after = reduceCoverage({ covered }, [{ id: ONLY_SERIES }], lack, values).answered.get(ONLY_SERIES)
    if (after) {
      const at = (await raiseIndicatorRevision(trx, clock())).getTime()
      await replaceIndicatorCoverage(trx, code, { before, after, at })
    }
    if (!isHistory) await updateIndicator(trx, code, { tried_at: clock().toISOString() })
    if (isEnd)
      await updateIndicator(trx, code, { history_failure: currentDay(clock, reading.provider.timeZone) })
    await updateIndicatorRun(trx, runId, progress(reading))
  }
  await atomically(db, work, lock)
}

/** Records that the source refuses the code, or answers another one. */
async function recordRefusal(
  reading: IndicatorReading,
  next: IndicatorWindow,
  options: StoreOptions,
  reason: string,
): Promise<void> {
  const { code, refusals, refusal_day: refusalDay } = next.row
  const today = currentDay(reading.deps.clock, reading.provider.timeZone)
  const message = prefixed(code, reason)
  reading.problems.add({ message, failure: { code: 'not_understood', of: code } }, code)
  if (next.isHistory) return recordFailure(reading, next, options, {})
  const days = refusalDay === today ? refusals : refusals + 1
  const isRefused = days >= REFUSAL_DAYS
  const change = { refusals: days, refusal_day: today, refusal: reason.slice(0, 300) }
  return recordFailure(reading, next, options, { ...change, ...(isRefused && { state: 'refused' as const }) })
}

async function recordTokenRefusal(
  reading: IndicatorReading,
  error: FetchFailure,
  { runId, lock }: StoreOptions,
): Promise<void> {
  const of = reading.provider.code
  const message = `the token was refused, so the indicators wait for another one: ${errorReason(error)}`
  reading.isTokenRefused = true
  reading.problems.add({ message, failure: { code: 'token_refused', of } }, of)
  const work = async (trx: WriteDb) => {
    await markWaiting(trx)
    await updateIndicatorRun(trx, runId, progress(reading))
  }
  await atomically(reading.deps.db, work, lock)
}

async function recordFailure(
  reading: IndicatorReading,
  { row: { code }, isHistory }: IndicatorWindow,
  { runId, lock }: StoreOptions,
  change: Parameters<typeof updateIndicator>[2],
): Promise<void> {
  const { db, clock } = reading.deps
  const today = currentDay(clock, reading.provider.timeZone)
  const work = async (trx: WriteDb) => {
    const time = isHistory ? { history_failure: today } : { tried_at: clock().toISOString() }
    await updateIndicator(trx, code, { ...time, ...change })
    await updateIndicatorRun(trx, runId, progress(reading))
  }
  await atomically(db, work, lock)
}

function progress(
  { counts, from, to, history }: IndicatorReading,
  added: IndicatorReading['counts'] = { inserted: 0, updated: 0, unchanged: 0 },
) {
  return {
    ...{ date_from: from, date_to: to, history },
    inserted: counts.inserted + added.inserted,
    updated: counts.updated + added.updated,
    unchanged: counts.unchanged + added.unchanged,
  }
}

function prefixed(code: string, reason: string): string {
  return reason.startsWith(`${code}: `) ? reason : `${code}: ${reason}`
}
