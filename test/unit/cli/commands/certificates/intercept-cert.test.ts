// `compat cert`: a certificate for the bank's hosts, checked by OpenSSL, Node and curl. Its authority is valid for
// these hosts alone, and the key of the authority is not stored.

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect, createServer } from 'node:tls'
import { promisify } from 'node:util'
import {
  authority,
  type Hosts,
  validityPeriod,
} from '../../../../../src/cli/commands/certificates/certificate.ts'
import { LOW_PORTS } from '../../../../../src/cli/commands/server/low-ports.ts'
import { ASMX, openAsmx, parameters } from '../../../../api/compat/asmx.ts'
import { PROGRAM_ENV, startProgram } from '../../../../support/program.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const BANK = 'gee.bccr.fi.cr'
const run = promisify(execFile)

const createCertificate = (dir: string, ...words: string[]) =>
  runCommand(['compat', 'cert', '--out', dir, ...words])

function openssl(...words: string[]): { ok: boolean; text: string } {
  const { status, stdout, stderr, error } = spawnSync('openssl', words, { encoding: 'utf8' })
  assert.equal(error, undefined, 'there is no openssl (Debian: openssl)')
  return { ok: status === 0, text: stdout + stderr }
}

test('`compat cert` writes a certificate for the hosts, and an authority that is constrained to them', async (t) => {
  const dir = join(temporaryDirectory(t), 'etc/gee')
  const before = process.umask(0o077)
  const hosts = ['--host', `${BANK},Indicadoreseconomicos.bccr.fi.cr`, '--host', BANK, '--host', 'localhost']
  const end = await createCertificate(dir, ...hosts)
  process.umask(before)
  assert.equal(end.code, 0, end.err)
  const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => join(dir, `${name}.pem`)) as [
    string,
    string,
    string,
  ]
  assert.equal(end.out, `${ca}\n${cert}\n${key}\n`)
  assert.deepEqual(
    [dir, ca, cert, key].map((path) => statSync(path).mode & 0o777),
    [0o755, 0o644, 0o644, 0o600],
  )
  const leaf = new X509Certificate(readFileSync(cert))
  const names = `DNS:${BANK}, DNS:indicadoreseconomicos.bccr.fi.cr, DNS:localhost`
  assert.deepEqual([leaf.subjectAltName, leaf.ca], [names, false])
  assert.ok(leaf.checkPrivateKey(createPrivateKey(readFileSync(key))))
  const root = new X509Certificate(readFileSync(ca))
  assert.ok(root.ca && leaf.checkIssued(root) && leaf.verify(root.publicKey) && root.verify(root.publicKey))
  for (const one of [leaf, root]) {
    const seconds = (one.validToDate.getTime() - one.validFromDate.getTime()) / 1000 + 1
    assert.equal(seconds, 398 * 86_400)
  }
  const { text } = openssl('x509', '-in', ca, '-noout', '-text')
  assert.match(text, /Basic Constraints: critical\s+CA:TRUE, pathlen:0\n/)
  assert.match(text, /Key Usage: critical\s+Certificate Sign\n/)
  const permitted = names.replaceAll(', ', String.raw`\s+`)
  const excluded = String.raw`IP:0\.0\.0\.0/0\.0\.0\.0\s+IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0\n`
  assert.match(
    text,
    new RegExp(`Name Constraints: critical\\s+Permitted:\\s+${permitted}\\s+Excluded:\\s+${excluded}`),
  )
  const strict = ['-x509_strict', '-purpose', 'sslserver', '-verify_hostname', BANK, '-CAfile', ca, cert]
  assert.deepEqual(openssl('verify', ...strict), { ok: true, text: `${cert}: OK\n` })
})

test('`compat cert` does not write the key of the authority', async (t) => {
  const dir = temporaryDirectory(t)
  await createCertificate(dir, '--host', BANK)
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()
  assert.deepEqual(files, ['ca.pem', 'cert.pem', 'key.pem'])
  const texts = files.map((file) => readFileSync(join(dir, file), 'utf8'))
  const keys = texts.flatMap(
    (text) => text.match(/-----BEGIN [A-Z ]*KEY-----[\s\S]*?-----END [A-Z ]*KEY-----/g) ?? [],
  )
  const point = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).toString('hex')
  const publicKey = (name: string) => point(new X509Certificate(readFileSync(join(dir, name))).publicKey)
  const publicKeys = keys.map((key) => point(createPublicKey(createPrivateKey(key))))
  assert.deepEqual(publicKeys, [publicKey('cert.pem')])
  assert.notEqual(publicKey('ca.pem'), publicKey('cert.pem'))
})

/**
 * Connects to a server with a certificate for `hosts`, as a client that trusts an authority for the hosts `own`.
 * Returns the result of Node and of OpenSSL.
 */
async function checkByClients(t: TestContext, hosts: Hosts, host: string, authorityHosts: Hosts = [BANK]) {
  const dir = temporaryDirectory(t)
  const ca = authority(authorityHosts, validityPeriod(398, Date.now()))
  const { pem } = ca.issue(hosts)
  const files = { ca: join(dir, 'ca.pem'), cert: join(dir, 'cert.pem') }
  writeFileSync(files.ca, ca.certificate.toString())
  writeFileSync(files.cert, pem.cert)
  const server = createServer(pem, (socket) => socket.end()).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  const node = await new Promise<string>((resolve) => {
    const options = { host: '127.0.0.1', port, ca: ca.certificate.toString() }
    const socket = connect({ ...options, ...(/^[\d.:]+$/.test(host) ? {} : { servername: host }) }, () => {
      socket.destroy()
      resolve('trusted')
    })
    socket.on('error', (error: Error & { code?: string }) => resolve(error.code ?? error.message))
  })
  const { ok, text } = openssl('verify', '-CAfile', files.ca, files.cert)
  return { node, openssl: ok ? 'trusted' : text }
}

test('clients take what the authority signed for its hosts', async (t) => {
  assert.deepEqual(await checkByClients(t, [BANK], BANK), { node: 'trusted', openssl: 'trusted' })
  const mixed = [BANK, '127.0.0.1', '::1'] as const
  assert.deepEqual(await checkByClients(t, mixed, '127.0.0.1', mixed), {
    node: 'trusted',
    openssl: 'trusted',
  })
})

const foreignHosts: [hosts: Hosts, host: string, reason: RegExp, authorityHosts?: Hosts][] = [
  [['apim.bccr.fi.cr'], 'apim.bccr.fi.cr', /permitted subtree violation/],
  [['bccr.fi.cr'], 'bccr.fi.cr', /permitted subtree violation/],
  [['bank.example'], 'bank.example', /permitted subtree violation/],
  [[BANK, 'bank.example'], BANK, /permitted subtree violation/],
  [['xgee.bccr.fi.cr'], 'xgee.bccr.fi.cr', /permitted subtree violation/],
  [['127.0.0.1'], '127.0.0.1', /excluded subtree violation/],
  [['::1'], BANK, /excluded subtree violation/],
  [['127.0.0.1'], '127.0.0.1', /permitted subtree violation/, [BANK, '127.0.0.2']],
]
for (const [hosts, host, reason, authorityHosts] of foreignHosts) {
  test(`clients refuse a certificate for ${hosts} of an authority for ${authorityHosts ?? BANK}`, async (t) => {
    const results = await checkByClients(t, hosts, host, authorityHosts)
    assert.match(results.openssl, reason)
    assert.match(results.node, /^(PERMITTED_VIOLATION|EXCLUDED_VIOLATION|ERR_TLS|UNSPECIFIED)/)
  })
}

test("curl and Node read the bank's old web service from its own host, and trust that CA alone", async (t) => {
  const app = await openAsmx()
  await app.app.close()
  const dir = join(temporaryDirectory(t), 'tls')
  const created = JSON.parse((await createCertificate(dir, '--host', BANK, '--json')).out)
  assert.deepEqual(created.hosts, [BANK])
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', app.dataDir]
  const tls = ['--tls-cert', created.cert, '--tls-key', created.key, '--also-listen', 'https://127.0.0.1:0']
  const program = startProgram(t, [...words, ...tls])
  const [, port = ''] = await program.waitForOutput(/listening .* also=https:\/\/127\.0\.0\.1:(\d+) /)
  const path = `${ASMX}/ObtenerIndicadoresEconomicosXML?${parameters()}`
  const url = `https://${BANK}:${port}${path}`
  const curl = ['-sS', '--max-time', '60', '--noproxy', '*', '--resolve', `${BANK}:${port}:127.0.0.1`, url]
  const { stdout } = await run('curl', [...curl, '--cacert', created.ca])
  assert.match(stdout, /&lt;NUM_VALOR&gt;620\.18000000&lt;\/NUM_VALOR&gt;/)
  await assert.rejects(run('curl', curl), /certificate/, 'the CAs of the system do not include it')
  const script = `require('node:https').get(
    { host: '127.0.0.1', port: ${port}, path: ${JSON.stringify(path)}, servername: '${BANK}', headers: { host: '${BANK}' } },
    (answer) => answer.pipe(process.stdout),
  )`
  const node = await run(process.execPath, ['-e', script], {
    env: { ...PROGRAM_ENV, NODE_EXTRA_CA_CERTS: created.ca },
  })
  assert.equal(node.stdout, stdout)
  await assert.rejects(
    run(process.execPath, ['-e', script], { env: PROGRAM_ENV }),
    /unable to verify|self-signed/,
  )
})

test('`compat cert` prints the next steps for this machine and for the clients', async (t) => {
  const { err } = await createCertificate(
    temporaryDirectory(t),
    '--host',
    `${BANK},indicadoreseconomicos.bccr.fi.cr,localhost`,
  )
  assert.match(err, /^(\S+) gee\.bccr\.fi\.cr indicadoreseconomicos\.bccr\.fi\.cr$/m)
  for (const text of [
    'update-ca-certificates',
    'certutil -addstore Root',
    'keytool -importcert',
    'REQUESTS_CA_BUNDLE',
  ])
    assert.ok(err.includes(text), text)
  assert.match(err, /^CAMBISTA_ALSO_LISTEN=https:\/\/0\.0\.0\.0:443,http:\/\/0\.0\.0\.0:80$/m)
  assert.ok(err.replaceAll(/^ {2}/gm, '').includes(LOW_PORTS))
  assert.doesNotMatch(err, /Warning/)
})

test('`compat cert` warns of hosts that have other services too', async (t) => {
  const { code, err } = await createCertificate(
    temporaryDirectory(t),
    '--host',
    'apim.bccr.fi.cr,api.hacienda.go.cr,apis.gometa.org,www.ecb.europa.eu',
    '--force',
  )
  assert.equal(code, 0)
  assert.match(err, /^Warning: apim\.bccr\.fi\.cr must not lead to this machine on this machine itself/m)
  assert.match(err, /^Warning: api\.hacienda\.go\.cr has more than rates: \/fe\/\* of electronic invoicing/m)
  assert.match(err, /^Warning: apis\.gometa\.org has more than rates: \/cedulas\/\* is a 404 here/m)
  assert.match(err, /^Warning: www\.ecb\.europa\.eu is the whole website of the ECB/m)
})

test("`compat cert` requires --force for other hosts, but not for this machine's own", async (t) => {
  const dir = join(temporaryDirectory(t), 'tls')
  for (const host of ['api.frankfurter.dev', 'notbccr.fi.cr', 'bccr.fi.cr.example.com', '192.0.2.77']) {
    const end = await createCertificate(dir, '--host', `${BANK},${host}`)
    const reason = `--host must be of bccr.fi.cr or hacienda.go.cr, or this machine's own, not "${host}"`
    assert.deepEqual([end.code, end.out, end.err.split(': --force')[0]], [2, '', `cambista: ${reason}`])
    assert.equal(existsSync(dir), false)
  }
  assert.equal((await createCertificate(dir, '--host', 'api.frankfurter.dev', '--force')).code, 0)
  const localHosts = await createCertificate(
    join(dir, 'own'),
    '--host',
    `${hostname()},127.0.0.1,bccr.fi.cr,api.hacienda.go.cr`,
  )
  assert.equal(localHosts.code, 0, localHosts.err)
})

test('`compat cert` refuses wrong hosts with the right form', async (t) => {
  const dir = join(temporaryDirectory(t), 'tls')
  const cases: [words: string[], reason: RegExp][] = [
    [['--host', '*.bccr.fi.cr'], /--host must be a whole name, not "\*\.bccr\.fi\.cr": give each host/],
    [['--host', '127.0.0.1'], /--host must have a name among the hosts: .* cambista cert create/],
    [['--host', `${BANK},`], /--host must be a host name/],
    [['--host', `https://${BANK}`], /--host must be a host name/],
    [[], /--host is missing/],
  ]
  for (const [words, reason] of cases) {
    const end = await createCertificate(dir, ...words)
    assert.deepEqual([end.code, end.out, existsSync(dir)], [2, '', false])
    assert.match(end.err, reason)
  }
})

test('`compat cert` overwrites no file and leaves no incomplete files', async (t) => {
  for (const name of ['ca.pem', 'cert.pem', 'key.pem']) {
    const dir = temporaryDirectory(t)
    writeFileSync(join(dir, name), 'mine')
    const end = await createCertificate(dir, '--host', BANK, '--force')
    const reason = `${dir}/${name} is there already and is not overwritten: choose another --out`
    assert.deepEqual(end, { code: 1, out: '', err: `cambista: ${reason}\n` })
    assert.deepEqual(readdirSync(dir), [name])
    assert.equal(readFileSync(join(dir, name), 'utf8'), 'mine')
  }
})
