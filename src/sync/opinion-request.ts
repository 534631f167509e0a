// Requests a second opinion after a sync of the leader, beside all runs: it neither delays nor fails one. The database
// counts at most three requests a day, so that restarts and a new leader share the limit.

import { reportOpinion } from '../domain/rates/second-opinion.ts'
import { fetchOpinion, OPINION_SOURCE, type OpinionRequest } from '../providers/opinion-source.ts'
import type { Provider } from '../providers/provider.ts'
import { errorReason } from '../runtime/errors.ts'
import { atomically } from '../store/engine.ts'
import { findOpinion, type StoredOpinion, upsertOpinion } from '../store/rates/second-opinions.ts'
import { currentDay } from '../values/dates.ts'
import type { SyncDeps } from './run.ts'

export type SecondOpinion = {
  /**
   * Requests an opinion on the stored values within the limit of the day. Joins a request that is under way. Resolves at
   * its end, and never rejects.
   */
  request(bank: Provider): Promise<void>
  /** Aborts a request, and waits for its end. */
  close(): Promise<void>
}

const REQUESTS_PER_DAY = 3
const SILENCE_MS = 24 * 60 * 60_000 // after HTTP 429

export function openSecondOpinion(
  { db, clock, log }: Pick<SyncDeps, 'db' | 'clock' | 'log'>,
  request: OpinionRequest,
): SecondOpinion {
  const stop = new AbortController()
  const about = { source: OPINION_SOURCE }
  let running: Promise<void> | undefined
  let lastMessage: string | undefined
  const store = (opinion: StoredOpinion) =>
    atomically(db, (trx) => upsertOpinion(trx, OPINION_SOURCE, opinion))
  const report = (message: string | undefined) => {
    if (message !== undefined && message !== lastMessage) log.warn(message, about)
    lastMessage = message
  }
  const run = async (bank: Provider) => {
    const day = currentDay(clock)
    const before = await findOpinion(db, OPINION_SOURCE)
    const requests = before?.day === day ? before.requests : 0
    const silentMs = Date.parse(before?.silentUntil ?? '1970-01-01') - clock().getTime()
    const isSilent = silentMs > 0 && silentMs <= SILENCE_MS // a longer pause was stored by a wrong clock
    if (requests >= REQUESTS_PER_DAY || isSilent) return
    const opinion = { day, requests: requests + 1, answer: before?.answer }
    await store(opinion)
    const result = await fetchOpinion(request, stop.signal)
    const at = clock()
    if (result.kind === 'none') log.info('there is no second opinion', { ...about, reason: result.reason })
    else if (result.kind === 'busy') {
      log.info('there is no second opinion', { ...about, reason: 'HTTP 429' })
      await store({ ...opinion, silentUntil: new Date(at.getTime() + SILENCE_MS).toISOString() })
    } else {
      const sides = result.kind === 'rates' ? result.sides : []
      const answer = { host: new URL(request.url).hostname, at: at.toISOString(), sides }
      await store({ ...opinion, answer })
      report((await reportOpinion(db, bank, answer))?.message)
    }
  }
  return {
    async request(bank) {
      if (stop.signal.aborted) return
      running ??= run(bank)
        .catch((error: unknown) => {
          if (!stop.signal.aborted)
            log.error('the second opinion failed', { ...about, reason: errorReason(error) })
        })
        .finally(() => {
          running = undefined
        })
      await running
    },
    async close() {
      stop.abort()
      await running
    },
  }
}
