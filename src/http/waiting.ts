// Before a server has its database: the port is there, /healthz says that the process lives, and whatever else is asked is to
// be asked again a moment later. After a minute the start has failed.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError, codeOf, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { isOfDatabase, storageError } from '../storage-error.ts'
import { drainAfter } from './api/body.ts'
import { errorAnswer } from './api/errors.ts'
import { limitConnections } from './listener/connections.ts'
import { bareHeaders, listenOn } from './listener/listen.ts'
import { isSharedBy } from './listener/proxy.ts'
import { pathOf } from './listener/request-line.ts'
import { openTls } from './listener/tls.ts'
import { RATES_ERRORS } from './rates/errors.ts'
import type { ServerOptions } from './server.ts'

export type Waiting = {
  /**
   * What is opened, as a whole, tried again while the database does not answer. @throws the last error of `open` after a
   * minute, or once `stop` is aborted, and at once one that says anything else
   */
  until<T>(open: () => Promise<T>): Promise<T>
  /** Gives the port free. */
  close(): Promise<void>
}

type WaitingOptions = ServerOptions & { log: Log; stop?: AbortSignal | undefined }

const PATIENCE_MS = 60_000
const TRY_EVERY_MS = 500
// No password, no database of that name, a certificate that is not trusted: time does not mend it.
const REFUSED = /^PG_(28|3D|3F|UNTRUSTED)/
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
          if (!listener) log.warn('waiting for the database', { reason: reasonOf(error) })
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

/** Of the database alone: a port that is in use is in use a minute later, too. */
function isAway(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return [error, cause].some((one) => {
    const known = isOfDatabase(one) ? storageError(one) : one
    const isOutside = known instanceof AppError && (known.code === 'unavailable' || known.code === 'busy')
    return isOutside && !REFUSED.test(codeOf(one))
  })
}

async function listen(options: WaitingOptions): Promise<{ close(): Promise<void> }> {
  const { log, host, port, tls: pairs, connections: limits, proxies } = options
  const tls = pairs?.length ? await openTls(pairs, log, () => new Date()) : undefined
  const connections = limitConnections({ log, limits, isShared: isSharedBy(proxies) })
  let requests = 0
  const nextId = () => `start-${requests++}`
  const { url, close } = await listenOn(
    { host, port, tls, connections, errorsOf: () => RATES_ERRORS },
    (req, res) => {
      drainAfter(req, res)
      const isAlive = pathOf(req.url ?? '') === '/healthz'
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
