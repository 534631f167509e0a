// TLS without a proxy: pairs of a certificate and its key, read again when their files change, so that a renewal
// needs no restart. A client gets the pair whose certificate has the name that it asks for (SNI), else the first.
// No Strict-Transport-Security: clients are programs, and the host may serve other things.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:https'
import { createSecureContext, type SecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls'
import type { Clock } from '../../dates.ts'
import { AppError, reasonOf } from '../../errors.ts'
import type { Log } from '../../log.ts'

/** Paths of files in PEM form; the certificate's has its chain too. */
export type TlsFiles = { cert: string; key: string }

export type Tls = {
  /** What a server is made with. */
  context: SecureContextOptions & Pick<TlsOptions, 'SNICallback'>
  /** Gives the server each newer pair of certificate and key. */
  follow(server: Server): { close(): Promise<void> }
}

type Pair = {
  options: SecureContextOptions
  context: SecureContext
  certificate: X509Certificate
}

type Followed = Pair & {
  files: TlsFiles
  seen: string
  /** When its end was last warned of. */
  warnedAt: number
}

const LOOK_EVERY_MS = 1000
const DAY_MS = 86_400_000
// Of one that is renewed by itself, by then it has been: after two thirds of its time.
const WARN_BEFORE = { mostMs: 30 * DAY_MS, ofItsTime: 1 / 4 }

/**
 * Reads certificates and keys, and warns each day from a month before one ends, or in the last quarter of a shorter one.
 * @throws AppError `failed` that says which file is wrong
 */
export async function openTls(files: readonly TlsFiles[], log: Log, clock: Clock): Promise<Tls> {
  const pairs: Followed[] = []
  for (const one of files) {
    const seen = await stateOf(one)
    pairs.push({ ...(await readPair(one, log)), files: one, seen, warnedAt: Number.NEGATIVE_INFINITY })
  }
  const [first] = pairs
  if (!first) throw new TypeError('TLS needs a certificate')
  for (const pair of pairs) warnOfEnd(pair, log, clock)
  const servers = new Set<Server>()
  let looking: Promise<void> | undefined
  const look = async () => {
    for (const pair of pairs) {
      warnOfEnd(pair, log, clock)
      if (!(await renew(pair, log)) || pair !== first) continue
      for (const server of servers) if (server instanceof TlsServer) server.setSecureContext(first.options)
    }
    looking = undefined
  }
  return {
    context: pairs.length > 1 ? { ...first.options, SNICallback: chooser(pairs) } : first.options,
    follow(server) {
      servers.add(server)
      const timer = setInterval(() => {
        looking ??= look()
      }, LOOK_EVERY_MS)
      return {
        async close() {
          clearInterval(timer)
          servers.delete(server)
          await looking
        },
      }
    },
  }
}

/** Chooses by the names in the certificates: one that has the name itself goes before a wildcard. */
function chooser(pairs: readonly Pair[]): NonNullable<TlsOptions['SNICallback']> {
  return (name, done) => {
    const { context } =
      pairs.find(({ certificate }) => isFor(certificate, name, { wildcards: false })) ??
      pairs.find(({ certificate }) => isFor(certificate, name, { wildcards: true })) ??
      {}
    done(null, context)
  }
}

function isFor(certificate: X509Certificate, name: string, options: { wildcards: boolean }): boolean {
  try {
    return certificate.checkHost(name, options) !== undefined
  } catch {
    return false // a client may send what is no name
  }
}

function warnOfEnd(pair: Followed, log: Log, clock: Clock): void {
  const now = clock().getTime()
  const { validFromDate: begin, validToDate: end } = pair.certificate
  const before = Math.min(WARN_BEFORE.mostMs, (end.getTime() - begin.getTime()) * WARN_BEFORE.ofItsTime)
  if (end.getTime() - now > before || now - pair.warnedAt < DAY_MS) return
  pair.warnedAt = now
  const event = end.getTime() < now ? 'certificate has ended' : 'certificate ends soon'
  log.warn(event, { file: pair.files.cert, until: end.toISOString() })
}

/** Takes the files of a pair when they have changed and are right. Returns whether it did. */
async function renew(pair: Followed, log: Log): Promise<boolean> {
  try {
    const state = await stateOf(pair.files)
    if (state === pair.seen) return false
    // Noted before it is read: half of a renewal is reported once, and the other half is one more change.
    pair.seen = state
    Object.assign(pair, await readPair(pair.files, log))
    return true
  } catch (error) {
    log.error('certificate not renewed: the one before stays', { reason: reasonOf(error) })
    return false
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

async function readPair(files: TlsFiles, log: Log): Promise<Pair> {
  const cert = await read(files.cert, 'certificate')
  const key = await read(files.key, 'key')
  const certificate = parsed(files.cert, 'certificate', () => new X509Certificate(cert))
  const privateKey = parsed(files.key, 'key without a passphrase', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new AppError('failed', `the TLS key ${files.key} does not belong to the certificate ${files.cert}`)
  }
  const options: SecureContextOptions = { cert, key, minVersion: 'TLSv1.2' }
  const context = parsed(files.cert, 'certificate', () => createSecureContext(options))
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
