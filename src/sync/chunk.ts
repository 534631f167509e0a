// One window of one group: ask, validate, and in one short transaction store the values and what is covered now, of both
// sides of a pair together, so that a crash leaves neither a gap nor half a window.

import { earliest, latest } from '../dates.ts'
import { type Interval, joined } from '../intervals.ts'
import { plainName } from '../providers/plain-name.ts'
import type { SeriesGroup, Window } from '../providers/provider.ts'
import { atomically } from '../store/engine.ts'
import { raiseRevision } from '../store/meta.ts'
import { replaceCoverage } from '../store/rates/coverage.ts'
import { markSeriesChanged, selectRatesIn, upsertRates } from '../store/rates/rates.ts'
import { insertRevisions } from '../store/rates/record.ts'
import { insertSeries, type SeriesRow, selectSeriesOf } from '../store/rates/series.ts'
import type { SyncCounts } from '../store/sync-runs.ts'
import type { Db } from '../store/tables.ts'
import { type AcceptedRate, changesOf, isQuotedInversely, validateRows } from './accept.ts'
import { type Reading, readWindow, saysOf, type Unsynchronized } from './ask.ts'
import { COVERAGE_KINDS, type Coverages, coverageAfter, coverageWithout } from './coverage.ts'
import { noteNewDays } from './publication.ts'
import { catalogueEntry, currencyOf, type SyncState, seriesOf } from './state.ts'

const UNKNOWN_NAMED = 10 // each is a line of the log in every run

/** What became of one window. */
export type ChunkResult = {
  /** Codes of the series that were asked for and that no answer lists. */
  unlisted: ReadonlySet<string>
  /** Whether the answers list anything at all. */
  listsAny: boolean
  /** Whether the answers held rows of what was wanted, accepted or not. */
  hasRows: boolean
  /** Codes that the source says it left out of a table. */
  leftOut: ReadonlySet<string>
  /** Days that the source says it has not synchronized. */
  unsynchronized: readonly Unsynchronized[]
}

/**
 * Reads and stores one window, of all series of a group or of those with these codes. Undefined when every request
 * failed, which the run's problems then say.
 */
export async function syncChunk(
  state: SyncState,
  group: SeriesGroup,
  window: Window,
  codes: readonly string[] = seriesOf(state, group).map((one) => one.external_code),
): Promise<ChunkResult | undefined> {
  const { readings, unsynchronized, stopped } = await readWindow(state, group, new Set(codes), window)
  const isAnswered = readings.length > 0 || unsynchronized.length > 0
  const result = isAnswered
    ? await storeReadings(state, group, window, { readings, unsynchronized })
    : undefined
  if (stopped) throw stopped.cause
  return result
}

async function storeReadings(
  state: SyncState,
  group: SeriesGroup,
  window: Window,
  { readings, unsynchronized }: { readings: readonly Reading[]; unsynchronized: readonly Unsynchronized[] },
): Promise<ChunkResult> {
  let retracted: Coverages[] = []
  const work = async (trx: Db) => {
    const now = state.now()
    const done: Stored[] = []
    retracted = []
    for (const one of unsynchronized) retracted.push(await retractDays(trx, state, group, one, now))
    for (const reading of readings) done.push(await storeReading(trx, state, group, window, reading, now))
    const changed = new Set(done.flatMap((one) => [...one.changed]))
    const isMoved = [...retracted, ...done.map(({ covered }) => covered)].some(
      ({ answered }) => answered.size > 0,
    )
    if (changed.size > 0 || isMoved || done.some(({ learned }) => learned)) {
      await markSeriesChanged(trx, [...changed], await raiseRevision(trx))
    }
    return done
  }
  const results = await atomically(state.db, work, state.lock)
  // Only what is committed changes what the run believes.
  state.answers += results.length
  for (const covered of retracted) applyCoverage(state, covered)
  for (const one of unsynchronized) noteUnsynchronized(state, group, one)
  for (const result of results) apply(state, window, result)
  await state.stored({ group: group.name, window })
  return {
    unlisted: new Set(readings.flatMap(({ unlisted }) => [...unlisted])),
    listsAny: readings.some(({ answer }) => answer.listed.length > 0),
    hasRows: results.some(({ hasRows }) => hasRows),
    leftOut: new Set(readings.flatMap(({ answer }) => answer.leftOut ?? [])),
    unsynchronized,
  }
}

/** The series that were requested, by an indicator or with the whole table. */
function requestedSeries(state: SyncState, group: SeriesGroup, indicator: string | undefined): SeriesRow[] {
  return seriesOf(state, indicator === undefined ? group : alone(group, indicator))
}

/**
 * Days that the source has not synchronized are not covered here either, even if it had no data for them before. Stored
 * values go on answering for their day.
 */
async function retractDays(
  trx: Db,
  state: SyncState,
  group: SeriesGroup,
  unsynchronized: Unsynchronized,
  now: Date,
): Promise<Coverages> {
  const series = requestedSeries(state, group, unsynchronized.indicator)
  const rates = await selectRatesIn(
    trx,
    series.map(({ id }) => id),
    unsynchronized.days,
  )
  const covered = coverageWithout(state, series, unsynchronized, rates)
  for (const kind of COVERAGE_KINDS) await replaceCoverage(trx, kind, covered[kind], now.getTime())
  return covered
}

function noteUnsynchronized(state: SyncState, group: SeriesGroup, { indicator, days }: Unsynchronized): void {
  if (indicator === undefined) {
    const known = state.unsynchronizedTables.get(group.table) ?? []
    state.unsynchronizedTables.set(group.table, joined(known, days))
    return
  }
  for (const { id } of requestedSeries(state, group, indicator)) {
    state.unsynchronized.set(id, joined(state.unsynchronized.get(id) ?? [], days))
  }
}

type Stored = {
  covered: Coverages
  series: SeriesRow[]
  learned: boolean
  changed: ReadonlySet<number>
  refused: Iterable<number>
  /** The series that the answer says something of, be it that there is nothing. */
  answered: number[]
  /** The days of the oldest and the newest accepted value. */
  values: ReadonlyMap<number, Interval>
  problems: string[]
  counts: SyncCounts
  hasRows: boolean
}

function apply(state: SyncState, window: Window, result: Stored): void {
  state.series = result.series
  for (const id of result.answered) state.answered.set(id, joined(state.answered.get(id) ?? [], window))
  applyCoverage(state, result.covered)
  for (const [id, { from, to }] of result.values) {
    state.firstValues.set(id, earliest(from, state.firstValues.get(id) ?? from))
    state.newestValues.set(id, latest(to, state.newestValues.get(id) ?? to))
  }
  for (const id of result.refused) state.refused.add(id)
  for (const problem of result.problems) state.problems.add(problem)
  state.counts.inserted += result.counts.inserted
  state.counts.updated += result.counts.updated
  state.counts.unchanged += result.counts.unchanged
}

function applyCoverage(state: SyncState, covered: Coverages): void {
  for (const kind of COVERAGE_KINDS) {
    for (const [id, days] of covered[kind]) state.covered[kind].set(id, days)
  }
}

async function storeReading(
  trx: Db,
  state: SyncState,
  group: SeriesGroup,
  window: Window,
  reading: Reading,
  now: Date,
): Promise<Stored> {
  const { indicator, answer } = reading
  const learned =
    indicator === undefined ? await learnSeries(trx, state, group, answer.listed, now.getTime()) : false
  const series = learned ? await selectSeriesOf(trx, state.providerId) : state.series
  const wanted = requestedSeries({ ...state, series }, group, indicator)
  const problems: string[] = []

  // A table holds more than is wanted: what is disabled is left out in silence, what is not known is said.
  const wantedCodes = new Set(wanted.map((one) => one.external_code))
  const rows =
    indicator !== undefined
      ? answer.observations
      : answer.observations.filter(({ code }) => wantedCodes.has(code))
  if (indicator === undefined) problems.push(...unknownInWords(group, series, answer.listed))
  const validated = validateRows(rows, wantedCodes, window)
  if (validated.rejected.length > 0)
    problems.push(rejectedInWords(indicator ?? group.name, validated.rejected))

  const refused = inverselyQuoted(state, wanted, validated.accepted)
  for (const { currency, value } of refused.values()) {
    problems.push(`${group.name}: ${currency} seems to be quoted the other way round (${value}), not stored`)
  }
  const idOf = new Map(wanted.filter(({ id }) => !refused.has(id)).map((one) => [one.external_code, one.id]))
  const accepted = validated.accepted.filter(({ code }) => idOf.has(code))

  const stored = await selectRatesIn(trx, [...idOf.values()], window)
  const changes = changesOf(accepted, idOf, stored)
  await upsertRates(trx, changes.writes, now.getTime())
  const replaced = { replaced_at: now.toISOString(), run_id: state.runId }
  await noteNewDays(trx, state, changes.writes, stored)
  await insertRevisions(
    trx,
    changes.revisions.map((one) => ({ ...one, ...replaced })),
  )

  const covered = coverageAfter(state, idOf, { reading, validated, accepted, stored, changes, window })
  for (const kind of COVERAGE_KINDS) await replaceCoverage(trx, kind, covered[kind], now.getTime())
  return {
    covered,
    series,
    learned,
    changed: changes.changed,
    refused: refused.keys(),
    answered: [...idOf].filter(([code]) => saysOf(reading, code)).map(([, id]) => id),
    values: valueDays(accepted, idOf),
    problems,
    counts: changes,
    hasRows: rows.length > 0,
  }
}

/** A group of one series of another. */
export function alone(group: SeriesGroup, indicator: string): SeriesGroup {
  return { ...group, indicators: [indicator] }
}

function valueDays(
  accepted: readonly AcceptedRate[],
  idOf: ReadonlyMap<string, number>,
): Map<number, Interval> {
  const days = new Map<number, Interval>()
  for (const { code, day } of accepted) {
    const id = idOf.get(code)
    if (id === undefined) continue
    const known = days.getOrInsertComputed(id, () => ({ from: day, to: day }))
    if (day < known.from) known.from = day
    if (day > known.to) known.to = day
  }
  return days
}

/** Makes the series of a catalogue entry whose code is not known, when the answer shows it by name. */
async function learnSeries(
  trx: Db,
  state: SyncState,
  group: SeriesGroup,
  listed: readonly { code: string; name: string }[],
  at: number,
): Promise<boolean> {
  let learned = false
  for (const entry of state.provider.catalogue) {
    if (entry.table !== group.table || entry.externalCode !== undefined) continue
    if (state.series.some((one) => catalogueEntry(state.provider, one) === entry)) continue
    const shown = listed.find(({ name }) => plainName(name) === plainName(entry.name))
    if (!shown || state.series.some((one) => one.external_code === shown.code)) continue
    await insertSeries(trx, state.providerId, { ...entry, externalCode: shown.code }, at)
    learned = true
  }
  return learned
}

/** Series without a stored value whose first answer is quoted in the other direction. */
function inverselyQuoted(state: SyncState, wanted: readonly SeriesRow[], accepted: readonly AcceptedRate[]) {
  const refused = new Map<number, { currency: string; value: string }>()
  for (const one of wanted) {
    if (state.firstValues.has(one.id)) continue
    let newest: AcceptedRate | undefined
    for (const rate of accepted) {
      if (rate.code === one.external_code && (!newest || rate.day > newest.day)) newest = rate
    }
    if (newest && isQuotedInversely(newest.value, catalogueEntry(state.provider, one)?.plausibleRange)) {
      refused.set(one.id, { currency: currencyOf(state.provider, one), value: newest.value })
    }
  }
  return refused
}

function unknownInWords(
  group: SeriesGroup,
  series: readonly SeriesRow[],
  listed: readonly { code: string; name: string }[],
): string[] {
  const known = new Set(series.map((one) => one.external_code))
  const unknown = listed.filter(({ code }) => !known.has(code))
  const words = unknown
    .slice(0, UNKNOWN_NAMED)
    .map(
      ({ code, name }) =>
        `${group.name}: unknown indicator ${code.slice(0, 20)} (${name.slice(0, 60)}), not stored`,
    )
  if (unknown.length > UNKNOWN_NAMED) {
    words.push(`${group.name}: ${unknown.length - UNKNOWN_NAMED} more unknown indicators, not stored`)
  }
  return words
}

function rejectedInWords(asked: string, rejected: readonly string[]): string {
  const [first = ''] = rejected
  return rejected.length === 1
    ? `${asked}: row rejected: ${first}`
    : `${asked}: ${rejected.length} rows rejected, the first: ${first}`
}
