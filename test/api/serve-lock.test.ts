// A data directory has one server, with commands beside it, in real processes.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../support/app.ts'
import { fillDatabase, TOKENS } from '../support/directory.ts'
import { type Program, startProgram } from '../support/program.ts'
import { until } from '../support/terminal.ts'

const FLAGS = ['--port', '0', '--no-scheduler']

async function serve(t: TestContext, dataDir: string): Promise<{ server: Program; url: string }> {
  const server = startProgram(t, ['serve', '--data-dir', dataDir, ...FLAGS])
  const [, url = ''] = await server.waitForOutput(/url=(\S+)/)
  return { server, url }
}

test('a second server on a data directory is refused, and the first continues', async (t) => {
  const dataDir = temporaryDirectory(t)
  const temporary = join(dataDir, 'blobs/tmp')
  mkdirSync(temporary, { recursive: true })
  writeFileSync(join(temporary, 'of-a-crash'), 'half')
  const { url } = await serve(t, dataDir)
  await until(() => readdirSync(temporary).length === 0)
  writeFileSync(join(temporary, 'of-an-upload-that-runs'), 'half')
  for (const other of [dataDir, `${dataDir}/.`]) {
    const second = startProgram(t, ['serve', '--data-dir', other, ...FLAGS])
    assert.equal(await second.waitForExit(), 1)
    assert.match(second.printed.err, /data directory is in use/)
    assert.equal(second.printed.err.trim().split('\n').length, 1)
  }
  assert.deepEqual(readdirSync(temporary), ['of-an-upload-that-runs'], 'the second one swept')
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
})

test('after kill -9 the next server starts at once', async (t) => {
  const dataDir = temporaryDirectory(t)
  for (let time = 0; time < 3; time += 1) {
    const { server, url } = await serve(t, dataDir)
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
    server.child.kill('SIGKILL')
    await once(server.child, 'close')
  }
})

test('a server that stopped normally leaves the directory to the next', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { server } = await serve(t, dataDir)
  server.child.kill('SIGTERM')
  assert.equal(await server.waitForExit(), 0)
  await serve(t, dataDir)
})

test('keys, tokens and lists are made beside a running server, which reads them within a second', async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const { url } = await serve(t, dataDir)
  const tool = async (...words: string[]) => {
    const program = startProgram(t, [...words, '--data-dir', dataDir, '--json'])
    assert.equal(await program.waitForExit(), 0, program.printed.err)
    return JSON.parse(program.printed.out)
  }
  const { key } = await tool('key', 'create', 'beside')
  const { token } = await tool('token', 'create', 'beside', '--allow', 'documents:GET')
  const answers = (path: string, headers: Record<string, string>, status: number) =>
    until(async () => (await fetch(url + path, { headers })).status === status)
  await answers('/api/v1/providers', { 'x-api-key': key }, 200)
  await answers('/api/v1/documents', { authorization: `Bearer ${token}` }, 200)
  const [{ id }] = (await tool('token', 'list')).filter(({ name }: { name: string }) => name === 'beside')
  await tool('token', 'revoke', String(id))
  await answers('/api/v1/documents', { authorization: `Bearer ${token}` }, 401)
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true, encoding: 'utf8' })
  assert.ok(files.length > 5)
  for (const entry of files) {
    const path = join(entry.parentPath, entry.name)
    const mode = statSync(path).mode & 0o777
    assert.equal(mode, entry.isDirectory() ? 0o700 : 0o600, path)
    if (!entry.isFile()) continue
    const bytes = readFileSync(path)
    for (const secret of [key, token]) assert.ok(!bytes.includes(secret), `a secret in clear in ${path}`)
  }
})

test('blobs without rows are moved after a start, even 5,000 of them', async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  for (let count = 0; count < 5000; count += 1) {
    const bytes = randomBytes(20)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const folder = join(dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4))
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, sha256), bytes)
  }
  const { url, server } = await serve(t, dataDir)
  await until(() =>
    /contents that belong to no document moved to blobs\/removed contents=5000/.test(server.printed.err),
  )
  assert.equal(readdirSync(join(dataDir, 'blobs/removed')).length, 5000)
  const entries = readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  assert.deepEqual(
    entries.filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/removed')),
    [],
  )
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  assert.equal((await fetch(`${url}/api/v1/documents`, { headers })).status, 200)
})
