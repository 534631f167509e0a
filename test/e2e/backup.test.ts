// The executable backs up, checks, restores and upgrades: with its own SQLite addon, under its own umask.

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { emptyOlderSchema, OLDEST_SCHEMA } from '../support/older-schema.ts'
import { directory, remounted, run, serve } from './executable.ts'

test('backs up a running server, checks it, restores it elsewhere and serves that', async (t) => {
  const home = directory(t)
  const [dataDir, set, other] = [join(home, 'data'), join(home, 'set'), join(home, 'other')]
  const at = ['--data-dir', dataDir]
  await run(t, ['company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '1', ...at])
  await run(t, ['owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1', ...at])
  await run(t, ['agent', 'create', '--name', 'Lector', '--company', '1', '--id', '1', ...at])
  const allow = ['--allow', 'documents:POST', '--allow', 'documents:GET']
  const token = (await run(t, ['token', 'create', 'erp', ...allow, ...at])).out.trim()
  const headers = { authorization: `Bearer ${token}` }
  const server = await serve(t, dataDir)
  const document = { name: 'factura.pdf', mimetype: 'application/pdf', base64: btoa('a bill') }
  const body = JSON.stringify({ owner_id: 1, company_id: 1, agent_id: 1, documents: [document] })
  const upload = await fetch(`${server.url}/api/v1/documents/create`, { method: 'POST', headers, body })
  assert.equal(upload.status, 200)

  const creation = await run(t, ['backup', 'create', set, ...at])
  assert.equal(creation.code, 0, creation.err)
  const backups = readdirSync(set).filter((name) => name.startsWith('2'))
  assert.equal(backups.length, 1)
  for (const name of readdirSync(set, { recursive: true, encoding: 'utf8' })) {
    const stats = statSync(join(set, name))
    assert.equal(stats.mode & 0o777, stats.isDirectory() ? 0o700 : 0o600, name)
  }
  // As from a disk that is mounted read-only.
  const verified = await run(t, ['backup', 'verify', set], { under: remounted(set, 'ro') })
  assert.equal(verified.code, 0, verified.err)

  const examined = await run(t, ['doctor', '--json', ...at])
  const { findings } = JSON.parse(examined.out) as { findings: { message: string }[] }
  assert.equal(findings.length, 1, examined.out)
  assert.match(findings[0]?.message ?? '', /^never synced/)
  const refused = await run(t, ['backup', 'restore', set, ...at])
  assert.match(refused.err, /^cambista: .*data is in use \(serve\.lock\): stop the server/)
  assert.equal((await run(t, ['backup', 'restore', set, '--data-dir', other])).code, 0)
  const again = await serve(t, other)
  const content = await fetch(`${again.url}/api/v1/documents/1/content`, { headers })
  assert.equal(await content.text(), 'a bill')
})

test('`serve` upgrades a data directory of an older schema, and copies it before', async (t) => {
  const dataDir = join(directory(t), 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  emptyOlderSchema(dataDir).close()
  const server = await serve(t, dataDir)
  const copy = await server.says(/database upgraded from=12 to=\d+ copy=(\S+)/)
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
  const before = new Sqlite(copy, { readonly: true })
  assert.equal(before.pragma('user_version', { simple: true }), OLDEST_SCHEMA)
  before.close()
  assert.equal(statSync(copy).mode & 0o777, 0o600)
})

test('makes a nightly backup by itself, soon after a start that finds none', async (t) => {
  const home = directory(t)
  const set = join(home, 'set')
  const env = { CAMBISTA_BACKUP_DIR: set }
  const server = await serve(t, join(home, 'data'), { env })
  await server.says(/backup made backup=\S+/)
  assert.equal((await server.ended('SIGTERM')).code, 0)
  assert.equal((await run(t, ['backup', 'verify', set])).code, 0)
})
