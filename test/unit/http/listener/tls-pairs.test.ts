// Several certificates on one port: selection by host, and renewal of each.

import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { createSelfSigned } from '../../../../src/cli/commands/certificates/certificate.ts'
import { openTls, type TlsFiles } from '../../../../src/http/listener/tls.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import { fixedClock, startTestApp, type TestApp, temporaryDirectory } from '../../../support/app.ts'
import { runCommand, until } from '../../../support/terminal.ts'

const VALID = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2126-01-01T00:00:00Z') }

/** A pair of files for these hosts, and a function that replaces them. */
function createPair(t: TestContext, ...hosts: [string, ...string[]]): TlsFiles & { renew(): void } {
  const dir = temporaryDirectory(t)
  const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  const renew = () => {
    const { pem } = createSelfSigned(hosts, VALID)
    for (const part of ['cert', 'key'] as const) {
      writeFileSync(`${files[part]}.new`, pem[part], { mode: 0o600 })
      renameSync(`${files[part]}.new`, files[part])
    }
  }
  renew()
  return { ...files, renew }
}

/** The certificate that a client of a host gets. */
function servedCertificate(
  { app }: TestApp,
  servername?: string,
): Promise<{ names: string; serial: string }> {
  const { port } = new URL(app.url)
  return new Promise((resolve, reject) => {
    const where = { host: '127.0.0.1', port: Number(port), rejectUnauthorized: false }
    const socket = connect({ ...where, ...(servername && { servername }) }, () => {
      const { subjectaltname = '', serialNumber } = socket.getPeerCertificate()
      socket.destroy()
      resolve({ names: subjectaltname, serial: serialNumber })
    })
    socket.on('error', reject)
  })
}

test('a client gets the certificate of its requested host, else the first', async (t) => {
  const pairs = [
    createPair(t, 'box.example.com'),
    createPair(t, '*.example.com'),
    createPair(t, 'gee.bccr.fi.cr'),
  ]
  const app = await startTestApp(t, { listen: { tls: pairs } })
  const expected: [asked: string | undefined, names: string][] = [
    ['gee.bccr.fi.cr', 'DNS:gee.bccr.fi.cr'],
    ['GEE.bccr.fi.cr', 'DNS:gee.bccr.fi.cr'],
    ['a.example.com', 'DNS:*.example.com'],
    ['box.example.com', 'DNS:box.example.com'],
    ['a.b.example.com', 'DNS:box.example.com'],
    ['sub.gee.bccr.fi.cr', 'DNS:box.example.com'],
    ['elsewhere.org', 'DNS:box.example.com'],
    ['no..name', 'DNS:box.example.com'],
    [undefined, 'DNS:box.example.com'],
  ]
  for (const [host, names] of expected)
    assert.equal((await servedCertificate(app, host)).names, names, String(host))
  assert.equal(app.logLines.join('').split('"event":"certificate"').length - 1, 3)
})

test('an exact host name precedes a wildcard, in any order of pairs', async (t) => {
  const pairs = [createPair(t, 'first.cr'), createPair(t, '*.example.com'), createPair(t, 'box.example.com')]
  const app = await startTestApp(t, { listen: { tls: pairs } })
  assert.equal((await servedCertificate(app, 'box.example.com')).names, 'DNS:box.example.com')
})

test('each pair is renewed by itself, without a restart', async (t) => {
  const [first, second] = [createPair(t, 'box.example.com'), createPair(t, 'gee.bccr.fi.cr')]
  const app = await startTestApp(t, { listen: { tls: [first, second] } })
  const both = async () => [
    (await servedCertificate(app)).serial,
    (await servedCertificate(app, 'gee.bccr.fi.cr')).serial,
    (await servedCertificate(app, 'box.example.com')).serial,
  ]
  const [one, two, named] = await both()
  assert.equal(one, named)
  second.renew()
  await until(async () => (await servedCertificate(app, 'gee.bccr.fi.cr')).serial !== two)
  const [, renewed] = await both()
  assert.deepEqual(await both(), [one, renewed, one])
  writeFileSync(second.key, 'no key')
  await until(() => app.logLines.join('').includes('certificate not renewed'))
  first.renew()
  await until(async () => (await servedCertificate(app)).serial !== one)
  const [other] = await both()
  assert.deepEqual(await both(), [other, renewed, other], 'a faulty pair does not hold up another one')
})

test('each certificate is warned of daily in its last month', async (t) => {
  const clock = fixedClock('2125-11-01T00:00:00Z')
  let readings = 0
  const read = () => {
    readings += 1
    return clock.read()
  }
  const lines: string[] = []
  const log = createLog({ level: 'debug', format: 'json', write: (text) => lines.push(text) })
  const pairs = [createPair(t, 'box.example.com'), createPair(t, 'gee.bccr.fi.cr')]
  const tls = await openTls(pairs, log, read)
  const following = tls.follow(createServer())
  t.after(() => following.close())
  const warnings = (event: string) => lines.join('').split(`"level":"warn","event":"${event}"`).length - 1
  /** Waits for a whole check: each of them reads the clock for both pairs. */
  const passCheck = () => {
    const before = readings
    return until(() => readings >= before + 4)
  }
  await passCheck()
  assert.equal(warnings('certificate ends soon'), 0)
  clock.now = new Date('2125-12-02T00:00:00Z')

  await until(() => warnings('certificate ends soon') === 2)
  await passCheck()
  assert.equal(warnings('certificate ends soon'), 2)
  clock.now = new Date('2125-12-03T00:00:00Z')
  await until(() => warnings('certificate ends soon') === 4)
  clock.now = new Date('2126-01-01T00:00:01Z')
  await until(() => warnings('certificate has ended') === 2)
})

test('a certificate for 90 days is warned of in its last 22 days, when its renewal is overdue', async (t) => {
  const pair = createPair(t, 'box.example.com')
  const from = new Date('2026-01-01T00:00:00Z')
  const { pem } = createSelfSigned(['box.example.com'], {
    from,
    to: new Date(from.getTime() + 90 * 86_400_000),
  })
  for (const part of ['cert', 'key'] as const) writeFileSync(pair[part], pem[part])
  const warned = async (now: string) => {
    const { logLines } = await startTestApp(t, { now, listen: { tls: [pair] } })
    await until(() => logLines.join('').includes('"event":"certificate"'))
    return logLines.join('').includes('certificate ends soon')
  }
  assert.deepEqual(
    [await warned('2026-03-08T00:00:00Z'), await warned('2026-03-11T00:00:00Z')],
    [false, true],
  )
})

test('certificates and keys must be equal in number, and the error has both numbers', async () => {
  const words = ['--tls-cert', 'a.pem', '--tls-cert', 'b.pem', '--tls-key', 'a.key']
  const end = await runCommand(['serve', ...words])
  const why = 'each --tls-cert needs its --tls-key, in the same order: 2 certificates and 1 key are given'
  assert.deepEqual([end.code, end.err.split('\n')[0]], [2, `cambista: ${why}`])
  const env = { CAMBISTA_TLS_CERT: 'a.pem', CAMBISTA_TLS_KEY: 'a.key, b.key' }
  assert.match((await runCommand(['serve'], env)).err, /1 certificate and 2 keys are given/)
})

test('the variables have lists with commas, and one key may serve two certificates', async (t) => {
  const [one, two] = [createPair(t, 'a.cr'), createPair(t, 'b.cr')]
  const dir = ['--port', '0', '--no-scheduler', '--data-dir', join(temporaryDirectory(t), 'data')]
  const env = { CAMBISTA_TLS_CERT: `${one.cert}, ${two.cert}`, CAMBISTA_TLS_KEY: `${one.key},${one.key}` }
  const why = `the TLS key ${one.key} does not belong to the certificate ${two.cert}`
  assert.deepEqual((await runCommand(['serve', ...dir], env)).err.split('\n').at(-2), `cambista: ${why}`)
})
