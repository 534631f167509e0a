import type { H3Event } from 'h3'
import { acceptUpload, selectSenderQuotas } from '../../../domain/documents/accept.ts'
import type { DocumentWaiters } from '../../../domain/documents/arrivals.ts'
import { insertUploads } from '../../../domain/documents/insert-uploads.ts'
import { withinQuotas } from '../../../domain/documents/quotas.ts'
import { createUploadGroups } from '../../../domain/documents/upload-groups.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { Log } from '../../../runtime/log.ts'
import { createMemoryBudget, type MemoryLimits } from '../../../runtime/memory-budget.ts'
import { createSemaphore, type Semaphore } from '../../../runtime/semaphore.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import { engineSql } from '../../../store/engine.ts'
import type { WriteDb } from '../../../store/tables.ts'
import { checkWritable } from '../../../store/write-guard.ts'
import type { Clock } from '../../../values/dates.ts'
import { authorizedToken, tokenAccess } from '../../access/auth.ts'
import { checkLength, readBody } from '../../endpoint/body.ts'
import type { Reply } from '../../endpoint/endpoint.ts'
import { nodeContext } from '../../endpoint/send.ts'
import { acceptedBody } from './answer.ts'
import { verifyDigests } from './digests.ts'
import { logAccepted, logRefused } from './log.ts'
import type { BodyFormat, UploadReader } from './reader.ts'

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
  /** Memory of uploads beside their blobs; default: decisions 3.3. */
  memory?: MemoryLimits
}

/** Timeouts of the queue and of a silent client. */
export const UPLOAD_WAITS = { waitMs: 5_000, idleMs: 30_000 }

const MEMORY: MemoryLimits = { each: 64 * 1024 ** 2, all: 128 * 1024 ** 2 } // decisions 3.3
const MAX_KEY = 255

export type UploadDeps = {
  db: WriteDb
  waiters: DocumentWaiters
  wakeHooks: () => void
  blobs: Blobs
  clock: Clock
  limits: UploadLimits
  log: Log
}

/** Receives uploads of any format under the same limits; the semaphore is for metrics. */
type UploadReceiver = {
  /** Replies to an upload; `chooseFormat` returns its format. @throws AppError for a rejected upload */
  receive(event: H3Event, chooseFormat: () => BodyFormat | Promise<BodyFormat>): Promise<Reply>
  semaphore: Pick<Semaphore, 'status'>
}

export function createUploadReceiver(deps: UploadDeps): UploadReceiver {
  const { db, limits, blobs, log } = deps
  const commitInGroup = engineSql(db).sharesCommits
    ? createUploadGroups((uploads) => insertUploads(db, blobs, uploads))
    : undefined
  const message = `${limits.maxUploads} uploads are under way: try again in a moment`
  const semaphore = createSemaphore(limits.maxUploads, { ms: limits.waitMs, message })
  const memory = createMemoryBudget(limits.memory ?? MEMORY)
  const watch = () => checkFreeSpace(blobs, limits.minFree)
  const running = new Set<string>()
  return {
    semaphore,
    async receive(event, chooseFormat) {
      const { req, res } = nodeContext(event)
      const token = authorizedToken(event)
      const context = { id: String(event.context.requestId), token: token.name }
      const share = memory.open()
      let reader: UploadReader | undefined
      const release = async () => {
        await reader?.discard() // has no effect on committed blobs
        share[Symbol.dispose]()
      }
      try {
        checkWritable(db)
        const declaredBytes = checkLength(req, limits.maxBody) ?? 0
        const key = parseIdempotencyKey(event.req.headers.get('idempotency-key'))
        const format = await chooseFormat()
        const priority = choosePriority(event.req.headers.get('x-cambista-priority'), format.priority)
        using _reservation = reserveKey(running, token.id, key)
        using _permit = await semaphore.acquire()
        const sender = { tokenId: token.id, access: tokenAccess(token), key, priority }
        const quotas = await selectSenderQuotas(deps, sender)
        await checkFreeSpace(blobs, limits.minFree + declaredBytes * format.density)
        const beginBatch = withinQuotas(quotas, blobs.beginBatch)
        reader = format.open({ beginBatch, memory: share, watch })
        const body = readBody(req, res, { maxBytes: limits.maxBody, idleMs: limits.idleMs, watch })
        try {
          await reader.read(verifyDigests(req.headers, body))
        } finally {
          await body.return()
        }
        const accepted = await acceptUpload({ ...deps, commitInGroup }, reader.upload, sender)
        await logAccepted(log, context, accepted)
        return { body: await acceptedBody(accepted, release) }
      } catch (error) {
        await release()
        logRefused(log, context, error, reader?.upload)
        throw error
      }
    },
  }
}

/** Reserves a token's Idempotency-Key during its request. @throws AppError `conflict` if it is in use */
function reserveKey(running: Set<string>, tokenId: number, key: string | undefined): Disposable | null {
  if (key === undefined) return null
  const reservation = `${tokenId} ${key}`
  if (running.has(reservation)) {
    throw new AppError('conflict', 'A request with this Idempotency-Key is in progress')
  }
  running.add(reservation)
  return { [Symbol.dispose]: () => running.delete(reservation) }
}

function parseIdempotencyKey(header: string | null): string | undefined {
  if (header === null) return undefined
  if (header === '' || header.length > MAX_KEY) {
    throw new AppError('bad-request', `Idempotency-Key must be 1 to ${MAX_KEY} characters`)
  }
  return header
}

/**
 * Returns the priority in the header, else that in the query.
 * @throws AppError `bad-request` for a header that is no digit, or that differs from the query
 */
function choosePriority(header: string | null, inQuery: number | undefined): number | undefined {
  if (header === null) return inQuery
  if (!/^\d$/.test(header))
    throw new AppError('bad-request', 'X-Cambista-Priority must be a digit from 0 to 9')
  const priority = Number(header)
  if (inQuery === undefined || inQuery === priority) return priority
  throw new AppError(
    'bad-request',
    'X-Cambista-Priority differs from priority in the address: send one of them',
  )
}

async function checkFreeSpace(blobs: Blobs, needed: number): Promise<void> {
  const free = await blobs.freeBytes?.()
  if (free !== undefined && free < needed) throw new AppError('disk-full', 'Not enough free disk space')
}
