import { request as httpRequest } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, codeOf, reasonOf } from '../errors.ts'
import type { Values } from './args.ts'
import type { Command } from './command.ts'

const ANSWER_WITHIN_MS = 5000
const AGAIN_AFTER_MS = 100
const SETTLES_WITHIN_MS = 300

export const healthcheck: Command = {
  name: 'healthcheck',
  takes: [],
  summary: 'ask a running server whether it is ready: exit 0, or 1 and why not',
  options: ['url', 'wait', 'pid', 'host', 'port', 'tls-cert'],
  example: 'cambista healthcheck --wait 30',
  async run({ values, terminal }) {
    const url = addressOf(values)
    const anyCertificate = values.given('url') === undefined // that of this machine is not made out to 127.0.0.1
    const end = performance.now() + values.number('wait') * 1000
    const pid = values.givenNumber('pid')
    for (;;) {
      const fault = await faultOf(url, { anyCertificate, stop: terminal.stop })
      // Should another server have answered from its port, it ends within this time.
      if (pid !== undefined && fault === undefined) await sleep(SETTLES_WITHIN_MS)
      if (pid !== undefined && !isRunning(pid)) {
        throw new AppError('failed', `the server has ended before it was ready (process ${pid})`)
      }
      if (fault === undefined) break
      if (terminal.stop.aborted || performance.now() >= end) throw new AppError('failed', fault)
      await sleep(AGAIN_AFTER_MS)
    }
    terminal.out(`${url.origin} is ready\n`)
    return 0
  },
}

/** /readyz of --url, else of the server that --host and --port start on this machine. */
function addressOf(values: Values): URL {
  const given = values.given('url')
  if (given !== undefined) {
    const url = new URL(given)
    url.pathname = `${url.pathname.replace(/\/(readyz)?$/, '')}/readyz`
    return url
  }
  const [host, port] = [values.text('host'), values.number('port')]
  if (port === 0) throw new AppError('usage', '--port 0 is a free port, and nobody knows which: give --url')
  const asked = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  const scheme = values.given('tls-cert') === undefined ? 'http' : 'https'
  const url = `${scheme}://${asked.includes(':') ? `[${asked}]` : asked}:${port}/readyz`
  if (!URL.canParse(url)) throw new AppError('usage', `--host ${JSON.stringify(host)} is no address`)
  return new URL(url)
}

type Asking = { anyCertificate: boolean; stop: AbortSignal }

/** Why a server is not ready; undefined: it is. */
async function faultOf(url: URL, { anyCertificate, stop }: Asking): Promise<string | undefined> {
  const late = AbortSignal.timeout(ANSWER_WITHIN_MS)
  const signal = AbortSignal.any([late, stop])
  try {
    const status = await statusOf(url, { agent: false, signal, rejectUnauthorized: !anyCertificate })
    return status === 200 ? undefined : `${url.href} answered ${status}`
  } catch (error) {
    if (late.aborted) return `${url.href} did not answer within ${ANSWER_WITHIN_MS / 1000} seconds`
    return `${url.href} cannot be reached: ${reasonOf(error) || codeOf(error)}`
  }
}

/** Not by fetch, which takes no certificate but a trusted one. */
function statusOf(url: URL, options: RequestOptions): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = send(url, options, (answer) => {
      resolve(answer.statusCode)
      request.destroy()
    })
    request.on('error', reject).end()
  })
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM' // it is another user's
  }
}
