// What a run knows when it begins, and the words that its record ends with.

import { addDays, type Clock, todayIn } from '../dates.ts'
import { unsynchronizedInWords } from '../domain/rates/unsynchronized.ts'
import { AppError } from '../errors.ts'
import type { Provider } from '../providers/provider.ts'
import { selectCoverage } from '../store/rates/coverage.ts'
import { selectProviders } from '../store/rates/providers.ts'
import { selectNewestDays } from '../store/rates/rates.ts'
import { selectSeriesOf } from '../store/rates/series.ts'
import type { CoverageKind, Db, SyncStatus, SyncTrigger } from '../store/tables.ts'
import type { SyncProgress, SyncRecord } from './state.ts'

const MAX_MESSAGE = 2000
/** Requests around days that the source has not synchronized, of a run that nobody waits for (decisions 2.6). */
export const EXTRA_REQUESTS = 40

/** @throws AppError `failed` for a provider that is not in the database */
export async function readRecord(
  db: Db,
  provider: Provider,
  { clock, trigger }: { clock: Clock; trigger: SyncTrigger },
  stored: (progress: SyncProgress) => Promise<void>,
): Promise<Omit<SyncRecord, 'runId' | 'lock'>> {
  const row = (await selectProviders(db)).find(({ code }) => code === provider.code)
  if (!row) throw new AppError('failed', `the provider ${provider.code} is not in the database`)
  const today = todayIn(clock, provider.timeZone)
  const series = await selectSeriesOf(db, row.id)
  const isOurs = ([id]: [number, unknown]) => series.some((one) => one.id === id)
  const coverageOf = async (kind: CoverageKind) =>
    new Map([...(await selectCoverage(db, kind))].filter(isOurs))
  return {
    db,
    provider,
    providerId: row.id,
    today,
    tomorrow: addDays(today, 1),
    now: clock,
    series,
    covered: {
      answered: await coverageOf('answered'),
      final: await coverageOf('final'),
      exact: await coverageOf('exact'),
    },
    firstValues: new Map(series.flatMap(({ id, first_data_date: day }) => (day ? [[id, day]] : []))),
    newestValues: await selectNewestDays(db),
    answered: new Map(),
    unsynchronized: new Map(),
    unsynchronizedTables: new Map(),
    extraRequests: trigger === 'cli' ? Number.POSITIVE_INFINITY : EXTRA_REQUESTS,
    needsExtraRequests: false,
    refused: new Set(),
    counts: { inserted: 0, updated: 0, unchanged: 0 },
    answers: 0,
    problems: new Set(),
    stored,
  }
}

/** `ok`: nothing failed; `parcial`: something was answered all the same (decisions 2.10). */
export function statusOf({ problems, answers }: Pick<SyncRecord, 'problems' | 'answers'>): SyncStatus {
  return problems.size === 0 ? 'ok' : answers > 0 ? 'parcial' : 'error'
}

/** The days that the source has not synchronized itself, as one problem; undefined: there are none. */
export function unsynchronizedProblem(state: SyncRecord): string | undefined {
  const lacking = [...state.unsynchronizedTables].map(([code, days]) => ({ code, days }))
  for (const { id, external_code: code } of state.series) {
    lacking.push({ code, days: state.unsynchronized.get(id) ?? [] })
  }
  return unsynchronizedInWords(lacking, state.needsExtraRequests)
}

export function messageOf(problems: ReadonlySet<string>): string | null {
  if (problems.size === 0) return null
  const text = [...problems].join('; ')
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text
}
