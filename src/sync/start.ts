// Whether the start of the program syncs at once, and when the next try is if it does not (decisions 2.15). An
// administrator who mended something and restarted waits for nothing, and a program that crashes again and again does
// not hammer the bank: the starts that synced are counted in the database.

import { type Clock, todayIn } from '../dates.ts'
import { dueDay, dueInWords } from '../domain/rates/freshness.ts'
import type { Provider, ProviderSettings } from '../providers/provider.ts'
import { previousTime } from '../schedule.ts'
import { selectProviders } from '../store/rates/providers.ts'
import { hasRatesOf } from '../store/rates/rates.ts'
import { INTERRUPTED, type LastRun, selectNewestRun, selectStartsOf } from '../store/sync-runs.ts'
import type { Db, SyncTrigger } from '../store/tables.ts'
import { hasBenchmarkOf, tokenHashOf } from './run.ts'

const MINUTE_MS = 60_000
export const FIRST_RETRY_MS = 15 * MINUTE_MS
export const LATER_RETRY_MS = 60 * MINUTE_MS
const MOST_STARTS = 3
const STARTS_WITHIN_MS = 10 * MINUTE_MS

/** What the database knows of a provider when the program starts. */
export type StartFacts = {
  enabled: boolean
  /** The newest run; undefined: there was none. */
  lastRun: LastRun | undefined
  /** When the newest starts that synced did so. */
  starts: readonly Date[]
  /** Whether any rate is stored. */
  hasRates: boolean
  /** Whether the newest values that are due are stored. */
  current: boolean
  /** What is due, in words. */
  due: string
  /** SHA-256 of the token that a run would be given; null: none; undefined: it cannot be read. */
  tokenHash: string | null | undefined
}

/** When a provider is synced: a cron pattern, in the time of a zone. */
export type Timetable = { cron: string; timeZone: string }

export type NextTry = {
  trigger: SyncTrigger
  at: Date
  /** No later than so many milliseconds from now, if the clock should be set back. */
  wait: number
}

/** `next` is undefined when nothing is to be done before the scheduled time. `why`, in words for the log. */
export type StartPlan = { why: string; next: NextTry | undefined }

/** Undefined for a provider that is not in the database. */
export async function readStartFacts(
  db: Db,
  provider: Provider,
  { clock, settings }: { clock: Clock; settings: (provider: Provider) => ProviderSettings },
): Promise<StartFacts | undefined> {
  const row = (await selectProviders(db)).find(({ code }) => code === provider.code)
  if (!row) return undefined
  let tokenHash: string | null | undefined
  try {
    tokenHash = tokenHashOf(settings(provider))
  } catch {
    // The run that is begun for this will say why.
  }
  const due = dueDay(provider, clock)
  return {
    enabled: row.enabled,
    lastRun: await selectNewestRun(db, row.id),
    starts: await selectStartsOf(db, { providerId: row.id, trigger: 'startup', limit: MOST_STARTS }),
    hasRates: await hasRatesOf(db, row.id),
    current: await hasBenchmarkOf(db, provider, due),
    due: dueInWords(provider, due, todayIn(clock, provider.timeZone)),
    tokenHash,
  }
}

export function planStart(facts: StartFacts, timetable: Timetable, now: Date): StartPlan {
  const { enabled, lastRun, starts, current, due } = facts
  if (!enabled) return { why: 'the provider is disabled', next: undefined }
  const why = whyDue(facts, timetable, now)
  const startAt = (at: Date): NextTry => ({ trigger: 'startup', at, wait: STARTS_WITHIN_MS })
  const recent = starts.filter((at) => isRecent(at, now))
  if (why !== undefined && recent.length >= MOST_STARTS) {
    const oldest = Math.min(...recent.map((at) => at.getTime()), now.getTime())
    const full = `${MOST_STARTS} starts have synced within ${STARTS_WITHIN_MS / MINUTE_MS} minutes`
    return { why: full, next: startAt(new Date(oldest + STARTS_WITHIN_MS)) }
  }
  if (why !== undefined || !lastRun) return { why: why ?? '', next: startAt(now) }
  if (lastRun.status !== 'ok') {
    return { why: 'the token was refused, and is still the same', next: retryAfter(lastRun, now) }
  }
  if (current) return { why: 'the last sync was ok', next: undefined }
  return { why: `${due} was not there yet`, next: retryAfter(lastRun, now) }
}

/** A start of a clock that has been set back since counts too. */
function isRecent(start: Date, now: Date): boolean {
  return Math.abs(now.getTime() - start.getTime()) < STARTS_WITHIN_MS
}

/** Why a start syncs, in words; undefined when it does not. */
function whyDue(
  { lastRun, hasRates, tokenHash }: StartFacts,
  { cron, timeZone }: Timetable,
  now: Date,
): string | undefined {
  if (!lastRun || !hasRates) return 'nothing is stored yet'
  const { status, message, started_at, finished_at, token_only, token_hash } = lastRun
  if (finished_at === null || message?.includes(INTERRUPTED)) return 'the last sync was interrupted'
  if (status !== 'ok' && !(token_only && token_hash === tokenHash)) return `the last sync was ${status}`
  const began = new Date(started_at)
  // Then it was made under a wrong clock, and says nothing of today.
  if (began > now) return 'the last sync is of a later date than today'
  const dawn = previousTime(cron, now, timeZone)
  return dawn !== undefined && began < dawn ? `the sync of ${dawn.toISOString()} was missed` : undefined
}

/** When a program that had gone on after this run would try again: a restart puts nothing off. */
function retryAfter({ trigger, finished_at, started_at }: LastRun, now: Date): NextTry {
  const first = trigger === 'retry' ? LATER_RETRY_MS : FIRST_RETRY_MS
  const at = new Date(finished_at ?? started_at).getTime() + first
  const late = now.getTime() - at
  if (late < 0) return { trigger: 'retry', at: new Date(Math.min(at, now.getTime() + first)), wait: first }
  const hours = Math.floor(late / LATER_RETRY_MS) + 1
  return { trigger: 'retry', at: new Date(at + hours * LATER_RETRY_MS), wait: LATER_RETRY_MS }
}
