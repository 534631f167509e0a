// One window of one feed: ask, judge, and in one short transaction store the values and move the covered
// edges together, so that a crash leaves neither a gap nor half a chunk.

import type { IsoDate } from '../dates.ts'
import { reasonOf } from '../errors.ts'
import { type Answer, type Feed, FetchFailure, type Window } from '../providers/provider.ts'
import { upsertCoverage } from '../store/feeds.ts'
import { raiseRevision } from '../store/meta.ts'
import { markSeriesChanged, selectRatesIn, upsertRates } from '../store/rates.ts'
import { insertRevisions } from '../store/revisions.ts'
import { insertSeries, type SeriesRow, selectSeriesOf } from '../store/series.ts'
import type { Db } from '../store/tables.ts'
import { type AcceptedRate, changesOf, isQuotedInversely, judge } from './accept.ts'
import { catalogueEntry, currencyOf, type SyncState, seriesOf } from './state.ts'
import { coverageAfter, rereads } from './window.ts'

const UNKNOWN_NAMED = 10 // each is a line of the log in every run

export type ChunkResult = {
  /** Codes of the series that the answer lists. */
  listed: Set<string>
  /** The newest day with an accepted value; undefined: no value at all. */
  newest: IsoDate | undefined
  /** Whether the answer held rows of what was wanted, accepted or not. */
  hasRows: boolean
}

/** Reads and stores one window. Undefined when it failed, which the run's problems then say. */
export async function syncChunk(
  state: SyncState,
  feed: Feed,
  window: Window,
): Promise<ChunkResult | undefined> {
  const ask = { table: feed.table, indicator: feed.indicator, window }
  let answer: Answer
  try {
    answer = await state.session.read(ask)
    // Nothing at all for days that are past is rare enough to be worth a second look before it is believed.
    if (answer.observations.length === 0 && window.to < state.today) answer = await state.session.read(ask)
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error
    state.problems.add(failureInWords(feed, reasonOf(error)))
    return undefined
  }
  const result = await state.db.transaction().execute((trx) => storeAnswer(trx, state, feed, window, answer))
  // Only what is committed changes what the run believes.
  state.answers += 1
  state.series = result.series
  state.coverage = result.coverage
  for (const id of result.refused) state.refused.add(id)
  for (const id of result.reread) state.reread.add(id)
  for (const id of result.filled) state.withRates.add(id)
  for (const problem of result.problems) state.problems.add(problem)
  const { inserted, updated, unchanged } = result.changes
  state.counts.inserted += inserted
  state.counts.updated += updated
  state.counts.unchanged += unchanged
  await state.stored({ ...state.counts, feed: feed.name, window })
  return { listed: result.listed, newest: result.newest, hasRows: result.hasRows }
}

async function storeAnswer(trx: Db, state: SyncState, feed: Feed, window: Window, answer: Answer) {
  const learned = feed.indicator === undefined ? await learnSeries(trx, state, feed, answer) : false
  const series = learned ? await selectSeriesOf(trx, state.providerId) : state.series
  const wanted = seriesOf({ ...state, series }, feed)
  const problems: string[] = []
  const known = new Map(series.map((one) => [one.external_code, one]))

  // A table holds more than is wanted: what is disabled is left out in silence, what nobody knows is said.
  const wantedCodes = new Set(wanted.map((one) => one.external_code))
  const rows =
    feed.indicator !== undefined
      ? answer.observations
      : answer.observations.filter(({ code }) => wantedCodes.has(code))
  const unknown = answer.listed.filter(({ code }) => feed.indicator === undefined && !known.has(code))
  for (const { code, name } of unknown.slice(0, UNKNOWN_NAMED)) {
    problems.push(`${feed.name}: unknown indicator ${code.slice(0, 20)} (${name.slice(0, 60)}), not stored`)
  }
  if (unknown.length > UNKNOWN_NAMED) {
    problems.push(`${feed.name}: ${unknown.length - UNKNOWN_NAMED} more unknown indicators, not stored`)
  }
  const judged = judge(rows, wantedCodes, window)
  if (judged.rejected.length > 0) problems.push(rejectedInWords(feed, judged.rejected))

  const refused = inverselyQuoted(state, wanted, judged.accepted)
  for (const { currency, value } of refused.values()) {
    problems.push(`${feed.name}: ${currency} seems to be quoted the other way round (${value}), not stored`)
  }
  const idOf = new Map(wanted.filter(({ id }) => !refused.has(id)).map((one) => [one.external_code, one.id]))
  const accepted = judged.accepted.filter(({ code }) => idOf.has(code))
  const newest = accepted.reduce<IsoDate | undefined>(
    (max, { day }) => (!max || day > max ? day : max),
    undefined,
  )

  const filled = new Set(accepted.map(({ code }) => idOf.get(code) ?? 0))
  const changes = changesOf(accepted, idOf, await selectRatesIn(trx, [...filled], window))
  await upsertRates(trx, changes.writes)
  const replaced_at = state.now().toISOString()
  await insertRevisions(
    trx,
    changes.revisions.map((one) => ({ ...one, replaced_at, run_id: state.runId })),
  )
  if (changes.changed.size > 0 || learned) {
    await markSeriesChanged(trx, [...changes.changed], await raiseRevision(trx))
  }

  const listed = new Set(answer.listed.map(({ code }) => code))
  const { moved, reread } = edgesAfter(state, idOf, { listed, newest, window })
  await upsertCoverage(trx, moved)
  return {
    series,
    coverage: new Map([...state.coverage, ...moved]),
    reread,
    refused: refused.keys(),
    filled,
    problems,
    changes,
    listed,
    newest,
    hasRows: rows.length > 0,
  }
}

/** Which covered intervals an answer moves, and of which series it read the last covered days again. */
function edgesAfter(
  state: SyncState,
  idOf: ReadonlyMap<string, number>,
  answer: { listed: ReadonlySet<string>; newest: IsoDate | undefined; window: Window },
) {
  const { listed, newest, window } = answer
  const moved = new Map<number, Window>()
  const reread = new Set<number>()
  for (const [code, id] of idOf) {
    if (!listed.has(code)) continue
    const before = state.coverage.get(id)
    const may = { begin: !state.ranged, advance: state.reread.has(id) }
    const after = coverageAfter(before, window, newest, may)
    if (!after) continue
    if (rereads(before ?? after, window)) reread.add(id)
    if (after.from !== before?.from || after.to !== before.to) moved.set(id, after)
  }
  return { moved, reread }
}

/** Makes the series of a catalogue entry whose code is not known, when the answer shows it by name. */
async function learnSeries(trx: Db, state: SyncState, feed: Feed, answer: Answer): Promise<boolean> {
  let learned = false
  for (const entry of state.provider.catalogue) {
    if (entry.table !== feed.table || entry.externalCode !== undefined) continue
    if (state.series.some((one) => catalogueEntry(state.provider, one) === entry)) continue
    const shown = answer.listed.find(({ name }) => plainName(name) === plainName(entry.name))
    if (!shown || state.series.some((one) => one.external_code === shown.code)) continue
    await insertSeries(trx, state.providerId, { ...entry, externalCode: shown.code })
    learned = true
  }
  return learned
}

/** Series without a stored value whose first answer is quoted in the other direction. */
function inverselyQuoted(state: SyncState, wanted: readonly SeriesRow[], accepted: readonly AcceptedRate[]) {
  const refused = new Map<number, { currency: string; value: string }>()
  for (const one of wanted) {
    if (state.withRates.has(one.id)) continue
    let newest: AcceptedRate | undefined
    for (const rate of accepted) {
      if (rate.code === one.external_code && (!newest || rate.day > newest.day)) newest = rate
    }
    if (newest && isQuotedInversely(newest.value, catalogueEntry(state.provider, one)?.band)) {
      refused.set(one.id, { currency: currencyOf(one), value: newest.value })
    }
  }
  return refused
}

/** Names the feed, unless the provider has named what was asked by itself. */
function failureInWords(feed: Feed, reason: string): string {
  return reason.startsWith(`${feed.indicator ?? feed.table}: `) ? reason : `${feed.name}: ${reason}`
}

function rejectedInWords(feed: Feed, rejected: readonly string[]): string {
  const [first = ''] = rejected
  return rejected.length === 1
    ? `${feed.name}: row rejected: ${first}`
    : `${feed.name}: ${rejected.length} rows rejected, the first: ${first}`
}

function plainName(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').replace(/\s+/g, ' ').trim().toLowerCase()
}
