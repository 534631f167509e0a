// TLS without a proxy: a certificate and its key, read again when their files change, so that a renewal
// needs no restart. No Strict-Transport-Security: clients are programs, and the host may serve other things.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { AppError, reasonOf } from '../../errors.ts'
import type { Log } from '../../log.ts'

/** Paths of files in PEM form; the certificate's has its chain too. */
export type TlsFiles = { cert: string; key: string }

export type Tls = {
  context: SecureContextOptions
  /** Gives the server each newer pair of certificate and key. */
  follow(server: Server): { close(): Promise<void> }
}

const LOOK_EVERY_MS = 1000

/** Reads certificate and key. @throws AppError `failed` that says which of the two is wrong */
export async function openTls(files: TlsFiles, log: Log): Promise<Tls> {
  let seen = await stateOf(files)
  let looking: Promise<void> | undefined
  const context = await readPair(files, log)
  const look = async (server: Server) => {
    try {
      const state = await stateOf(files)
      if (state === seen) return
      // Noted before it is read: half of a renewal is reported once, and the other half is one more change.
      seen = state
      const renewed = await readPair(files, log)
      if (server instanceof TlsServer) server.setSecureContext(renewed)
    } catch (error) {
      log.error('certificate not renewed: the one before stays', { reason: reasonOf(error) })
    } finally {
      looking = undefined
    }
  }
  return {
    context,
    follow(server) {
      const timer = setInterval(() => {
        looking ??= look(server)
      }, LOOK_EVERY_MS)
      return {
        async close() {
          clearInterval(timer)
          await looking
        },
      }
    },
  }
}

/** Changes when one of the files does. One that is missing for a moment is a state too. */
async function stateOf(files: TlsFiles): Promise<string> {
  const states = [files.cert, files.key].map(async (path) => {
    const { ctimeMs, ino } = await stat(path) // not the mtime: new rights may be what was missing
    return `${ctimeMs} ${ino}`
  })
  return (await Promise.all(states.map((state) => state.catch(reasonOf)))).join()
}

async function readPair(files: TlsFiles, log: Log): Promise<SecureContextOptions> {
  const cert = await read(files.cert, 'certificate')
  const key = await read(files.key, 'key')
  const certificate = parsed(files.cert, 'certificate', () => new X509Certificate(cert))
  const privateKey = parsed(files.key, 'key without a passphrase', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new AppError('failed', `the TLS key ${files.key} does not belong to the certificate ${files.cert}`)
  }
  const context: SecureContextOptions = { cert, key, minVersion: 'TLSv1.2' }
  parsed(files.cert, 'certificate', () => createSecureContext(context))
  if ((await stat(files.key)).mode & 0o004) {
    log.warn('everybody on this machine can read the TLS key', { file: files.key, hint: 'chmod o-r' })
  }
  log.info('certificate', { file: files.cert, until: certificate.validToDate.toISOString() })
  return context
}

async function read(path: string, what: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new AppError('failed', `cannot read the TLS ${what}: ${reasonOf(error)}`, { cause: error })
  }
}

function parsed<T>(path: string, what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new AppError('failed', `${path} is no TLS ${what} in PEM form: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}
