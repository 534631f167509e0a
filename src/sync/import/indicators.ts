// Imports an export of indicators, for a server without access to the bank. A stored value changes only with `replace`.
// An indicator that this store does not have is stored as a disabled one. Enabling it is up to the operator.

import type { IndicatorInFile } from '../../domain/indicators/indicator-export-file.ts'
import type { Provider } from '../../providers/provider.ts'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import {
  findStoredIndicator,
  insertIndicator,
  insertIndicatorRevisions,
  raiseIndicatorRevision,
  replaceIndicatorCoverage,
  selectIndicatorValues,
  updateIndicator,
  upsertIndicatorValues,
} from '../../store/indicators/changes.ts'
import { closeIndicatorRun, insertIndicatorRun } from '../../store/indicators/open-runs.ts'
import type { IndicatorRun } from '../../store/indicators/runs.ts'
import { type IndicatorValueRow, selectIndicatorCoverage } from '../../store/indicators/values.ts'
import { selectProviders } from '../../store/rates/providers.ts'
import { selectProviderSeries } from '../../store/rates/series.ts'
import { INTERRUPTED, type SyncCounts } from '../../store/rates/sync-runs.ts'
import type { WriteDb } from '../../store/tables.ts'
import { addDays, currentDay, EARLIEST_DAY, LATEST_DAY } from '../../values/dates.ts'
import { withSyncLock } from '../lock.ts'
import { changeDays } from '../windows/answer-coverage.ts'
import type { ImportDeps, ImportOptions } from './import.ts'

/** Result of an import. `kept` counts stored values of which the file has others; `run` undefined: a dry run. */
export type IndicatorImport = SyncCounts & { provider: string; kept: number; run: IndicatorRun | undefined }

type IndicatorCounts = SyncCounts & { kept: number }

const COUNTED = ['inserted', 'updated', 'unchanged', 'kept'] as const

/**
 * @throws AppError `conflict` while a sync runs, `failed` for another provider, for the code of a rate, and for values of
 * the future; then nothing was changed
 */
export async function importIndicators(
  deps: ImportDeps,
  files: readonly IndicatorInFile[],
  options: ImportOptions,
): Promise<IndicatorImport[]> {
  const provider = await matchProvider(deps, files)
  if (!provider) return []
  const work = (lock?: Lock) => importFiles(deps, files, { ...options, ...provider, lock })
  return [await (options.dryRun ? work() : withSyncLock(deps, work))]
}

type ProviderMatch = { provider: Provider; providerId: number }

/** Returns the provider of the file; undefined: the file is empty. */
async function matchProvider(
  { db, clock, providers }: ImportDeps,
  files: readonly IndicatorInFile[],
): Promise<ProviderMatch | undefined> {
  const rows = await selectProviders(db)
  let match: ProviderMatch | undefined
  for (const { facts, covered, values } of files) {
    const provider = providers.find(({ code, indicators }) => code === facts.provider && indicators)
    const row = rows.find(({ code }) => code === facts.provider)
    if (!provider || !row) throw refusal(`there are no indicators of ${JSON.stringify(facts.provider)}`)
    const series = await selectProviderSeries(db, row.id)
    if (series.some(({ external_code: code }) => code === facts.code)) {
      throw refusal(`${facts.code} is a rate of ${provider.code}, and no indicator`)
    }
    match = { provider, providerId: row.id }
    const tomorrow = addDays(currentDay(clock, provider.timeZone), 1)
    const lastDay = [values.at(-1)?.day ?? '', covered.at(-1)?.to ?? ''].find((day) => day > tomorrow)
    if (lastDay !== undefined) {
      throw refusal(`the indicator ${facts.code} has days up to ${lastDay}, and tomorrow is ${tomorrow}`)
    }
    const now = clock().toISOString()
    const future = values.find(({ stored_at }) => stored_at > now)
    if (future) throw refusal(`a value was stored at ${future.stored_at}, and now is ${now}`)
  }
  return match
}

async function importFiles(
  { db, clock, signal }: ImportDeps,
  files: readonly IndicatorInFile[],
  { provider, providerId, replace, dryRun, lock }: ImportOptions & ProviderMatch & { lock: Lock | undefined },
): Promise<IndicatorImport> {
  const counts: IndicatorCounts = { inserted: 0, updated: 0, unchanged: 0, kept: 0 }
  const run = { provider_id: providerId, trigger: 'import', ...dateRange(files) } as const
  const started_at = clock().toISOString()
  const runId = dryRun
    ? undefined
    : await atomically(db, (trx) => insertIndicatorRun(trx, { ...run, started_at }), lock)
  let problem: string | undefined
  try {
    for (const file of files) {
      if (signal.aborted) throw new AppError('failed', `${INTERRUPTED}: the program was stopped`)
      const options = { providerId, replace, runId, now: clock() }
      const added = await atomically(db, (trx) => importIndicator(trx, file, options), lock)
      for (const name of COUNTED) counts[name] += added[name]
    }
  } catch (error) {
    if (runId === undefined) throw error
    problem = errorReason(error)
  }
  const { kept, ...accepted } = counts
  if (kept > 0) problem ??= `${kept} stored values were kept of which the file has others: see --replace`
  if (runId === undefined) return { provider: provider.code, ...counts, run: undefined }
  const isAny = COUNTED.some((name) => counts[name] > 0)
  const status = problem === undefined ? 'ok' : isAny ? 'parcial' : 'error'
  const end = { ...accepted, status, message: problem ?? null, finished_at: clock().toISOString() } as const
  const closedRun = await atomically(
    db,
    (trx) => closeIndicatorRun(trx, runId, { ...end, token_hash: null, history: 0 }),
    lock,
  )
  return { provider: provider.code, ...counts, run: closedRun }
}

/** Imports one indicator in the transaction of the caller. Without a run it stores nothing. */
async function importIndicator(
  trx: WriteDb,
  { facts, covered, values }: IndicatorInFile,
  options: { providerId: number; replace: boolean; runId: number | undefined; now: Date },
): Promise<IndicatorCounts> {
  const { code, name, unit, periodicity } = facts
  const { runId } = options
  const row = await findStoredIndicator(trx, code)
  const before = await selectIndicatorValues(trx, code, { from: EARLIEST_DAY, to: LATEST_DAY })
  const storedRows = new Map(before.map((one) => [one.value_date, one]))
  const added = values.filter(({ day }) => !storedRows.has(day))
  const others = values.filter(({ day, value }) => (storedRows.get(day)?.value ?? value) !== value)
  const replaced = options.replace ? others : []
  const counts = {
    ...{ inserted: added.length, updated: replaced.length, kept: others.length - replaced.length },
    unchanged: values.length - added.length - others.length,
  }
  if (runId === undefined) return counts
  const beforeDays = (await selectIndicatorCoverage(trx, code)).get(code) ?? []
  const after = changeDays(beforeDays, covered, [])
  const isNew = row === undefined
  if (!isNew && added.length + replaced.length === 0 && !after) return counts
  const at = await raiseIndicatorRevision(trx, options.now)
  if (isNew) {
    const names = { name, unit, periodicity, history_from: null }
    await insertIndicator(trx, { code, provider_id: options.providerId, ...names, added_at: at.getTime() })
    await updateIndicator(trx, code, { enabled: false })
  }
  // An answer as of an instant before the import must not have its values. The change log of a new indicator begins with
  // the import. So its values may have the instants of the file.
  const instant = (text: string) => (isNew ? Date.parse(text) : at.getTime())
  const writes = [...added, ...replaced].map(
    ({ day, value, stored_at }): IndicatorValueRow => ({
      ...{ code, value_date: day, value, stored_at: instant(stored_at) },
    }),
  )
  await upsertIndicatorValues(trx, writes)
  await insertIndicatorRevisions(
    trx,
    replaced.map(({ day, value }) => {
      const { value: old_value = '', stored_at: old_stored_at = 0 } = storedRows.get(day) ?? {}
      const change = { code, value_date: day, old_value, old_stored_at, new_value: value }
      return { ...change, replaced_at: at.toISOString(), run_id: runId }
    }),
  )
  if (after) await replaceIndicatorCoverage(trx, code, { before: beforeDays, after, at: at.getTime() })
  return counts
}

function dateRange(files: readonly IndicatorInFile[]): { date_from: string; date_to: string } {
  const days = files
    .flatMap(({ covered, values }) => [
      ...covered.flatMap(({ from, to }) => [from, to]),
      ...values.map(({ day }) => day),
    ])
    .sort()
  return { date_from: days[0] ?? '', date_to: days.at(-1) ?? '' }
}

function refusal(reason: string): AppError {
  return new AppError('failed', `${reason}: nothing was imported`)
}
