import type { H3Event } from 'h3'
import type { DocumentWaiters } from '../../../domain/documents/arrivals.ts'
import {
  type AcceptedUpload,
  acceptUpload,
  selectSenderQuotas,
  type UploadKey,
} from '../../../domain/documents/uploads/accept.ts'
import { createUploadGroups } from '../../../domain/documents/uploads/groups.ts'
import { checkFreeSpace, withinQuotas } from '../../../domain/documents/uploads/quotas.ts'
import { insertUploads } from '../../../domain/documents/uploads/store.ts'
import type { InvoiceTally } from '../../../domain/documents/uploads/uploaded-files.ts'
import { loadRecognition } from '../../../domain/invoices/invoice-reader.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { Log } from '../../../runtime/log.ts'
import { createMemoryBudget, type MemoryLimits } from '../../../runtime/memory-budget.ts'
import { createSemaphore, type Semaphore } from '../../../runtime/semaphore.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import type { RequestedOptions } from '../../../store/documents/documents.ts'
import type { WriteDb } from '../../../store/tables.ts'
import { checkWritable } from '../../../store/write-guard.ts'
import type { Clock } from '../../../values/dates.ts'
import { authorizedToken, type Client, tokenAccess } from '../../access/auth.ts'
import { nodeContext } from '../../endpoint/answers/send.ts'
import { checkLength, readBody } from '../../endpoint/body.ts'
import type { Reply } from '../../endpoint/endpoint.ts'
import { acceptedBody } from './answer.ts'
import type { BodyFormat, UploadReader } from './body-reader.ts'
import { verifyDigests } from './digests.ts'
import { logAccepted, logRefused } from './upload-log.ts'

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
  /** Memory of uploads beside their blobs; default: decisions#document. */
  memory?: MemoryLimits
}

/** Timeouts of the queue and of a silent client. */
export const UPLOAD_WAITS = { waitMs: 5_000, idleMs: 30_000 }

const MEMORY: MemoryLimits = { each: 64 * 1024 ** 2, all: 128 * 1024 ** 2 } // decisions#document
const MAX_KEY = 255

export type UploadDeps = {
  db: WriteDb
  waiters: DocumentWaiters
  wakeHooks: () => void
  blobs: Blobs
  clock: Clock
  limits: UploadLimits
  /** Turns of uploads, and of mails. */
  turns: Semaphore
  /** Invoices among all of them. */
  invoices: InvoiceTally
  log: Log
}

/** An upload that is about to be read. `body` is called in its turn. */
export type IncomingUpload = RequestedOptions & {
  format: BodyFormat
  key: UploadKey | undefined
  refusesDuplicates?: boolean
  /** Length of the body; 0: unknown. */
  declaredBytes: number
  body(watch: () => Promise<void>): IncomingUploadBody
}
/** `pieces`: of `source`, verified. */
type IncomingUploadBody = { source: AsyncGenerator<Uint8Array, void>; pieces: AsyncIterable<Uint8Array> }

/** Stores uploads of any origin and format under the same limits. */
export type UploadReceiver = {
  /**
   * Stores an upload. `open` returns it, or throws an error that is logged. The caller calls `release` when it no longer
   * needs the batch. @throws AppError for a rejected upload
   */
  store(
    client: Client,
    open: () => IncomingUpload | Promise<IncomingUpload>,
  ): Promise<{ accepted: AcceptedUpload; release: () => Promise<void> }>
  /** Replies to an upload; `chooseFormat` returns its format. @throws AppError like `store` */
  receive(event: H3Event, chooseFormat: () => BodyFormat | Promise<BodyFormat>): Promise<Reply>
  limits: UploadLimits
}

/** Creates the turns of uploads. */
export function createUploadTurns({ maxUploads, waitMs }: UploadLimits): Semaphore {
  const message = `${maxUploads} uploads are under way: try again in a moment`
  return createSemaphore(maxUploads, { ms: waitMs, message })
}

export function createUploadReceiver(deps: UploadDeps): UploadReceiver {
  const { db, limits, blobs, log, turns, invoices } = deps
  const commitInGroup = createUploadGroups((uploads) => insertUploads(db, blobs, uploads))
  const memory = createMemoryBudget(limits.memory ?? MEMORY)
  const watch = () => checkFreeSpace(blobs, limits.minFree)
  const running = new Set<string>()
  const store: UploadReceiver['store'] = async ({ token, requestId }, open) => {
    const context = { id: requestId, token: token.name }
    const share = memory.open()
    let reader: UploadReader | undefined
    const release = async () => {
      await reader?.discard() // has no effect on committed blobs
      share[Symbol.dispose]()
    }
    try {
      checkWritable(db)
      const { format, key, refusesDuplicates, declaredBytes, body, ...options } = await open()
      using _reservation = reserveKey(running, token.id, key)
      using _permit = await turns.acquire()
      const access = tokenAccess(token)
      const duplicates = refusesDuplicates
        ? {
            ...{ agentId: access.agentId, creator: token.name },
            showsIds: token.allow.includes('documents:GET'),
          }
        : undefined
      const sender = { tokenId: token.id, access, key, ...options, duplicates }
      const quotas = await selectSenderQuotas(deps, sender)
      await checkFreeSpace(blobs, limits.minFree + declaredBytes * format.density)
      const { recognizeBlob: recognize } = await loadRecognition()
      const beginBatch = withinQuotas(quotas, blobs.beginBatch)
      reader = format.open({ beginBatch, memory: share, watch, recognize })
      const { source, pieces } = body(watch)
      try {
        await reader.read(pieces)
      } finally {
        await source.return()
      }
      const accepted = await acceptUpload({ ...deps, commitInGroup }, reader.upload, sender)
      if (!accepted.isRepeated) invoices.addAll(accepted.batch.files.invoiceCounts())
      await logAccepted(log, context, accepted)
      return { accepted, release }
    } catch (error) {
      await release()
      logRefused(log, context, error, reader?.upload)
      throw error
    }
  }
  return {
    store,
    limits,
    async receive(event, chooseFormat) {
      const { headers } = event.req
      const client = { token: authorizedToken(event), requestId: String(event.context.requestId) }
      const { accepted, release } = await store(client, async () => {
        const body = incomingBody(event, limits)
        const key = parseIdempotencyKey(headers.get('idempotency-key'))
        const format = await chooseFormat()
        return {
          ...body,
          key,
          format,
          priority: choosePriority(headers.get('x-cambista-priority'), format.priority),
          refusesDuplicates:
            parseDuplicates(headers.get('x-cambista-duplicates')) || format.refusesDuplicates,
        }
      })
      return { body: await acceptedBody(accepted, release) }
    },
  }
}

/** Body of a request, whose digests are verified. @throws AppError `too-large` by its declared length */
export function incomingBody(
  event: H3Event,
  { maxBody, idleMs }: Pick<UploadLimits, 'maxBody' | 'idleMs'>,
): Pick<IncomingUpload, 'declaredBytes' | 'body'> {
  const { req, res } = nodeContext(event)
  return {
    declaredBytes: checkLength(req, maxBody) ?? 0,
    body(watch) {
      const source = readBody(req, res, { maxBytes: maxBody, idleMs, watch })
      return { source, pieces: verifyDigests(req.headers, source) }
    },
  }
}

/** Reserves a token's key during its request. @throws AppError `conflict` if it is in use */
function reserveKey(running: Set<string>, tokenId: number, key: UploadKey | undefined): Disposable | null {
  if (!key) return null
  const reservation = `${tokenId} ${key.value}`
  if (running.has(reservation)) throw new AppError('conflict', key.inProgress)
  running.add(reservation)
  return { [Symbol.dispose]: () => running.delete(reservation) }
}

function parseIdempotencyKey(header: string | null): UploadKey | undefined {
  if (header === null) return undefined
  if (header === '' || header.length > MAX_KEY) {
    throw new AppError('bad-request', `Idempotency-Key must be 1 to ${MAX_KEY} characters`)
  }
  return {
    value: header,
    inProgress: 'A request with this Idempotency-Key is in progress',
    otherBody: 'Idempotency-Key was used with another body',
  }
}

/**
 * Returns the priority in the header, else that in the query.
 * @throws AppError `bad-request` for a header that is no digit, or that differs from the query
 */
export function choosePriority(header: string | null, inQuery: number | undefined): number | undefined {
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

/** @throws AppError `bad-request` for another value than `refuse` */
export function parseDuplicates(header: string | null): boolean {
  if (header !== null && header !== 'refuse')
    throw new AppError('bad-request', 'X-Cambista-Duplicates must be refuse, or absent')
  return header !== null
}
