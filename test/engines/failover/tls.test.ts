// TLS to several hosts. Each certificate is compared with the name of its own host in the address.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { openPostgres } from '../../../src/store/postgres/open-postgres.ts'
import { openNode } from '../../support/postgres/database.ts'
import { NOBODY, startPostgres } from '../../support/postgres/server.ts'
import { freePort } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

let certificates: ReturnType<typeof makeCertificates>
let names: number
let numbers: number
before(async (t) => {
  certificates = makeCertificates(t as TestContext)
  names = await startTlsServer(t as TestContext, 'names')
  numbers = await startTlsServer(t as TestContext, 'numbers')
})

test('a host whose certificate has another name is refused', async (t) => {
  const otherHost = /the certificate of the database is that of another host than the one in the address/
  await assert.rejects(openPostgres(address(`127.0.0.1:${names}`)), otherHost)
  await assert.rejects(openPostgres(address(`localhost:${numbers}`)), otherHost)
  await openNode(t, address(`localhost:${names}`))
  await openNode(t, address(`127.0.0.1:${numbers}`))
})

test('a node uses the host with its own name in the certificate, and doctor names the other', async (t) => {
  const node = await openNode(t, address(`127.0.0.1:${names},localhost:${names}`))
  const { hosts } = (await node.examineServer?.()) ?? { hosts: [] }
  assert.equal(hosts.length, 2)
  const [wrong, right] = hosts
  assert.match(
    JSON.stringify(wrong),
    /"name":"127\.0\.0\.1:\d+","fault":"the certificate of the database is that of another host/,
  )
  assert.match(JSON.stringify(right), /"name":"localhost:\d+","role":"primary"/)
})

test('a root that signed none of the certificates is refused for each host', async () => {
  await assert.rejects(
    openPostgres(address(`localhost:${names},127.0.0.1:${numbers}`, certificates.otherRoot)),
    (error: Error) => (error.message.match(/not trusted/g) ?? []).length === 2,
  )
})

function address(hosts: string, root = certificates.root): string {
  return `postgres://cambista@${hosts}/postgres?sslmode=verify-full&sslrootcert=${root}`
}

/** Starts a server with TLS on the loopback interface. @returns its port */
async function startTlsServer(t: TestContext, certificate: 'names' | 'numbers'): Promise<number> {
  const { dir } = certificates
  for (let attemptsLeft = 2; ; attemptsLeft -= 1) {
    const port = await freePort()
    try {
      const server = await startPostgres([
        ...['listen_addresses=127.0.0.1', `port=${port}`, 'ssl=on'],
        ...[`ssl_cert_file=${join(dir, certificate)}.crt`, `ssl_key_file=${join(dir, certificate)}.key`],
      ])
      t.after(() => server.close())
      return port
    } catch (error) {
      if (attemptsLeft === 0) throw error // before that, another process may have taken the port
    }
  }
}

/** Makes two roots, and certificates of the first for the name and for the number of this machine. */
function makeCertificates(t: TestContext) {
  const dir = temporaryDirectory(t)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=test']
  for (const root of ['root', 'other'])
    openssl('req', '-x509', '-days', '2', ...newKey, '-keyout', `${root}.key`, '-out', `${root}.crt`)
  for (const [name, alternative] of [
    ['names', 'DNS:localhost'],
    ['numbers', 'IP:127.0.0.1'],
  ] as const) {
    openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    writeFileSync(join(dir, `${name}.ext`), `subjectAltName=${alternative}\n`)
    const authority = ['-CA', 'root.crt', '-CAkey', 'root.key', '-CAcreateserial']
    const files = ['-in', `${name}.csr`, '-extfile', `${name}.ext`, '-out', `${name}.crt`]
    openssl('x509', '-req', '-days', '2', ...authority, ...files)
    chmodSync(join(dir, `${name}.key`), 0o600)
    if (process.getuid?.() === 0) chownSync(join(dir, `${name}.key`), NOBODY, NOBODY)
  }
  chmodSync(dir, 0o755) // the servers run as another user
  return { dir, root: join(dir, 'root.crt'), otherRoot: join(dir, 'other.crt') }
}
