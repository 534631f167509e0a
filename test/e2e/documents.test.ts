// The executable loses no acknowledged document by kill -9, and locks its data directory.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { directory, run, serve } from './executable.ts'

test('an upload of 20 MB is there, byte for byte, after kill -9 and a new start', async (t) => {
  const dataDir = join(directory(t), 'data')
  const at = ['--data-dir', dataDir]
  await run(t, ['company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '1', ...at])
  await run(t, ['owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1', ...at])
  await run(t, ['agent', 'create', '--name', 'Lector', '--company', '1', '--id', '1', ...at])
  const allow = ['--allow', 'documents:POST', '--allow', 'documents:GET']
  const token = (await run(t, ['token', 'create', 'erp', ...allow, ...at])).out.trim()
  const headers = { authorization: `Bearer ${token}` }
  const bytes = randomBytes(20_000_000)
  const document = { name: 'plano.dwg', mimetype: 'image/vnd.dwg', base64: bytes.toString('base64') }
  const body = JSON.stringify({ owner_id: 1, company_id: 1, agent_id: 1, documents: [document] })

  const first = await serve(t, dataDir)
  const upload = await fetch(`${first.url}/api/v1/documents/create`, { method: 'POST', headers, body })
  assert.equal(upload.status, 200, await upload.text())
  await first.ended('SIGKILL')

  const second = await serve(t, dataDir)
  const content = await fetch(`${second.url}/api/v1/documents/1/content`, { headers })
  const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')
  assert.equal(sha256(await content.bytes()), sha256(bytes))
  assert.equal((await second.ended('SIGTERM')).code, 0)
})

test('a data directory in use refuses a second server with one line, and the first goes on', async (t) => {
  const dataDir = join(directory(t), 'data')
  const first = await serve(t, dataDir)
  const { code, out, err } = await run(t, ['serve', '--no-scheduler', '--port', '0', '--data-dir', dataDir])
  assert.deepEqual(
    { code, out, err },
    { code: 1, out: '', err: `cambista: the data directory is in use by another server: ${dataDir}\n` },
  )
  assert.equal((await fetch(`${first.url}/healthz`)).status, 200)
  assert.equal((await first.ended('SIGTERM')).code, 0)
})
