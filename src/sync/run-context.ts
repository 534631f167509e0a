// Loads the context of a run, and words its end.

import { unsynchronizedInWords } from '../domain/rates/unsynchronized.ts'
import type { Notice, Provider } from '../providers/provider.ts'
import { AppError } from '../runtime/errors.ts'
import { selectCoverage } from '../store/rates/coverage.ts'
import { selectProviders } from '../store/rates/providers.ts'
import { selectProviderSeries } from '../store/rates/series.ts'
import type { RunEnd } from '../store/rates/sync-runs.ts'
import { selectWithheldDays } from '../store/rates/withheld.ts'
import type { CoverageKind, SyncStatus, SyncTrigger, WriteDb } from '../store/tables.ts'
import { addDays, type Clock, currentDay } from '../values/dates.ts'
import { createProblems, type Problem, type Problems } from './problems.ts'
import type { AcceptedJump, RunContext, SyncProgress } from './state.ts'

const MAX_MESSAGE = 2000
/** Limit of requests around unsynchronized days, for a run without a waiting person (decisions#mirror). */
export const EXTRA_REQUESTS = 40

/** Totals of a run that starts now. */
export function newTotals(extraRequests = EXTRA_REQUESTS) {
  const counts = { inserted: 0, updated: 0, unchanged: 0 }
  return { counts, answers: 0, problems: createProblems(), extraRequests }
}

/** @throws AppError `failed` for a provider that is not in the database */
export async function loadContext(
  db: WriteDb,
  provider: Provider,
  request: { clock: Clock; trigger: SyncTrigger; acceptedJump?: AcceptedJump | undefined },
  onStored: (progress: SyncProgress) => Promise<void>,
): Promise<Omit<RunContext, 'runId' | 'lock'>> {
  const { clock, trigger, acceptedJump } = request
  const row = (await selectProviders(db)).find(({ code }) => code === provider.code)
  if (!row) throw new AppError('failed', `the provider ${provider.code} is not in the database`)
  const today = currentDay(clock, provider.timeZone)
  const series = await selectProviderSeries(db, row.id)
  const isOfProvider = ([id]: [number, unknown]) => series.some((one) => one.id === id)
  const loadCoverage = async (kind: CoverageKind) =>
    new Map([...(await selectCoverage(db, kind))].filter(isOfProvider))
  return {
    db,
    provider,
    providerId: row.id,
    today,
    tomorrow: addDays(today, 1),
    now: clock,
    series,
    covered: {
      answered: await loadCoverage('answered'),
      final: await loadCoverage('final'),
      exact: await loadCoverage('exact'),
    },
    firstValues: new Map(series.flatMap(({ id, first_data_date: day }) => (day ? [[id, day]] : []))),
    newestValues: new Map(series.flatMap(({ id, last_data_date: day }) => (day ? [[id, day]] : []))),
    withheldDays: await selectWithheldDays(
      db,
      series.map(({ id }) => id),
    ),
    acceptedJump,
    answered: new Map(),
    unconfirmed: new Set(),
    unsynchronized: new Map(),
    unsynchronizedTables: new Map(),
    ...newTotals(trigger === 'cli' ? Number.POSITIVE_INFINITY : undefined),
    needsExtraRequests: false,
    refused: new Set(),
    onStored,
  }
}

/** Returns `ok` without problems, and `parcial` with problems and at least one answer (decisions#sync-runs). */
export function runStatus({ problems, answers }: Pick<RunContext, 'problems' | 'answers'>): SyncStatus {
  return problems.size === 0 ? 'ok' : answers > 0 ? 'parcial' : 'error'
}

/** Returns the days that the source has not synchronized, as one problem; undefined: none. */
export function unsynchronizedProblem(state: RunContext): Problem | undefined {
  const lacking = [...state.unsynchronizedTables].map(([code, days]) => ({ code, days }))
  for (const { id, external_code: code } of state.series) {
    lacking.push({ code, days: state.unsynchronized.get(id) ?? [] })
  }
  const message = unsynchronizedInWords(lacking, state.needsExtraRequests)
  if (message === undefined) return undefined
  return { message, cause: state.needsExtraRequests ? 'unsynchronized_more' : 'unsynchronized' }
}

/** Adds the notices of a connection. `of`: the provider. */
export function addNotices(problems: Problems, notices: readonly Notice[], of: string): void {
  for (const { message, isRefused } of notices) {
    problems.add(isRefused ? { message, failure: { code: 'token_refused', of } } : { message }, of)
  }
}

/** Returns the message of a run, its failures by code, and its cause, for its row. */
export function runProblems(problems: Problems): Pick<RunEnd, 'message' | 'failures' | 'cause'> {
  const { failures, cause } = problems
  return { message: runMessage(problems), failures: JSON.stringify(failures), cause }
}

function runMessage(problems: Problems): string | null {
  if (problems.size === 0) return null
  // Readers of a message that is cut see the interruption.
  const { interruption, messages } = problems
  const text = [...new Set([interruption ?? messages[0], ...messages])].join('; ')
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text
}
