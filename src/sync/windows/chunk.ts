// Reads and stores one window of one group. Values and coverage of both sides of a pair are stored in one short
// transaction. A crash leaves neither a hole nor half a window.

import { plainName } from '../../providers/plain-name.ts'
import type { SeriesGroup, Window } from '../../providers/provider.ts'
import { atomically } from '../../store/engine.ts'
import { raiseRevision } from '../../store/meta.ts'
import { takeInstant } from '../../store/rates/change-log.ts'
import { replaceCoverage } from '../../store/rates/coverage.ts'
import { openRateWriter, type RateWriter } from '../../store/rates/rate-writer.ts'
import { selectRates } from '../../store/rates/rates.ts'
import { insertSeries, type SeriesRow, selectProviderSeries } from '../../store/rates/series.ts'
import type { WriteDb } from '../../store/tables.ts'
import { earliest, latest } from '../../values/dates.ts'
import { isCanonicalDecimal } from '../../values/decimal.ts'
import { addInterval } from '../../values/intervals.ts'
import type { Problem } from '../problems.ts'
import { recordNewDays } from '../publication.ts'
import { catalogueEntry, enabledSeries, type RunState, seriesCurrency } from '../state.ts'
import { type AcceptedRate, isQuotedInversely, validateRows } from './accept.ts'
import { COVERAGE_KINDS, type Coverages, extendCoverage, reduceCoverage } from './answer-coverage.ts'
import { countEmptyDays } from './empty-days.ts'
import { answersSeries, fetchWindow, type Reading, type Unsynchronized } from './fetch-window.ts'
import { describeJumps, findJumps } from './jumps.ts'
import { compareOrRepair, unconfirmedYears } from './repairs.ts'
import { daysAround, withholdFarValues } from './withholding.ts'

const UNKNOWN_LISTED = 10 // each is a log line in every run

/** Result of one window. */
export type ChunkResult = {
  /** Codes of requested series that no answer lists. */
  unlisted: ReadonlySet<string>
  /** True when an answer lists at least one series. */
  listsAny: boolean
  /** True when the answers have rows of requested series, accepted or rejected. */
  hasRows: boolean
  /** Codes that the source reports as omitted from a table. */
  leftOut: ReadonlySet<string>
  /** Days that the source reports as not synchronized. */
  unsynchronized: readonly Unsynchronized[]
}

/**
 * Reads and stores one window, of all series of a group or of those with these codes. Undefined when every request
 * failed; the problems of the run have the reasons.
 */
export async function syncChunk(
  state: RunState,
  group: SeriesGroup,
  window: Window,
  codes: readonly string[] = enabledSeries(state, group).map((one) => one.external_code),
): Promise<ChunkResult | undefined> {
  const { readings, unsynchronized, stopped } = await fetchWindow(state, group, new Set(codes), window)
  const isAnswered = readings.length > 0 || unsynchronized.length > 0
  const result = isAnswered
    ? await storeReadings(state, group, window, { readings, unsynchronized })
    : undefined
  if (stopped) throw stopped.cause
  return result
}

async function storeReadings(
  state: RunState,
  group: SeriesGroup,
  window: Window,
  { readings, unsynchronized }: { readings: readonly Reading[]; unsynchronized: readonly Unsynchronized[] },
): Promise<ChunkResult> {
  let reduced: Coverages[] = []
  const work = async (trx: WriteDb) => {
    const now = await takeInstant(trx, state.now())
    const writer = openRateWriter(trx)
    const results: StoredReading[] = []
    reduced = []
    for (const one of unsynchronized) reduced.push(await reduceDays(trx, state, group, one, now))
    for (const reading of readings)
      results.push(await storeReading(trx, state, group, window, { reading, writer, now }))
    const isCoverageChanged = [...reduced, ...results.map(({ covered }) => covered)].some(
      ({ answered }) => answered.size > 0,
    )
    const hasNewSeries = results.some((one) => one.hasNewSeries)
    if (writer.changedIds.size > 0 || isCoverageChanged || hasNewSeries) {
      await writer.close(await raiseRevision(trx, now))
    }
    return results
  }
  const results = await atomically(state.db, work, state.lock)
  // Applied after the commit, since the transaction may run twice.
  state.answers += results.length
  for (const covered of reduced) applyCoverage(state, covered)
  for (const one of unsynchronized) recordUnsynchronized(state, group, one)
  for (const result of results) applyResult(state, window, result)
  await state.onStored({ group: group.name, window })
  return {
    unlisted: new Set(readings.flatMap(({ unlisted }) => [...unlisted])),
    listsAny: readings.some(({ answer }) => answer.listed.length > 0),
    hasRows: results.some(({ hasRows }) => hasRows),
    leftOut: new Set(readings.flatMap(({ answer }) => answer.leftOut ?? [])),
    unsynchronized,
  }
}

/** Returns the requested series: those of an indicator, or of the whole table. */
function requestedSeries(state: RunState, group: SeriesGroup, indicator: string | undefined): SeriesRow[] {
  return enabledSeries(state, indicator === undefined ? group : narrowGroup(group, indicator))
}

/**
 * Removes unsynchronized days from the coverage, even if an earlier answer had no data for them. Stored values still
 * answer for their day.
 */
async function reduceDays(
  trx: WriteDb,
  state: RunState,
  group: SeriesGroup,
  unsynchronized: Unsynchronized,
  now: Date,
): Promise<Coverages> {
  const series = requestedSeries(state, group, unsynchronized.indicator)
  const rates = await selectRates(
    trx,
    series.map(({ id }) => id),
    unsynchronized.days,
  )
  const covered = reduceCoverage(state, series, unsynchronized, rates)
  for (const kind of COVERAGE_KINDS) await replaceCoverage(trx, kind, covered[kind], now.getTime())
  return covered
}

function recordUnsynchronized(
  state: RunState,
  group: SeriesGroup,
  { indicator, days }: Unsynchronized,
): void {
  if (indicator === undefined) {
    const tableDays = state.unsynchronizedTables.get(group.table) ?? []
    state.unsynchronizedTables.set(group.table, addInterval(tableDays, days))
    return
  }
  for (const { id } of requestedSeries(state, group, indicator)) {
    state.unsynchronized.set(id, addInterval(state.unsynchronized.get(id) ?? [], days))
  }
}

type StoredReading = Awaited<ReturnType<typeof storeReading>>

function applyResult(state: RunState, window: Window, result: StoredReading): void {
  state.series = result.series
  for (const id of result.answered) state.answered.set(id, addInterval(state.answered.get(id) ?? [], window))
  applyCoverage(state, result.covered)
  for (const { code, day } of result.accepted) {
    const id = result.idByCode.get(code) ?? 0
    state.firstValues.set(id, earliest(day, state.firstValues.get(id) ?? day))
    state.newestValues.set(id, latest(day, state.newestValues.get(id) ?? day))
  }
  for (const [id, days] of result.withheldDays) {
    const others = (state.withheldDays.get(id) ?? []).filter((day) => day < window.from || day > window.to)
    state.withheldDays.set(id, [...others, ...days].sort())
  }
  for (const id of result.refused) state.refused.add(id)
  for (const year of result.unconfirmed) state.unconfirmed.add(year)
  for (const problem of result.problems) state.problems.add(problem, state.provider.code)
  state.counts.inserted += result.counts.inserted
  state.counts.updated += result.counts.updated
  state.counts.unchanged += result.counts.unchanged
}

function applyCoverage(state: RunState, covered: Coverages): void {
  for (const kind of COVERAGE_KINDS) {
    for (const [id, days] of covered[kind]) state.covered[kind].set(id, days)
  }
}

async function storeReading(
  trx: WriteDb,
  state: RunState,
  group: SeriesGroup,
  window: Window,
  { reading, writer, now }: { reading: Reading; writer: RateWriter; now: Date },
) {
  const { indicator, answer } = reading
  const hasNewSeries =
    indicator === undefined && (await insertListedSeries(trx, state, group, answer.listed, now.getTime()))
  const series = hasNewSeries ? await selectProviderSeries(trx, state.providerId) : state.series
  const requested = requestedSeries({ ...state, series }, group, indicator)
  const problems: Problem[] = []

  // A table has further series. Disabled ones are skipped; unknown ones are reported.
  const requestedCodes = new Set(requested.map((one) => one.external_code))
  const rows =
    indicator !== undefined
      ? answer.observations
      : answer.observations.filter(({ code }) => requestedCodes.has(code))
  if (indicator === undefined) {
    problems.push(...describeUnknown(group, series, answer.listed).map((message) => ({ message })))
  }
  const validated = validateRows(rows, requestedCodes, window)
  const { rejected } = validated
  if (rejected.length > 0) {
    const message = describeRejected(indicator ?? group.name, rejected)
    const failure = { code: 'row_rejected', of: indicator ?? group.table, count: rejected.length } as const
    problems.push({ message, failure })
  }

  const refused = refuseInverseQuotes(state, group, requested, validated.accepted)
  problems.push(...refused.values().map((message) => ({ message })))
  const storable = requested.filter(({ id }) => !refused.has(id))
  const idByCode = new Map(storable.map((one) => [one.external_code, one.id]))
  const answered = { reading, window, validated, series: storable, name: indicator ?? group.name }
  const storedRates = await selectRates(trx, [...idByCode.values()], daysAround(window))
  const soundRates = storedRates.filter(({ value }) => isCanonicalDecimal(value)) // others are damaged
  const comparison = { ...answered, stored: soundRates, written: writer.changedIds }
  const withholding = await withholdFarValues(trx, state, group, comparison)
  const { accepted, days: withheldDays } = withholding
  problems.push(...withholding.problems)
  const before = storedRates.filter(({ rate_date: day }) => day >= window.from && day <= window.to)
  const changes = await compareOrRepair(trx, accepted, idByCode, { before, written: writer.changedIds })
  await writer.store(changes.writes, before, now.getTime())
  const replacement = { replaced_at: now.toISOString(), run_id: state.runId }
  await recordNewDays(trx, state, changes.writes, before)
  if (state.provider.isOptional && changes.writes.length > 0) {
    const names = new Map(requested.map((one) => [one.id, `${one.base_currency}/${one.quote_currency}`]))
    const jumps = findJumps(soundRates, changes.writes)
    problems.push(...describeJumps(group.name, jumps, names).map((message) => ({ message })))
  }
  await writer.insertRevisions(changes.revisions.map((one) => ({ ...one, ...replacement })))

  const emptyDays = await countEmptyDays(trx, state, group, { ...answered, stored: before })
  const { openDays } = emptyDays
  problems.push(...emptyDays.problems)
  const covered = extendCoverage(state, { ...answered, accepted, before, changes, withheldDays, openDays })
  for (const kind of COVERAGE_KINDS) await replaceCoverage(trx, kind, covered[kind], now.getTime())
  return {
    covered,
    series,
    hasNewSeries,
    refused: refused.keys(),
    // Series that the answer covers, with or without values.
    answered: [...idByCode].filter(([code]) => answersSeries(reading, code)).map(([, id]) => id),
    ...{ accepted, idByCode },
    unconfirmed: unconfirmedYears(accepted, idByCode, { before, writes: changes.writes }),
    withheldDays: withholding.newDays,
    problems,
    counts: changes,
    hasRows: rows.length > 0,
  }
}

/** Returns a copy of a group with one of its series. */
export function narrowGroup(group: SeriesGroup, indicator: string): SeriesGroup {
  return { ...group, indicators: [indicator] }
}

/** Inserts series without a known code, when the answer lists them by name. */
async function insertListedSeries(
  trx: WriteDb,
  state: RunState,
  group: SeriesGroup,
  listed: readonly { code: string; name: string }[],
  at: number,
): Promise<boolean> {
  let isInserted = false
  for (const entry of state.provider.catalogue) {
    if (entry.table !== group.table || entry.externalCode !== undefined) continue
    if (state.series.some((one) => catalogueEntry(state.provider, one) === entry)) continue
    const match = listed.find(({ name }) => plainName(name) === plainName(entry.name))
    if (!match || state.series.some((one) => one.external_code === match.code)) continue
    await insertSeries(trx, state.providerId, { ...entry, externalCode: match.code }, at)
    isInserted = true
  }
  return isInserted
}

/** Returns messages about new series whose first answer is quoted in the other direction, by id. */
function refuseInverseQuotes(
  state: RunState,
  group: SeriesGroup,
  requested: readonly SeriesRow[],
  accepted: readonly AcceptedRate[],
): Map<number, string> {
  const refused = new Map<number, string>()
  for (const one of requested) {
    if (state.firstValues.has(one.id)) continue
    let newest: AcceptedRate | undefined
    for (const rate of accepted) {
      if (rate.code === one.external_code && (!newest || rate.day > newest.day)) newest = rate
    }
    if (newest && isQuotedInversely(newest.value, catalogueEntry(state.provider, one)?.plausibleRange)) {
      const quote = `${seriesCurrency(state.provider, one)} seems to be quoted the other way round (${newest.value})`
      refused.set(one.id, `${group.name}: ${quote}, not stored`)
    }
  }
  return refused
}

function describeUnknown(
  group: SeriesGroup,
  series: readonly SeriesRow[],
  listed: readonly { code: string; name: string }[],
): string[] {
  const knownCodes = new Set(series.map((one) => one.external_code))
  const unknown = listed.filter(({ code }) => !knownCodes.has(code))
  const words = unknown
    .slice(0, UNKNOWN_LISTED)
    .map(
      ({ code, name }) =>
        `${group.name}: unknown indicator ${code.slice(0, 20)} (${name.slice(0, 60)}), not stored`,
    )
  if (unknown.length > UNKNOWN_LISTED) {
    words.push(`${group.name}: ${unknown.length - UNKNOWN_LISTED} more unknown indicators, not stored`)
  }
  return words
}

function describeRejected(request: string, rejected: readonly string[]): string {
  const [first = ''] = rejected
  return rejected.length === 1
    ? `${request}: row rejected: ${first}`
    : `${request}: ${rejected.length} rows rejected, the first: ${first}`
}
