// What the programs of others are run with: an app that holds the rates of some months, and a way in for those whose host
// is fixed. The way in is what `cambista manual programs` describes: a proxy with a certificate for the host's name. The
// programs find it by environment variables, and nothing of them is changed.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { selfSigned } from '../../src/cli/commands/certificates/certificate.ts'
import { addKey } from '../api/compat/asmx.ts'
import { openApp } from '../api/support.ts'
import { type TestApp, type TestAppOptions, temporaryDirectory } from '../support/app.ts'

export const TODAY = '2026-03-24'
/** A key that was made for addresses. */
export const KEY = 'cbk_of_the_clients'

const PROGRAMS = join(import.meta.dirname, 'programs')
const INTERPRETERS: Record<string, string> = {
  mjs: process.execPath,
  php: 'php',
  pl: 'perl',
  py: '/usr/bin/python3', // Debian's: another one on the PATH does not see Debian's packages
}

/** An app for a whole file, synchronized; only `KEY` opens it, unless a network is open. */
export async function openForClients(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await openApp({ listen: { compat: { open: undefined, serveRounded: false } }, ...options })
  await app.sync()
  await addKey(app, { secret: KEY, kind: 'url' })
  return app
}

/** What /api/v1/convert says one unit is worth today. */
export async function worth(app: TestApp, from: string, to: string, side = 'venta'): Promise<number> {
  const query = new URLSearchParams({ amount: '1', from, to, type: side, on: TODAY })
  return Number((await app.json<{ rate: string }>(`/api/v1/convert?${query}`)).rate)
}

/** The JSON that a program of `programs/` prints, in an environment with nothing else in it. @throws if it fails */
export async function readBy<T = unknown>(
  program: string,
  words: string[],
  env: Record<string, string> = {},
): Promise<T> {
  const interpreter = INTERPRETERS[program.slice(program.lastIndexOf('.') + 1)]
  if (!interpreter) throw new Error(`${program}: no interpreter is known`)
  return JSON.parse(await run(interpreter, [join(PROGRAMS, program), ...words], env)) as T
}

/** What a command prints. @throws with what it said, if it fails or is not installed */
export async function run(
  command: string,
  words: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const { PATH = '' } = process.env
  const { stdout } = await promisify(execFile)(command, words, { env: { PATH, ...env }, timeout: 120_000 })
  return stdout
}

export type WayIn = {
  /** For Node, LWP and curl: the proxy, and the certificate to trust. */
  env: Record<string, string>
  /** The same proxy over TLS, for axios before 1.0, which speaks TLS to a proxy. */
  overTls: string
  /** The origins that were asked for, such as `https://api.hacienda.go.cr`. */
  asked: Set<string>
}

/** A proxy that leads to the app whatever is asked of these hosts; any other host is refused. */
export async function leadHere(t: TestContext, app: TestApp, hosts: [string, ...string[]]): Promise<WayIn> {
  const now = Date.now()
  const { pem } = selfSigned([...hosts, '127.0.0.1'], {
    from: new Date(now - 3_600_000),
    to: new Date(now + 3_600_000),
  })
  const file = join(temporaryDirectory(t), 'certificate.pem')
  writeFileSync(file, pem.cert)
  const asked = new Set<string>()
  const forward = (scheme: string) => (incoming: IncomingMessage, response: ServerResponse) => {
    // A proxy is sent a whole URL, axios sends it one for HTTPS too; inside a tunnel there is a path.
    const url = new URL(incoming.url ?? '', `${scheme}://${incoming.headers.host}`)
    asked.add(url.origin)
    if (!hosts.includes(url.hostname)) return void response.writeHead(403).end()
    const { method, headers } = incoming
    const onward = request(app.app.url + url.pathname + url.search, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
    })
    onward.on('error', (error) => response.destroy(error))
    incoming.pipe(onward)
  }
  const secure = createSecureServer(pem, forward('https'))
  const proxy = createServer(forward('http'))
  for (const server of [secure, proxy]) {
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
  }
  proxy.on('connect', (_, socket) => {
    const onward = connect(portOf(secure), '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    socket.pipe(onward).pipe(socket)
    for (const end of [socket, onward]) end.on('error', () => socket.destroy())
  })
  const url = `http://127.0.0.1:${portOf(proxy)}`
  return {
    asked,
    overTls: `https://127.0.0.1:${portOf(secure)}`,
    env: {
      http_proxy: url,
      https_proxy: url,
      NODE_EXTRA_CA_CERTS: file,
      CURL_CA_BUNDLE: file,
      PERL_LWP_SSL_CA_FILE: file,
    },
  }
}

function portOf(server: { address(): unknown }): number {
  return (server.address() as AddressInfo).port
}

/** Has LibreOffice Calc open a CSV, a file or a URL, as a person in Costa Rica does, and save it beside in another form. */
export async function saveByCalc(dir: string, source: string, form: 'fods' | 'xlsx'): Promise<void> {
  const csv = 'Text - txt - csv (StarCalc):59,34,76,1,,5130,false,true' // ; " UTF-8, from line 1, es-CR
  const profile = `-env:UserInstallation=${pathToFileURL(join(dir, 'profile'))}`
  const words = ['--headless', `--infilter=${csv}`, '--convert-to', form, '--outdir', dir, source]
  await run('soffice', [profile, ...words], { HOME: dir })
}
