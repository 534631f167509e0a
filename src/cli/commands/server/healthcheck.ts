import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates } from 'node:tls'
import { isServed } from '../../../domain/operations/backup/data-dir-files.ts'
import { AppError, errorCode } from '../../../runtime/errors.ts'
import { readServerAddress, WILDCARD } from '../../../store/server-address.ts'
import { command } from '../../command.ts'
import { nonEmpty } from '../../options/formats.ts'
import { option, variableName } from '../../options/names.ts'
import type { OptionValues } from '../../options/values.ts'
import { becomeOwner } from '../../storage/data-dir.ts'
import { readNamedFile } from '../../storage/storage-options.ts'
import { type Probe, type ProbeResult, probeServer } from './probe.ts'

const ADDRESS = ['url', 'host', 'port']
const DATA_DIR_VARIABLE = variableName('data-dir')
const DATABASE_VARIABLES = ['database', 'database-file'].map(variableName)
const RETRY_AFTER_MS = 100
const SETTLE_MS = 300

export const healthcheck = command({
  name: 'healthcheck',
  options: ['url', 'fresh', 'wait', 'pid', 'host', 'port', 'tls-cert', 'data-dir'],
  overrides: { 'data-dir': option('DIR', nonEmpty) },
  async run({ options, flags, terminal, settings }) {
    const { fresh } = options
    const hasAddress = ADDRESS.some((name) => flags.includes(name))
    const dataDir = hasAddress ? undefined : options['data-dir']
    // In a container the variable names the directory of the only server. Settings of a service rank below a port of
    // the environment. The address in a directory is out of date once nodes share a database.
    const { [DATA_DIR_VARIABLE]: variable } = terminal.env
    const isShared = DATABASE_VARIABLES.some((name) => terminal.env[name] || settings.values[name])
    const ownDataDir = hasAddress || isShared || settings.values[DATA_DIR_VARIABLE] ? undefined : variable
    const certificates = readTrustedCertificates(options)
    if (dataDir !== undefined) becomeOwner(dataDir)
    const findUrl = () =>
      dataDir === undefined ? (writtenUrl(ownDataDir) ?? optionsUrl(options)) : runningServerUrl(dataDir)
    const unserved = `no server runs on ${dataDir}, or it does not listen yet`
    const end = performance.now() + options.wait * 1000
    const { pid } = options
    for (;;) {
      const url = findUrl()
      if (fresh) url?.searchParams.set('fresh', 'true')
      const result: ProbeResult = url
        ? await probeServer({ url, trusted: certificates, stop: terminal.stop })
        : { error: unserved }
      const { error } = result
      // If another server answered on this port, the new process exits within this time.
      if (pid !== undefined && error === undefined) await sleep(SETTLE_MS)
      if (pid !== undefined && !isRunning(pid)) {
        throw new AppError('failed', `the server has ended before it was ready (process ${pid})`)
      }
      if (url && error === undefined) {
        const state = `${url.origin} is ready${fresh ? ', and the dollar is fresh' : ''}`
        terminal.out(`${[state, result.detail ?? []].flat().join('; ')}\n`)
        return
      }
      if (terminal.stop.aborted || performance.now() >= end) throw new AppError('failed', error ?? unserved)
      await sleep(RETRY_AFTER_MS)
    }
  },
})

/** Returns /readyz of the server of a data directory; undefined without a server. */
function runningServerUrl(dataDir: string): URL | undefined {
  return isServed(dataDir) ? readyzUrl(readServerAddress(dataDir)) : undefined
}

/**
 * Returns /readyz of the last server of a data directory, without reading its lock. SQLite would have to be loaded for
 * the lock, and a full disk would fail the check. Undefined: the server has ended, or the directory is not readable.
 */
function writtenUrl(dataDir: string | undefined): URL | undefined {
  try {
    return dataDir ? readyzUrl(readServerAddress(dataDir)) : undefined
  } catch {
    return undefined // host and port remain
  }
}

function readyzUrl(address: string | undefined): URL | undefined {
  if (address === undefined) return undefined
  const url = new URL('/readyz', address)
  url.hostname = WILDCARD[url.hostname] ?? url.hostname
  return url
}

/** Returns /readyz of --url, else of --host and --port on this machine. */
function optionsUrl(options: Pick<OptionValues, 'url' | 'host' | 'port' | 'tls-cert'>): URL {
  if (options.url !== undefined) {
    const url = new URL(options.url)
    url.pathname = `${url.pathname.replace(/\/(readyz)?$/, '')}/readyz`
    return url
  }
  const [host, port] = [options.host, options.port]
  if (port === 0) throw new AppError('usage', '--port 0 is a free port, and nobody knows which: give --url')
  const target = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  const scheme = options['tls-cert'].length === 0 ? 'http' : 'https'
  const url = `${scheme}://${target.includes(':') ? `[${target}]` : target}:${port}/readyz`
  if (!URL.canParse(url)) throw new AppError('usage', `--host ${JSON.stringify(host)} is no address`)
  return new URL(url)
}

/**
 * Returns the certificates to trust for --url; --tls-cert adds some. Undefined, for a server of this machine, trusts any
 * certificate, since none is valid for 127.0.0.1.
 */
function readTrustedCertificates(options: Pick<OptionValues, 'url' | 'tls-cert'>): Probe['trusted'] {
  if (options.url === undefined) return undefined
  const files = options['tls-cert'].map((file) => readNamedFile(file, 'the certificate to trust'))
  return [...getCACertificates('default'), ...files]
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM' // a process of another user
  }
}
