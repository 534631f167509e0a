// Whether the start of the program syncs at once, and when the next try is if it does not (decisions 2.15). An
// administrator who mended something and restarted waits for nothing, and a program that crashes again and again does
// not hammer the bank: the starts that synced are counted in the database.

import { type Clock, todayIn } from '../dates.ts'
import type { ProviderSettings } from '../providers/provider.ts'
import { previousTime } from '../schedule.ts'
import { selectProviders } from '../store/providers.ts'
import { hasRates } from '../store/rates.ts'
import { INTERRUPTED, type LastRun, selectNewestRun, selectStartsOf } from '../store/sync-runs.ts'
import type { Db, SyncTrigger } from '../store/tables.ts'
import { hasDollarOf, tokenHashOf } from './run.ts'

const MINUTE_MS = 60_000
export const FIRST_RETRY_MS = 15 * MINUTE_MS
export const LATER_RETRY_MS = 60 * MINUTE_MS
const MOST_STARTS = 3
const STARTS_WITHIN_MS = 10 * MINUTE_MS

/** What the database knows when the program starts. */
export type StartFacts = {
  /** Of each enabled provider. */
  providers: readonly {
    /** The newest run; undefined: there was none. */
    lastRun: LastRun | undefined
    /** When the newest starts that synced did so. */
    starts: readonly Date[]
  }[]
  /** Whether any rate is stored. */
  hasRates: boolean
  /** Whether today's dollar is stored. */
  current: boolean
  /** SHA-256 of the token that a run would be given; null: none; undefined: it cannot be read. */
  tokenHash: string | null | undefined
}

export type NextTry = {
  trigger: SyncTrigger
  at: Date
  /** No later than so many milliseconds from now, if the clock should be set back. */
  wait: number
}

/** `next` is undefined when nothing is to be done before the scheduled time. `why`, in words for the log. */
export type StartPlan = { why: string; next: NextTry | undefined }

export async function readStartFacts(
  db: Db,
  { clock, settings }: { clock: Clock; settings: () => ProviderSettings },
): Promise<StartFacts> {
  const providers: StartFacts['providers'][number][] = []
  for (const { id, enabled } of await selectProviders(db)) {
    if (!enabled) continue
    const starts = await selectStartsOf(db, { providerId: id, trigger: 'startup', limit: MOST_STARTS })
    providers.push({ lastRun: await selectNewestRun(db, id), starts })
  }
  let tokenHash: string | null | undefined
  try {
    tokenHash = tokenHashOf(settings())
  } catch {
    // The run that is begun for this will say why.
  }
  return {
    providers,
    hasRates: await hasRates(db),
    current: await hasDollarOf(db, todayIn(clock)),
    tokenHash,
  }
}

export function planStart(facts: StartFacts, cron: string, now: Date): StartPlan {
  const due = facts.providers.flatMap(({ lastRun, starts }) => {
    const why = whyDue(lastRun, facts, cron, now)
    return why === undefined ? [] : [{ why, recent: starts.filter((at) => isRecent(at, now)) }]
  })
  const [first] = due
  const full = due.find(({ recent }) => recent.length >= MOST_STARTS)
  const startAt = (at: Date): NextTry => ({ trigger: 'startup', at, wait: STARTS_WITHIN_MS })
  if (full) {
    const oldest = Math.min(...full.recent.map((at) => at.getTime()), now.getTime())
    const why = `${MOST_STARTS} starts have synced within ${STARTS_WITHIN_MS / MINUTE_MS} minutes`
    return { why, next: startAt(new Date(oldest + STARTS_WITHIN_MS)) }
  }
  if (first) return { why: first.why, next: startAt(now) }
  const runs = facts.providers.flatMap(({ lastRun }) => lastRun ?? [])
  const refused = runs.find(({ status }) => status !== 'ok')
  if (refused) return { why: 'the token was refused, and is still the same', next: retryAfter(refused, now) }
  const [last] = runs.sort((a, b) => b.id - a.id)
  if (!last || facts.current) return { why: 'the last sync was ok', next: undefined }
  return { why: "today's dollar was not there yet", next: retryAfter(last, now) }
}

/** A start of a clock that has been set back since counts too. */
function isRecent(start: Date, now: Date): boolean {
  return Math.abs(now.getTime() - start.getTime()) < STARTS_WITHIN_MS
}

/** Why a start syncs after this run, in words; undefined when it does not. */
function whyDue(
  lastRun: LastRun | undefined,
  facts: StartFacts,
  cron: string,
  now: Date,
): string | undefined {
  if (!lastRun || !facts.hasRates) return 'nothing is stored yet'
  const { status, message, started_at, finished_at, token_only, token_hash } = lastRun
  if (finished_at === null || message?.includes(INTERRUPTED)) return 'the last sync was interrupted'
  if (status !== 'ok' && !(token_only && token_hash === facts.tokenHash)) return `the last sync was ${status}`
  const began = new Date(started_at)
  // Then it was made under a wrong clock, and says nothing of today.
  if (began > now) return 'the last sync is of a later date than today'
  const dawn = previousTime(cron, now)
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
