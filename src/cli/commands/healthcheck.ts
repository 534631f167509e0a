import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates } from 'node:tls'
import { AppError, codeOf, reasonOf } from '../../errors.ts'
import { isServed } from '../../store/backup/data-dir-files.ts'
import { readServerAddress, WILDCARD } from '../../store/server-address.ts'
import { command } from '../command.ts'
import { becomeOwner } from '../data-dir.ts'
import { nonEmpty } from '../option-formats.ts'
import type { OptionValues } from '../option-values.ts'
import { faultOf, type Probe } from './probe.ts'

const ADDRESS = ['url', 'host', 'port']
const AGAIN_AFTER_MS = 100
const SETTLES_WITHIN_MS = 300

export const healthcheck = command({
  name: 'healthcheck',
  positionals: [],
  summary: 'ask a running server whether it is ready: exit 0, or 1 and why not',
  about: `With --fresh it also fails when a side of the dollar is older than two days, and says how old: that is for monitoring,
because no restart makes rates fresh. With --data-dir it asks the server that runs on that directory, unless --url, --host
or --port says which. With --url, --tls-cert names a certificate to trust, such as a copy of the server's.`,
  options: ['url', 'fresh', 'wait', 'pid', 'host', 'port', 'tls-cert', 'data-dir'],
  own: {
    'data-dir': {
      value: 'DIR',
      fallback: undefined,
      help: 'ask the server that runs on this data directory',
      format: nonEmpty,
    },
  },
  changesData: false,
  example: 'cambista healthcheck --wait 30',
  async run({ options, flags, terminal }) {
    const { fresh } = options
    const dataDir = ADDRESS.some((name) => flags.includes(name)) ? undefined : options['data-dir']
    const trusted = trustedBy(options)
    if (dataDir !== undefined) becomeOwner(dataDir)
    const address = () => (dataDir === undefined ? urlOf(options) : urlIn(dataDir))
    const unserved = `no server runs on ${dataDir}, or it does not listen yet`
    const end = performance.now() + options.wait * 1000
    const { pid } = options
    for (;;) {
      const url = address()
      if (fresh) url?.searchParams.set('fresh', 'true')
      const fault = url ? await faultOf({ url, trusted, stop: terminal.stop }) : unserved
      // Should another server have answered from its port, it ends within this time.
      if (pid !== undefined && fault === undefined) await sleep(SETTLES_WITHIN_MS)
      if (pid !== undefined && !isRunning(pid)) {
        throw new AppError('failed', `the server has ended before it was ready (process ${pid})`)
      }
      if (url && fault === undefined) {
        terminal.out(`${url.origin} is ready${fresh ? ', and the dollar is fresh' : ''}\n`)
        return 0
      }
      if (terminal.stop.aborted || performance.now() >= end) throw new AppError('failed', fault ?? unserved)
      await sleep(AGAIN_AFTER_MS)
    }
  },
})

/** /readyz of the server that runs on a data directory; undefined: none does. */
function urlIn(dataDir: string): URL | undefined {
  const given = isServed(dataDir) ? readServerAddress(dataDir) : undefined
  if (given === undefined) return undefined
  const url = new URL('/readyz', given)
  url.hostname = WILDCARD[url.hostname] ?? url.hostname
  return url
}

/** /readyz of --url, else of the server that --host and --port start on this machine. */
function urlOf(options: Pick<OptionValues, 'url' | 'host' | 'port' | 'tls-cert'>): URL {
  const given = options.url
  if (given !== undefined) {
    const url = new URL(given)
    url.pathname = `${url.pathname.replace(/\/(readyz)?$/, '')}/readyz`
    return url
  }
  const [host, port] = [options.host, options.port]
  if (port === 0) throw new AppError('usage', '--port 0 is a free port, and nobody knows which: give --url')
  const asked = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  const scheme = options['tls-cert'].length === 0 ? 'http' : 'https'
  const url = `${scheme}://${asked.includes(':') ? `[${asked}]` : asked}:${port}/readyz`
  if (!URL.canParse(url)) throw new AppError('usage', `--host ${JSON.stringify(host)} is no address`)
  return new URL(url)
}

/**
 * A server of this machine has a certificate that is not made out to 127.0.0.1, so any will do; that of another one must
 * be one to trust, which --tls-cert can add.
 */
function trustedBy(options: Pick<OptionValues, 'url' | 'tls-cert'>): Probe['trusted'] {
  if (options.url === undefined) return undefined
  try {
    return [...getCACertificates('default'), ...options['tls-cert'].map((file) => readFileSync(file))]
  } catch (error) {
    throw new AppError('failed', `cannot read the certificate to trust: ${reasonOf(error)}`, { cause: error })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM' // it is another user's
  }
}
