// Waits for the database at the start. The port is open: /healthz is 200, everything else is 503 with Retry-After.
// After one minute the start fails.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError, errorCode, errorReason } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'
import { isDatabaseError, storageError } from '../runtime/storage-error.ts'
import { drainBody } from './endpoint/body.ts'
import { errorAnswer } from './endpoint/error-shape.ts'
import { RATES_ERRORS } from './figures/rates-errors.ts'
import { limitConnections } from './listener/connections.ts'
import { bareHeaders, openListener } from './listener/listen.ts'
import { sharedAddressTest } from './listener/proxy.ts'
import { targetPath } from './listener/request-line.ts'
import { openTls } from './listener/tls.ts'
import type { ServerOptions } from './server.ts'

export type Waiting = {
  /**
   * Returns the result of `open`; retries it while the database does not answer.
   * @throws the last error of `open` after one minute or when `stop` is aborted, and other errors at once
   */
  until<T>(open: () => Promise<T>): Promise<T>
  /** Releases the port. */
  close(): Promise<void>
}

type WaitingOptions = ServerOptions & { log: Log; stop?: AbortSignal | undefined }

const PATIENCE_MS = 60_000
const TRY_EVERY_MS = 500
// Wrong password, missing database, untrusted certificate, refusal of a pooler: a retry does not help.
const REFUSED = /^PG_(28|3D|3F|UNTRUSTED|REFUSED)/
const NOT_YET = new AppError('busy', 'The database does not answer yet: try again in a moment')

export function createWaiting(options: WaitingOptions, patienceMs = PATIENCE_MS): Waiting {
  const { log, stop } = options
  let listener: { close(): Promise<void> } | undefined
  return {
    async until(open) {
      const end = performance.now() + patienceMs
      while (true) {
        try {
          return await open()
        } catch (error) {
          if (!isAway(error) || stop?.aborted || performance.now() > end) throw error
          if (!listener) log.warn('waiting for the database', { reason: errorReason(error) })
          listener ??= await listen(options)
        }
        await wait(TRY_EVERY_MS)
      }
    },
    async close() {
      await listener?.close()
      listener = undefined
    },
  }
}

/** Returns true for errors of the database. Others, such as a port in use, would recur after a retry. */
function isAway(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return [error, cause].some((one) => {
    const failure = isDatabaseError(one) ? storageError(one) : one
    const isOutside =
      failure instanceof AppError && (failure.code === 'unavailable' || failure.code === 'busy')
    return isOutside && !REFUSED.test(errorCode(one))
  })
}

async function listen(options: WaitingOptions): Promise<{ close(): Promise<void> }> {
  const { log, host, port, tls: pairs, connections: limits, proxies } = options
  const tls = pairs?.length ? await openTls(pairs, log, () => new Date()) : undefined
  const connections = limitConnections({ log, limits, isShared: sharedAddressTest(proxies) })
  let requests = 0
  const nextId = () => `start-${requests++}`
  const { url, close } = await openListener(
    { host, port, tls, connections, selectErrorShape: () => RATES_ERRORS },
    (req, res) => {
      drainBody(req, res)
      const isAlive = targetPath(req.url ?? '') === '/healthz'
      const answer = isAlive
        ? { status: 200, body: '{"status":"ok"}', headers: {} }
        : errorAnswer(NOT_YET, RATES_ERRORS)
      res.writeHead(answer.status, { ...bareHeaders(nextId()), ...answer.headers }).end(answer.body)
    },
    nextId,
  )
  log.info('the port answers already', { url })
  return { close }
}
