// `cert create`: its files, and their use by the server and by TLS clients.

import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { createSelfSigned } from '../../../../../src/cli/commands/certificates/certificate.ts'
import { keyAccessHint } from '../../../../../src/cli/commands/certificates/files.ts'
import { startTestApp } from '../../../../support/app.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const DAY_MS = 86_400_000

test('`cert create` writes a certificate for all hosts, and a key with mode 600', async (t) => {
  const dir = join(temporaryDirectory(t), 'etc/tls')
  const hosts = ['Box.Example.com', '192.168.1.10', '[::1]', '*.example.com'].flatMap((host) => [
    '--host',
    host,
  ])
  const before = process.umask(0o077)
  const end = await runCommand(['cert', 'create', ...hosts, '--out', dir])
  process.umask(before)
  assert.equal(end.code, 0, end.err)
  assert.equal(end.out, `${dir}/cert.pem\n${dir}/key.pem\n`)
  const modes = [dir, join(dir, 'cert.pem'), join(dir, 'key.pem')].map((path) => statSync(path).mode & 0o777)
  assert.deepEqual(modes, [0o755, 0o644, 0o600])
  const certificate = new X509Certificate(readFileSync(join(dir, 'cert.pem')))
  assert.ok(certificate.checkPrivateKey(createPrivateKey(readFileSync(join(dir, 'key.pem')))))
  assert.ok(certificate.verify(certificate.publicKey), 'the certificate is signed by its own key')
  assert.equal(certificate.ca, false)
  const names = 'DNS:box.example.com, IP Address:192.168.1.10, IP Address:0:0:0:0:0:0:0:1, DNS:*.example.com'
  assert.equal(certificate.subjectAltName, names)
  const seconds = (certificate.validToDate.getTime() - certificate.validFromDate.getTime()) / 1000 + 1
  assert.equal(seconds, 825 * 86_400, 'Apple refuses longer validity')
  assert.ok(certificate.validFromDate.getTime() < Date.now())
  for (const text of [certificate.fingerprint256, '--tls-cert', 'curl --cacert'])
    assert.ok(end.err.includes(text))
})

test('a server uses the certificate, and clients that trust a copy can connect', async (t) => {
  const dir = temporaryDirectory(t)
  const created = await runCommand(['cert', 'create', '--host', '127.0.0.1', '--out', dir, '--json'])
  const { cert, key } = JSON.parse(created.out)
  const { app } = await startTestApp(t, { listen: { tls: [{ cert, key }] } })
  const { port } = new URL(app.url)
  const status = (ca?: Buffer) =>
    new Promise((resolve, reject) => {
      const options = { agent: false, ...(ca && { ca }) } as const
      request(`${app.url}/healthz`, options, (answer) => resolve(answer.resume().statusCode))
        .on('error', (error: Error & { code?: string }) => (error.code ? resolve(error.code) : reject(error)))
        .end()
    })
  assert.equal(await status(readFileSync(cert)), 200)
  assert.equal(await status(), 'DEPTH_ZERO_SELF_SIGNED_CERT')
  const words = ['healthcheck', '--url', app.url]
  assert.match((await runCommand(words)).err, /its certificate is self-signed/)
  assert.equal((await runCommand([...words, '--tls-cert', cert])).code, 0)
  const socket = connect({ port: Number(port), host: '127.0.0.1', ca: readFileSync(cert) })
  await new Promise((resolve) => socket.once('secureConnect', resolve))
  assert.equal(socket.getProtocol(), 'TLSv1.3')
  socket.destroy()
})

test('`cert create` overwrites no file and leaves no incomplete files', async (t) => {
  for (const name of ['cert.pem', 'key.pem']) {
    const dir = temporaryDirectory(t)
    writeFileSync(join(dir, name), 'mine')
    const end = await runCommand(['cert', 'create', '--host', 'box', '--out', dir])
    const why = `${dir}/${name} is there already and is not overwritten: choose another --out`
    assert.deepEqual(end, { code: 1, out: '', err: `cambista: ${why}\n` })
    assert.deepEqual(readdirSync(dir), [name])
    assert.equal(readFileSync(join(dir, name), 'utf8'), 'mine')
  }
  const file = join(temporaryDirectory(t), 'file')
  writeFileSync(file, '')
  const end = await runCommand(['cert', 'create', '--host', 'box', '--out', file])
  assert.match(end.err, /^cambista: cannot write a certificate into .*file: ENOTDIR/)
})

const wrongHosts: [host: string, expected: RegExp][] = [
  ['', /--host must be a host name/],
  ['box:8443', /--host must be a host name .*, not "box:8443"/],
  ['https://box', /--host must be a host name/],
  ['a b', /--host must be a host name/],
  ['-box', /--host must be a host name/],
  [`${'a'.repeat(64)}.cr`, /--host must be a host name/],
  ['0.0.0.0', /--host must be a name or address by which clients ask/],
  ['::', /--host must be a name or address by which clients ask/],
]
for (const [host, expected] of wrongHosts) {
  test(`${JSON.stringify(host)} is no host for a certificate`, async (t) => {
    const dir = join(temporaryDirectory(t), 'tls')
    const end = await runCommand(['cert', 'create', `--host=${host}`, '--out', dir])
    assert.deepEqual([end.code, end.out], [2, ''])
    assert.match(end.err, expected)
    assert.equal(existsSync(dir), false)
  })
}

test('`cert create` ignores CAMBISTA_HOST, the address of the server', async (t) => {
  const env = { CAMBISTA_HOST: '192.168.1.10' }
  const end = await runCommand(['cert', 'create', '--out', join(temporaryDirectory(t), 'tls')], env)
  assert.match(end.err, /--host is missing/)
})

test('a host with non-ASCII letters is written in punycode', async (t) => {
  const dir = temporaryDirectory(t)
  const { out } = await runCommand(['cert', 'create', '--host', 'peñón.cr', '--out', dir, '--json'])
  assert.deepEqual(JSON.parse(out).hosts, [new URL('http://peñón.cr').hostname])
})

test('certificates of any year and address are parsed with the same hosts and dates', () => {
  const addresses = ['::', '::1', '1::', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', 'fe80::a:0:1', '255.0.255.1']
  for (const year of [2026, 2049, 2050, 2999]) {
    const from = new Date(`${year}-03-24T12:34:56.789Z`)
    const to = new Date(from.getTime() + 825 * DAY_MS)
    for (const address of addresses) {
      const { certificate } = createSelfSigned([address, 'box'], { from, to })
      assert.equal(certificate.checkIP(address), address)
      assert.equal(certificate.checkHost('box'), 'box')
      assert.equal(certificate.validFromDate.getTime(), Math.floor(from.getTime() / 1000) * 1000)
      assert.equal(certificate.validToDate.getTime(), Math.floor(to.getTime() / 1000) * 1000)
    }
  }
  const serials = Array.from({ length: 50 }, () => {
    const { certificate } = createSelfSigned(['a'.repeat(63)], {
      from: new Date(),
      to: new Date(Date.now() + DAY_MS),
    })
    return certificate.serialNumber
  })
  assert.equal(new Set(serials).size, 50)
  assert.ok(serials.every((serial) => /^[4-7][0-9A-F]{31}$/.test(serial)))
})

test('the owner of a key is named where the service or the package has a unit', (t) => {
  for (const dir of ['etc/systemd/system', 'usr/lib/systemd/system']) {
    const root = temporaryDirectory(t)
    mkdirSync(join(root, dir), { recursive: true })
    assert.equal(keyAccessHint('key.pem', root), '')
    writeFileSync(join(root, dir, 'cambista.service'), '')
    const hint = 'Let the service read the key: chown cambista: key.pem\n'
    assert.equal(keyAccessHint('key.pem', root), process.getuid?.() === 0 ? hint : '')
  }
})
