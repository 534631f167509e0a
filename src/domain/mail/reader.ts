// Reads mails in a thread of its own, so that no mail delays a request. The thread is started for the first mail and
// ended when it is idle. A mail that takes too long, or too much memory, ends it: a round reads that mail once more.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { MailContents, MailOptions, RefusedMail } from '../../formats/mail/mail.ts'
import { packedAsset } from '../../runtime/assets.ts'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { createSemaphore } from '../../runtime/semaphore.ts'

export type MailReader = {
  /**
   * Reads one mail at a time. The ArrayBuffer of `raw` is transferred: the caller's array is empty afterwards.
   * @throws AppError `failed` if the thread does not start; the reason of `signal`, if that aborts it
   */
  read(
    raw: Uint8Array<ArrayBuffer>,
    options: MailOptions,
    signal: AbortSignal,
  ): Promise<MailContents | RefusedMail>
  /** Ends the thread; a mail that is being read is rejected. */
  close(): Promise<void>
}

export type MailReaderLimits = { deadlineMs: number; idleMs: number }

const LIMITS: MailReaderLimits = { deadlineMs: 30_000, idleMs: 10_000 }
const MEMORY_MB = 192
const OVER_LIMITS: RefusedMail = {
  ...{ refused: 'unreadable', isOverLimits: true },
  ...{ fromText: '', subject: '', left: [] },
}
const PACKED = 'code/mail-reader.js' // asset of the executable (build.mjs)

export function openMailReader(limits: Partial<MailReaderLimits> = {}): MailReader {
  const { deadlineMs, idleMs } = { ...LIMITS, ...limits }
  const turns = createSemaphore(1)
  const closing = new AbortController()
  let worker: Worker | undefined
  let idleTimer: NodeJS.Timeout | undefined

  const deadline = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])
  const end = async () => {
    clearTimeout(idleTimer)
    const last = worker
    worker = undefined
    await last?.terminate()
  }
  const start = async (signal: AbortSignal) => {
    const created = createWorker()
    worker = created.once('exit', () => {
      if (worker === created) worker = undefined
    })
    try {
      await once(created, 'message', { signal: deadline(signal) })
      return created
    } catch (error) {
      await end()
      signal.throwIfAborted()
      const reason = errorReason(error)
      throw new AppError('failed', `the thread that reads mails does not start: ${reason}`, { cause: error })
    }
  }

  return {
    async read(raw, options, callerSignal) {
      const signal = AbortSignal.any([callerSignal, closing.signal])
      using _turn = await turns.acquire()
      signal.throwIfAborted()
      clearTimeout(idleTimer)
      const current = worker ?? (await start(signal))
      current.ref()
      const { buffer } = raw.byteLength === raw.buffer.byteLength ? raw : new Uint8Array(raw)
      current.postMessage({ raw: buffer, ...options }, [buffer])
      try {
        const [mail] = await once(current, 'message', { signal: deadline(signal) })
        current.unref() // an idle thread does not prevent the end of the process
        idleTimer = setTimeout(end, idleMs).unref()
        return mail
      } catch {
        await end()
        signal.throwIfAborted()
        return OVER_LIMITS // the mail exceeds its time or memory
      }
    },
    async close() {
      closing.abort(new AppError('unavailable', 'the server is stopping'))
      await end()
    },
  }
}

function createWorker(): Worker {
  const packed = packedAsset(PACKED)
  const options = {
    name: 'mail',
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  }
  const worker = packed
    ? new Worker(Buffer.from(packed).toString('latin1'), { ...options, eval: true })
    : new Worker(new URL('../../formats/mail/worker.ts', import.meta.url), options)
  worker.on('error', () => undefined) // `read` has it; without a listener it would end the process
  return worker
}
