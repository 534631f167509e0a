// Decides whether a start of the program syncs at once, and otherwise the next attempt (decisions#start). A restart
// after a repair syncs at once. A program that crashes again and again does not overload the bank: the database
// counts the starts that synced.

import { dueDay, dueInWords } from '../domain/rates/freshness.ts'
import type { Provider, ProviderSettings } from '../providers/provider.ts'
import { previousTime } from '../runtime/schedule.ts'
import { findSyncedRow, selectProviders } from '../store/rates/providers.ts'
import { hasProviderRates } from '../store/rates/rates.ts'
import { type LastRun, selectNewestRun, selectStartTimes } from '../store/rates/sync-runs.ts'
import type { ReadDb, SyncTrigger } from '../store/tables.ts'
import { type Clock, currentDay } from '../values/dates.ts'
import { hasBenchmark, hashToken } from './run.ts'

const MINUTE_MS = 60_000
export const FIRST_RETRY_MS = 15 * MINUTE_MS
export const LATER_RETRY_MS = 60 * MINUTE_MS
const MAX_STARTS = 3
const STARTS_WITHIN_MS = 10 * MINUTE_MS

/** Stored facts about a provider at the start of the program. */
export type StartFacts = {
  enabled: boolean
  /** Newest run; undefined: none. */
  lastRun: LastRun | undefined
  /** Times of the newest starts that synced. */
  starts: readonly Date[]
  /** True when a rate is stored. */
  hasRates: boolean
  /** True when the due values of the benchmark are stored. */
  current: boolean
  /** Words for the due day. */
  due: string
  /** SHA-256 of the token of the next run; null: no token; undefined: unreadable settings. */
  tokenHash: string | null | undefined
}

/** Schedule of a provider: a cron pattern and its time zone. */
export type Timetable = { cron: string; timeZone: string }

export type NextAttempt = {
  trigger: SyncTrigger
  at: Date
  /** Limit in milliseconds from now, in case the clock is set back. */
  wait: number
}

/** `next` is undefined when the scheduled time is the next attempt. `why` is the reason for the log. */
export type StartPlan = { why: string; next: NextAttempt | undefined }

/** Returns undefined for a provider that is not in the database, or whose values there are invented. */
export async function readStartFacts(
  db: ReadDb,
  provider: Provider,
  { clock, settings }: { clock: Clock; settings: (provider: Provider) => ProviderSettings },
): Promise<StartFacts | undefined> {
  const row = findSyncedRow(await selectProviders(db), provider)
  if (!row) return undefined
  let tokenHash: string | null | undefined
  try {
    tokenHash = hashToken(settings(provider))
  } catch {
    // The run that follows reports the reason.
  }
  const due = dueDay(provider, clock)
  return {
    enabled: row.enabled,
    lastRun: await selectNewestRun(db, row.id),
    starts: await selectStartTimes(db, { providerId: row.id, trigger: 'startup', limit: MAX_STARTS }),
    hasRates: await hasProviderRates(db, row.id),
    current: await hasBenchmark(db, provider, due),
    due: dueInWords(provider, due, currentDay(clock, provider.timeZone)),
    tokenHash,
  }
}

export function planStart(facts: StartFacts, timetable: Timetable, now: Date): StartPlan {
  const { enabled, lastRun, starts, current, due } = facts
  if (!enabled) return { why: 'the provider is disabled', next: undefined }
  const why = dueReason(facts, timetable, now)
  const startupAttempt = (at: Date): NextAttempt => ({ trigger: 'startup', at, wait: STARTS_WITHIN_MS })
  const recent = starts.filter((at) => isRecent(at, now))
  if (why !== undefined && recent.length >= MAX_STARTS) {
    const oldest = Math.min(...recent.map((at) => at.getTime()), now.getTime())
    const full = `${MAX_STARTS} starts have synced within ${STARTS_WITHIN_MS / MINUTE_MS} minutes`
    return { why: full, next: startupAttempt(new Date(oldest + STARTS_WITHIN_MS)) }
  }
  if (why !== undefined || !lastRun) return { why: why ?? '', next: startupAttempt(now) }
  if (lastRun.status !== 'ok') {
    return { why: 'the token was refused, and is still the same', next: retryAttempt(lastRun, now) }
  }
  if (current) return { why: 'the last sync was ok', next: undefined }
  return { why: `${due} was not there yet`, next: retryAttempt(lastRun, now) }
}

/** Returns true within 10 minutes, also for a later time, after the clock was set back. */
function isRecent(start: Date, now: Date): boolean {
  return Math.abs(now.getTime() - start.getTime()) < STARTS_WITHIN_MS
}

/** Returns the reason for a sync at the start; undefined: no sync. */
function dueReason(
  { lastRun, hasRates, tokenHash }: StartFacts,
  { cron, timeZone }: Timetable,
  now: Date,
): string | undefined {
  if (!lastRun || !hasRates) return 'nothing is stored yet'
  const { status, cause, started_at, finished_at, token_only, token_hash } = lastRun
  if (finished_at === null || cause === 'interrupted') return 'the last sync was interrupted'
  if (status !== 'ok' && !(token_only && token_hash === tokenHash)) return `the last sync was ${status}`
  const runStart = new Date(started_at)
  // A later start was written by a wrong clock.
  if (runStart > now) return 'the last sync is of a later date than today'
  const dawn = previousTime(cron, now, timeZone)
  return dawn !== undefined && runStart < dawn ? `the sync of ${dawn.toISOString()} was missed` : undefined
}

/** Returns the time at which a program without a restart would retry. */
function retryAttempt({ trigger, finished_at, started_at }: LastRun, now: Date): NextAttempt {
  const interval = trigger === 'retry' ? LATER_RETRY_MS : FIRST_RETRY_MS
  const at = new Date(finished_at ?? started_at).getTime() + interval
  const late = now.getTime() - at
  if (late < 0)
    return { trigger: 'retry', at: new Date(Math.min(at, now.getTime() + interval)), wait: interval }
  const hours = Math.floor(late / LATER_RETRY_MS) + 1
  return { trigger: 'retry', at: new Date(at + hours * LATER_RETRY_MS), wait: LATER_RETRY_MS }
}
