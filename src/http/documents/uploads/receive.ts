import type { H3Event } from 'h3'
import type { Clock } from '../../../dates.ts'
import { acceptUpload, quotasBefore } from '../../../domain/documents/accept.ts'
import type { Arrivals } from '../../../domain/documents/arrivals.ts'
import { withinQuotas } from '../../../domain/documents/quotas.ts'
import { AppError } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import { createMemoryBudget, type MemoryLimits } from '../../../memory-budget.ts'
import { createSemaphore, type Semaphore } from '../../../semaphore.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import type { Db } from '../../../store/tables.ts'
import { accessOf, authorizedToken } from '../../api/auth.ts'
import { bodyOf, checkLength } from '../../api/body.ts'
import type { Reply } from '../../api/endpoint.ts'
import { nodeOf } from '../../api/send.ts'
import { bodyOfAccepted } from './answer.ts'
import { checkingDigests } from './digests.ts'
import { logAccepted, logRefused } from './log.ts'
import type { UploadReader, Way } from './reader.ts'

export type UploadLimits = {
  /** Largest request body, in bytes. */
  maxBody: number
  /** Disk space that stays free, in bytes. */
  minFree: number
  /** Uploads at once; others wait `waitMs` for their turn. */
  maxUploads: number
  waitMs: number
  /** How long a client may send nothing. */
  idleMs: number
  /** What uploads may hold in memory beside their contents; by default what decisions 3.3 say. */
  memory?: MemoryLimits
}

/** How long an upload waits for its turn, and a silent client is waited for. */
export const UPLOAD_WAITS = { waitMs: 5_000, idleMs: 30_000 }

const MEMORY: MemoryLimits = { each: 64 * 1024 ** 2, all: 128 * 1024 ** 2 } // decisions 3.3
const MAX_KEY = 255

export type UploadDeps = {
  db: Db
  arrivals: Arrivals
  wakeHooks: () => void
  blobs: Blobs
  clock: Clock
  limits: UploadLimits
  log: Log
}

/** What takes uploads, whichever way they are sent, under the same limits; and its semaphore, to be looked at. */
export type UploadReceiver = {
  /** The reply to an upload; `choose` says how its body is read. @throws AppError for what is not kept */
  receive(event: H3Event, choose: () => Way | Promise<Way>): Promise<Reply>
  semaphore: Pick<Semaphore, 'status'>
}

export function createUploadReceiver(deps: UploadDeps): UploadReceiver {
  const { limits, blobs, log } = deps
  const message = `${limits.maxUploads} uploads are under way: try again in a moment`
  const semaphore = createSemaphore(limits.maxUploads, { ms: limits.waitMs, message })
  const memory = createMemoryBudget(limits.memory ?? MEMORY)
  const watch = () => checkFreeSpace(blobs, limits.minFree)
  const running = new Set<string>()
  return {
    semaphore,
    async receive(event, choose) {
      const { req, res } = nodeOf(event)
      const token = authorizedToken(event)
      const about = { id: String(event.context.requestId), token: token.name }
      const share = memory.open()
      let reader: UploadReader | undefined
      const release = async () => {
        await reader?.discard() // harmless for what was kept
        share[Symbol.dispose]()
      }
      try {
        const stated = checkLength(req, limits.maxBody) ?? 0
        const key = idempotencyKeyOf(event.req.headers.get('idempotency-key'))
        const way = await choose()
        using _claim = claimKey(running, token.id, key)
        using _permit = await semaphore.acquire()
        const sender = { tokenId: token.id, access: accessOf(token), key }
        const quotas = await quotasBefore(deps, sender)
        await checkFreeSpace(blobs, limits.minFree + stated * way.density)
        const beginBatch = withinQuotas(quotas, blobs.beginBatch)
        reader = way.open({ beginBatch, memory: share, watch })
        const body = bodyOf(req, res, { maxBytes: limits.maxBody, idleMs: limits.idleMs, watch })
        try {
          await reader.read(checkingDigests(req.headers, body))
        } finally {
          await body.return()
        }
        const accepted = await acceptUpload(deps, reader.upload, sender)
        await logAccepted(log, about, accepted)
        return { body: await bodyOfAccepted(accepted, release) }
      } catch (error) {
        await release()
        logRefused(log, about, error, reader?.upload)
        throw error
      }
    },
  }
}

/** Holds a token's Idempotency-Key while its request is under way. @throws AppError `conflict` when it is held */
function claimKey(running: Set<string>, tokenId: number, key: string | undefined): Disposable | null {
  if (key === undefined) return null
  const claim = `${tokenId} ${key}`
  if (running.has(claim)) {
    throw new AppError('conflict', 'A request with this Idempotency-Key is in progress')
  }
  running.add(claim)
  return { [Symbol.dispose]: () => running.delete(claim) }
}

function idempotencyKeyOf(sent: string | null): string | undefined {
  if (sent === null) return undefined
  if (sent === '' || sent.length > MAX_KEY) {
    throw new AppError('bad-request', `Idempotency-Key must be 1 to ${MAX_KEY} characters`)
  }
  return sent
}

async function checkFreeSpace(blobs: Blobs, needed: number): Promise<void> {
  const free = await blobs.freeBytes?.()
  if (free !== undefined && free < needed) throw new AppError('disk-full', 'Not enough free disk space')
}
