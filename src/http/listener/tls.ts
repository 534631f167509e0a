// TLS without a proxy. Pairs of certificate and key are reloaded when their files change, so that a renewal needs no
// restart. A client gets the pair that matches its server name (SNI), else the first. There is no
// Strict-Transport-Security: clients are programs, and other services may use the host.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:https'
import { createSecureContext, type SecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls'
import { AppError, errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Clock } from '../../values/dates.ts'

/** Paths of PEM files. The certificate file contains the chain too. */
export type TlsFiles = { cert: string; key: string }

export type Tls = {
  /** Options of a TLS server. */
  context: SecureContextOptions & Pick<TlsOptions, 'SNICallback'>
  /** Passes renewed pairs of certificate and key to the server. */
  follow(server: Server): { close(): Promise<void> }
}

type CertificatePair = {
  options: SecureContextOptions
  context: SecureContext
  certificate: X509Certificate
}

type WatchedPair = CertificatePair & {
  files: TlsFiles
  fileState: string
  /** Time of the last warning of its expiry. */
  warnedAt: number
}

const CHECK_EVERY_MS = 1000
const DAY_MS = 86_400_000
// Automatic renewals happen earlier, after two thirds of the lifetime.
const WARN_BEFORE = { mostMs: 30 * DAY_MS, ofItsTime: 1 / 4 }

/**
 * Reads certificates and keys. Warns once a day in the last 30 days of a certificate, or in the last quarter of its
 * lifetime, if shorter.
 * @throws AppError `failed` that names the invalid file
 */
export async function openTls(files: readonly TlsFiles[], log: Log, clock: Clock): Promise<Tls> {
  const pairs: WatchedPair[] = []
  for (const one of files) {
    const fileState = await readFileState(one)
    pairs.push({ ...(await readPair(one, log)), files: one, fileState, warnedAt: Number.NEGATIVE_INFINITY })
  }
  const [first] = pairs
  if (!first) throw new TypeError('TLS needs a certificate')
  for (const pair of pairs) warnBeforeExpiry(pair, log, clock)
  const servers = new Set<Server>()
  let runningCheck: Promise<void> | undefined
  const checkFiles = async () => {
    for (const pair of pairs) {
      warnBeforeExpiry(pair, log, clock)
      if (!(await renew(pair, log)) || pair !== first) continue
      for (const server of servers) if (server instanceof TlsServer) server.setSecureContext(first.options)
    }
    runningCheck = undefined
  }
  return {
    context: pairs.length > 1 ? { ...first.options, SNICallback: createSelector(pairs) } : first.options,
    follow(server) {
      servers.add(server)
      const timer = setInterval(() => {
        runningCheck ??= checkFiles()
      }, CHECK_EVERY_MS)
      return {
        async close() {
          clearInterval(timer)
          servers.delete(server)
          await runningCheck
        },
      }
    },
  }
}

/** Selects by the names in the certificates: an exact name goes before a wildcard. */
function createSelector(pairs: readonly CertificatePair[]): NonNullable<TlsOptions['SNICallback']> {
  return (name, done) => {
    const { context } =
      pairs.find(({ certificate }) => matchesName(certificate, name, { wildcards: false })) ??
      pairs.find(({ certificate }) => matchesName(certificate, name, { wildcards: true })) ??
      {}
    done(null, context)
  }
}

function matchesName(certificate: X509Certificate, name: string, options: { wildcards: boolean }): boolean {
  try {
    return certificate.checkHost(name, options) !== undefined
  } catch {
    return false // a client may send an invalid name
  }
}

function warnBeforeExpiry(pair: WatchedPair, log: Log, clock: Clock): void {
  const now = clock().getTime()
  const { validFromDate: begin, validToDate: end } = pair.certificate
  const before = Math.min(WARN_BEFORE.mostMs, (end.getTime() - begin.getTime()) * WARN_BEFORE.ofItsTime)
  if (end.getTime() - now > before || now - pair.warnedAt < DAY_MS) return
  pair.warnedAt = now
  const event = end.getTime() < now ? 'certificate has ended' : 'certificate ends soon'
  log.warn(event, { file: pair.files.cert, until: end.toISOString() })
}

/** Reloads the files of a pair if they have changed and are valid. Returns true if it did. */
async function renew(pair: WatchedPair, log: Log): Promise<boolean> {
  try {
    const state = await readFileState(pair.files)
    if (state === pair.fileState) return false
    // Set before reading: half of a renewal is reported once, and the other half is another change.
    pair.fileState = state
    Object.assign(pair, await readPair(pair.files, log))
    return true
  } catch (error) {
    log.error('certificate not renewed: the one before stays', { reason: errorReason(error) })
    return false
  }
}

/** Text that changes with each of the files. A missing file is a state too. */
async function readFileState(files: TlsFiles): Promise<string> {
  const states = [files.cert, files.key].map(async (path) => {
    const { ctimeMs, ino } = await stat(path) // not the mtime: it does not change with permissions
    return `${ctimeMs} ${ino}`
  })
  return (await Promise.all(states.map((state) => state.catch(errorReason)))).join()
}

async function readPair(files: TlsFiles, log: Log): Promise<CertificatePair> {
  const cert = await read(files.cert, 'certificate')
  const key = await read(files.key, 'key')
  const certificate = parsePem(files.cert, 'certificate', () => new X509Certificate(cert))
  const privateKey = parsePem(files.key, 'key without a passphrase', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new AppError('failed', `the TLS key ${files.key} does not belong to the certificate ${files.cert}`)
  }
  const options: SecureContextOptions = { cert, key, minVersion: 'TLSv1.2' }
  const context = parsePem(files.cert, 'certificate', () => createSecureContext(options))
  if ((await stat(files.key)).mode & 0o004) {
    log.warn('everybody on this machine can read the TLS key', { file: files.key, hint: 'chmod o-r' })
  }
  log.info('certificate', { file: files.cert, until: certificate.validToDate.toISOString() })
  return { options, context, certificate }
}

async function read(path: string, what: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new AppError('failed', `cannot read the TLS ${what}: ${errorReason(error)}`, { cause: error })
  }
}

function parsePem<T>(path: string, what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new AppError('failed', `${path} is no TLS ${what} in PEM form: ${errorReason(error)}`, {
      cause: error,
    })
  }
}
