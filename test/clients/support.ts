// Runs programs by others against an app with the rates of some months. Programs with a fixed host are redirected as
// `cambista manual programs` describes, by a proxy with a certificate for the host. Environment variables name the
// proxy; the programs are unchanged.

import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createSelfSigned } from '../../src/cli/commands/certificates/certificate.ts'
import { addKey } from '../api/compat/asmx.ts'
import { openApp } from '../api/support.ts'
import { type TestApp, type TestAppOptions, temporaryDirectory } from '../support/app.ts'
import { runCommand, until } from '../support/terminal.ts'

export const TODAY = '2026-03-24'
/** A key that is allowed in URLs. */
export const KEY = 'cbk_of_the_clients'

const PROGRAMS = join(import.meta.dirname, 'programs')
const INTERPRETERS: Record<string, string> = {
  mjs: process.execPath,
  php: 'php',
  pl: 'perl',
  py: '/usr/bin/python3', // Debian's: another one on the PATH does not see Debian's packages
}

/** A synchronized app for a whole test file; it accepts only `KEY`, unless a network is open. */
export async function openForClients(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await openApp({ listen: { compat: { open: undefined, serveRounded: false } }, ...options })
  // The scheduler syncs at its start, and a second run beside it is refused.
  if (options.scheduler) await until(async () => (await app.get('/api/v1/rates/latest')).status === 200)
  else await app.sync()
  await addKey(app, { secret: KEY, kind: 'url' })
  return app
}

/** Value of one unit today, by /api/v1/convert. */
export async function worth(app: TestApp, from: string, to: string, side = 'venta'): Promise<number> {
  const query = new URLSearchParams({ amount: '1', from, to, type: side, on: TODAY })
  return Number((await app.json<{ rate: string }>(`/api/v1/convert?${query}`)).rate)
}

/** Runs a program of `programs/` in an otherwise empty environment, and parses its output. @throws if it fails */
export async function runProgram<T = unknown>(
  program: string,
  words: string[],
  env: Record<string, string> = {},
): Promise<T> {
  const interpreter = INTERPRETERS[program.slice(program.lastIndexOf('.') + 1)]
  if (!interpreter) throw new Error(`${program}: no interpreter is known`)
  return JSON.parse(await run(interpreter, [join(PROGRAMS, program), ...words], env)) as T
}

/** Output of a command. @throws with that output, if it fails or is not installed */
export async function run(
  command: string,
  words: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const { PATH = '' } = process.env
  const options = { env: { PATH, ...env }, timeout: 120_000, maxBuffer: 16 * 1024 * 1024 }
  const { stdout } = await promisify(execFile)(command, words, options)
  return stdout
}

export type Redirect = {
  /** For Node, LWP and curl: the proxy, and the certificate to trust. */
  env: Record<string, string>
  /** The same proxy over TLS, for axios before 1.0, which speaks TLS to a proxy. */
  overTls: string
  /** Requested origins, such as `https://api.hacienda.go.cr`. */
  asked: Set<string>
}

/**
 * A proxy that forwards requests for these hosts to the app, and rejects any other host. Its certificate is
 * self-signed, or that of `certificate`, whose CA the programs trust.
 */
export async function leadHere(
  t: TestContext,
  app: TestApp,
  hosts: [string, ...string[]],
  certificate = selfSigned(t, hosts),
): Promise<Redirect> {
  const { pem, caFile } = certificate
  const origins = new Set<string>()
  const forward = (scheme: string) => (incoming: IncomingMessage, response: ServerResponse) => {
    // A proxy receives a whole URL, from axios for HTTPS too; a request inside a tunnel has a path.
    const url = new URL(incoming.url ?? '', `${scheme}://${incoming.headers.host}`)
    origins.add(url.origin)
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
    const onward = connect(serverPort(secure), '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    socket.pipe(onward).pipe(socket)
    for (const end of [socket, onward]) end.on('error', () => socket.destroy())
  })
  const url = `http://127.0.0.1:${serverPort(proxy)}`
  return {
    asked: origins,
    overTls: `https://127.0.0.1:${serverPort(secure)}`,
    env: {
      http_proxy: url,
      https_proxy: url,
      NODE_EXTRA_CA_CERTS: caFile,
      CURL_CA_BUNDLE: caFile,
      PERL_LWP_SSL_CA_FILE: caFile,
      SSL_CERT_FILE: caFile,
    },
  }
}

/** Certificate and key of a proxy, and the file of the CA that programs trust. */
export type ProxyCertificate = { pem: { cert: string; key: string }; caFile: string }

function selfSigned(t: TestContext, hosts: [string, ...string[]]): ProxyCertificate {
  const now = Date.now()
  const { pem } = createSelfSigned([...hosts, '127.0.0.1'], {
    from: new Date(now - 3_600_000),
    to: new Date(now + 3_600_000),
  })
  const caFile = join(temporaryDirectory(t), 'certificate.pem')
  writeFileSync(caFile, pem.cert)
  return { pem, caFile }
}

/** The certificate of `cambista compat cert --force` for these hosts. */
export async function interceptCertificate(
  t: TestContext,
  hosts: readonly string[],
): Promise<ProxyCertificate> {
  const out = join(temporaryDirectory(t), 'cert')
  const { code, err } = await runCommand([
    'compat',
    'cert',
    '--force',
    '--host',
    hosts.join(','),
    '--out',
    out,
  ])
  if (code !== 0) throw new Error(err)
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => readFileSync(join(out, name), 'utf8'))
  return { pem: { cert: cert ?? '', key: key ?? '' }, caFile: join(out, 'ca.pem') }
}

function serverPort(server: { address(): unknown }): number {
  return (server.address() as AddressInfo).port
}

/** Opens a CSV or a URL in LibreOffice Calc with the locale of Costa Rica, and saves it in another form. */
export async function saveByCalc(dir: string, source: string, form: 'fods' | 'xlsx'): Promise<void> {
  const csv = 'Text - txt - csv (StarCalc):59,34,76,1,,5130,false,true' // ; " UTF-8, from line 1, es-CR
  const profile = `-env:UserInstallation=${pathToFileURL(join(dir, 'profile'))}`
  const words = ['--headless', `--infilter=${csv}`, '--convert-to', form, '--outdir', dir, source]
  await run('soffice', [profile, ...words], { HOME: dir })
}
