// The key that encrypts the secrets of hooks, which all nodes need. A node without it logs a warning, and leaves
// hooks to the others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TEST_PROVIDERS } from '../support/providers.ts'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { run } = await import('../../src/main.ts')
const { startTestApp } = await import('../support/app.ts')
const { runJson } = await import('../support/company.ts')
const { CREATE, batch, fillDirectory, pdf, post } = await import('../support/directory.ts')
const { startReceiver } = await import('../support/hooks/receiver.ts')
const { postgresAddress } = await import('../support/postgres/database.ts')
const { temporaryDirectory } = await import('../support/temporary.ts')
const { until } = await import('../support/terminal.ts')

test('a node without the key leaves hooks to one with it, and logs a warning', async (t) => {
  const dataDir = temporaryDirectory(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(204).end()
  const createCommand = ['hook', 'create', '--url', receiver.url, '--event', 'document.created'] as const
  await runJson(dataDir, ...createCommand)
  const keyless = await startTestApp(t, { dataDir, hookKey: null })
  await fillDirectory(keyless)
  assert.equal((await post(keyless, CREATE, batch(pdf('one')))).status, 200)
  await until(() => keyless.logLines.some((line) => /"warn".*this node cannot tell hooks/.test(line)))
  const keyed = await startTestApp(t, { dataDir })
  await until(() => receiver.received.length === 1)
  assert.equal((await post(keyless, CREATE, batch(pdf('two')))).status, 200)
  await until(() => receiver.received.length === 2)
  assert.equal(keyed.logLines.filter((line) => line.includes('hook fails')).length, 0)
  assert.equal(keyless.logLines.filter((line) => line.includes('cannot tell hooks')).length, 1)
})

test('`hook create` and `hook rotate` require the key, and their error names the command for one', async (t) => {
  const dataDir = temporaryDirectory(t)
  const env = { CAMBISTA_DATABASE: await postgresAddress(dataDir) }
  await runJson(dataDir, 'hook', 'create', '--url', 'http://127.0.0.1:1/', '--event', 'sync.failed')
  for (const words of [
    ['create', '--url', 'http://127.0.0.1:1/', '--event', 'sync.failed'],
    ['rotate', '1'],
  ]) {
    let errorText = ''
    const err = (text: string) => {
      errorText += text
    }
    const stop = new AbortController().signal
    const terminal = { providers: TEST_PROVIDERS, out: () => {}, err, interactive: false, stop, env }
    assert.equal(await run(['hook', ...words], terminal), 2)
    assert.match(
      errorText,
      /key that all nodes have: openssl rand -base64 32 > FILE makes one, and --hook-key-file/,
    )
  }
  const hooks = await runJson<unknown[]>(dataDir, 'hook', 'list')
  assert.equal(hooks.length, 1)
})
