// `hook test` of a receiver whose authority is in NODE_EXTRA_CA_CERTS, of the environment or of the service's settings.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { run } from '../../../../../src/main.ts'
import { runJson } from '../../../../support/company.ts'
import { startReceiver } from '../../../../support/hooks/receiver.ts'
import { startProgram } from '../../../../support/program.ts'
import { TEST_PROVIDERS } from '../../../../support/providers.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

/** Creates a hook whose receiver has a certificate of its own, in the file `cert`. */
async function createTlsHook(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const dir = join(temporaryDirectory(t), 'tls')
  assert.equal((await runCommand(['cert', 'create', '--host', '127.0.0.1', '--out', dir])).code, 0)
  const [cert = '', key = ''] = ['cert.pem', 'key.pem'].map((name) => readFileSync(join(dir, name), 'utf8'))
  const receiver = await startReceiver(t, { tls: { cert, key } })
  const create = ['hook', 'create', '--url', receiver.url, '--event', 'sync.failed']
  const { secret } = await runJson<{ secret: string }>(dataDir, ...create)
  return {
    dir,
    cert: join(dir, 'cert.pem'),
    receiver,
    secret,
    words: ['hook', 'test', '1', '--data-dir', dataDir],
  }
}

test('`hook test` trusts an authority of NODE_EXTRA_CA_CERTS', async (t) => {
  const { cert, receiver, secret, words } = await createTlsHook(t)
  const untrusting = startProgram(t, words)
  assert.equal(await untrusting.waitForExit(), 1)
  assert.match(
    untrusting.printed.out,
    /DEPTH_ZERO_SELF_SIGNED_CERT.*: NODE_EXTRA_CA_CERTS=FILE adds an authority/,
  )
  assert.equal(receiver.received.length, 0)
  const trusting = startProgram(t, words, { NODE_EXTRA_CA_CERTS: cert })
  assert.equal(await trusting.waitForExit(), 0, trusting.printed.err)
  receiver.verify(secret, receiver.received[0])
})

test('`hook test` trusts an authority of NODE_EXTRA_CA_CERTS in the settings of the service', async (t) => {
  const { dir, cert, receiver, secret, words } = await createTlsHook(t)
  const certificates = getCACertificates('default')
  const { NODE_EXTRA_CA_CERTS: outside = '' } = process.env
  process.env.NODE_EXTRA_CA_CERTS = ''
  t.after(() => {
    setDefaultCACertificates(certificates)
    process.env.NODE_EXTRA_CA_CERTS = outside
  })
  const settingsFile = join(dir, 'cambista.env')
  const testHook = async (path: string) => {
    writeFileSync(settingsFile, `NODE_EXTRA_CA_CERTS=${path}\n`)
    let err = ''
    const code = await run(words, {
      ...{ env: {}, providers: TEST_PROVIDERS, settingsFile, out: () => {}, interactive: false },
      ...{ stop: new AbortController().signal, err: (text) => (err += text) },
    })
    return { code, err }
  }
  const missing = await testHook(`${cert}.none`)
  assert.equal(missing.code, 1)
  assert.match(missing.err, /^cambista: NODE_EXTRA_CA_CERTS in \S+cambista\.env is ignored: ENOENT/m)
  assert.equal(receiver.received.length, 0)
  assert.deepEqual(await testHook(cert), { code: 0, err: `data directory: ${words[4]}\n` })
  receiver.verify(secret, receiver.received[0])
})
