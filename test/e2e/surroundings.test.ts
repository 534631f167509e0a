// Where it is put: other people's files, read-only and noexec file systems, a user who may do little.

import assert from 'node:assert/strict'
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { mountSmallDisk } from '../support/small-disk.ts'
import { directory, type Ended, EXECUTABLE, remounted, run, serve } from './executable.ts'

const SERVE = ['serve', '--no-scheduler', '--port', '0', '--data-dir']
const NOBODY = 65534

test('refuses the data directory of a newer version and leaves it alone', async (t) => {
  const dataDir = join(directory(t), 'data')
  await run(t, ['key', 'create', 'erp', '--data-dir', dataDir])
  const path = database(dataDir, 'pragma user_version = 999; pragma wal_checkpoint(truncate)')
  const before = readFileSync(path)
  const result = await run(t, [...SERVE, dataDir])
  refused(result, /cambista\.db has schema version 999, this program knows \d+: use a newer cambista$/)
  assert.deepEqual(readFileSync(path), before)
})

test('refuses a database of another program and leaves it alone', async (t) => {
  const dataDir = join(directory(t), 'data')
  mkdirSync(dataDir)
  const path = database(dataDir, 'create table theirs (x)')
  refused(await run(t, [...SERVE, dataDir]), /cambista\.db is a database of another program$/)
  const theirs = new Sqlite(path)
  assert.deepEqual(theirs.prepare('select name from sqlite_schema').all(), [{ name: 'theirs' }])
  theirs.close()
})

test('refuses a file that is no database', async (t) => {
  const dataDir = directory(t)
  writeFileSync(join(dataDir, 'cambista.db'), 'a letter to my aunt '.repeat(100))
  refused(
    await run(t, [...SERVE, dataDir]),
    /cannot open the database .*cambista\.db: file is not a database$/,
  )
})

test('a read-only file system is an error, with data and without', async (t) => {
  const home = directory(t)
  const dataDir = join(home, 'data')
  const under = remounted(home, 'ro')
  refused(
    await run(t, [...SERVE, dataDir], { under }),
    /cannot use the data directory .*read-only file system/,
  )
  assert.equal((await run(t, ['key', 'create', 'erp', '--data-dir', dataDir])).code, 0)
  refused(
    await run(t, [...SERVE, dataDir], { under }),
    /cannot use the data directory .*read-only file system/,
  )
  refused(await run(t, ['key', 'create', 'b', '--data-dir', dataDir], { under }), /read-only file system/)
})

test('a temporary directory that is noexec, read-only or missing makes it use the data directory', async (t) => {
  const TMPDIR = directory(t)
  for (const how of [
    { under: remounted(TMPDIR, 'noexec'), env: { TMPDIR } },
    { under: remounted(TMPDIR, 'ro'), env: { TMPDIR } },
    { env: { TMPDIR: join(TMPDIR, 'missing') } },
  ]) {
    const dataDir = join(directory(t), 'data')
    const { url, ended } = await serve(t, dataDir, how)
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
    assert.equal((await ended('SIGTERM')).code, 0)
    assert.deepEqual(readdirSync(TMPDIR), [])
    assert.deepEqual(listAddons(dataDir), [])
  }
})

test('an error advises to set TMPDIR if the data directory is noexec too', async (t) => {
  const TMPDIR = directory(t)
  const dataDir = join(TMPDIR, 'data')
  const result = await run(t, [...SERVE, dataDir], { under: remounted(TMPDIR, 'noexec'), env: { TMPDIR } })
  refused(result, /cannot load SQLite .*Set TMPDIR to a directory that .* is not mounted noexec$/)
  assert.deepEqual(readdirSync(TMPDIR), ['data'])
  assert.deepEqual(listAddons(dataDir), [])
})

test('`serve` starts on a full disk of data and temporary directory', async (t) => {
  const disk = mountSmallDisk(t, 24 * 1024 ** 2)
  if ('reason' in disk) return t.skip(disk.reason)
  const dataDir = join(disk.dir, 'data')
  assert.equal((await run(t, ['key', 'create', 'erp', '--data-dir', dataDir])).code, 0)
  disk.leaveFree(0)
  const { url, ended } = await serve(t, dataDir, { env: { TMPDIR: disk.dir } })
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  assert.equal((await ended('SIGTERM')).code, 0)
  assert.deepEqual(listAddons('/dev/shm'), [])
})

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`leaves nothing in the temporary directory after ${signal}`, async (t) => {
    const TMPDIR = directory(t)
    const { ended } = await serve(t, join(directory(t), 'data'), { env: { TMPDIR } })
    assert.equal((await ended(signal)).code, signal === 'SIGTERM' ? 0 : signal)
    assert.deepEqual(readdirSync(TMPDIR), [])
  })
}

test('`serve` runs as a user who owns only the data directory, and makes it private', async (t) => {
  const root = process.getuid?.() === 0
  const under = root ? ['/usr/bin/setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []
  const home = directory(t)
  const [dataDir, TMPDIR] = [join(home, 'data'), join(home, 'tmp')]
  for (const path of [dataDir, TMPDIR]) {
    mkdirSync(path)
    if (root) chownSync(path, NOBODY, NOBODY)
  }
  const executable = join(home, 'cambista') // a checkout may lie where nobody else can go
  copyFileSync(EXECUTABLE, executable)
  const { url, ended } = await serve(t, dataDir, { under, env: { TMPDIR }, executable })
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  assert.equal(fileMode(dataDir), '700')
  const files = readdirSync(dataDir)
  assert.ok(files.includes('cambista.db') && files.includes('cambista.db-wal'), files.join())
  for (const name of files) {
    const one = statSync(join(dataDir, name))
    assert.equal(fileMode(join(dataDir, name)), one.isDirectory() ? '700' : '600', name)
    if (root) assert.equal(one.uid, NOBODY, name)
  }
  assert.equal((await ended('SIGTERM')).code, 0)
})

function refused({ code, out, err }: Ended, why: RegExp): void {
  assert.deepEqual([code, out], [1, ''])
  assert.match(err, /^cambista: [^\n]+\n$/)
  assert.match(err.trimEnd(), why)
}

/** Does something to the database of a data directory, and returns its path. */
function database(dataDir: string, sql: string): string {
  const path = join(dataDir, 'cambista.db')
  const sqlite = new Sqlite(path)
  sqlite.exec(sql)
  sqlite.close()
  return path
}

function listAddons(dataDir: string): string[] {
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.node'))
}

function fileMode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}
