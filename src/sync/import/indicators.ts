// Imports an export of indicators, for a server without access to the bank. A stored value changes only with `replace`.
// An indicator that this store does not have is stored as a disabled one. Enabling it is up to the operator.

import type { IndicatorInFile } from '../../domain/indicators/indicator-export-file.ts'
import type { Provider } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
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
import type { WriteDb } from '../../store/tables.ts'
import { addDays, currentDay, EARLIEST_DAY, LATEST_DAY } from '../../values/dates.ts'
import { withSyncLock } from '../lock.ts'
import { changeDays } from '../windows/answer-coverage.ts'
import type { ImportDeps, ImportOptions } from './import.ts'
import { findRange, type ImportResult, runImport, type ValueCounts } from './import-run.ts'
import { refuseMixture, storeMark } from './imported-series.ts'

/**
 * @throws AppError `conflict` while a sync runs, `failed` for another provider, for the code of a rate, and for values of
 * the future; then nothing was changed
 */
export async function importIndicators(
  deps: ImportDeps,
  files: readonly IndicatorInFile[],
  options: ImportOptions,
): Promise<ImportResult<IndicatorRun>[]> {
  const work = async (lock?: Lock) => {
    const provider = await matchProvider(deps, files)
    return provider ? [await importFiles({ ...deps, lock }, files, { ...options, ...provider })] : []
  }
  return options.dryRun ? work() : withSyncLock(deps, work)
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
    await refuseMixture(db, row, files)
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

function importFiles(
  deps: ImportDeps & { lock: Lock | undefined },
  files: readonly IndicatorInFile[],
  { provider, providerId, replace, dryRun }: ImportOptions & ProviderMatch,
): Promise<ImportResult<IndicatorRun>> {
  const { db, clock, lock } = deps
  return runImport(deps, files, {
    ...{ provider: provider.code, dryRun, keptValues: 'stored values' },
    async open(trx, run) {
      await storeMark(trx, provider, { ...files[0] }, clock)
      return insertIndicatorRun(trx, { ...run, ...findRange(files), provider_id: providerId })
    },
    importPart: (trx, file, runId) =>
      importIndicator(trx, file, { providerId, replace, runId, now: clock() }),
    close: (runId, end) =>
      atomically(db, (trx) => closeIndicatorRun(trx, runId, { ...end, token_hash: null, history: 0 }), lock),
  })
}

/** Imports one indicator in the transaction of the caller. Without a run it stores nothing. */
async function importIndicator(
  trx: WriteDb,
  { facts, covered, values }: IndicatorInFile,
  options: { providerId: number; replace: boolean; runId: number | undefined; now: Date },
): Promise<ValueCounts> {
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

function refusal(reason: string): AppError {
  return new AppError('failed', `${reason}: nothing was imported`)
}
