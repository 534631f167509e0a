import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { restoreBackup } from '../../../../../src/domain/operations/backup/restore.ts'
import { openBlobFolder } from '../../../../../src/store/blobs/folder.ts'
import { selectDocuments } from '../../../../../src/store/documents/documents.ts'
import { selectMeta } from '../../../../../src/store/meta.ts'
import { SCHEMA_VERSION } from '../../../../../src/store/migrations.ts'
import { openDatabase } from '../../../../../src/store/sqlite/database.ts'
import { takeFileLock } from '../../../../../src/store/sqlite/lock.ts'
import { signIn } from '../../../../api/web/support.ts'
import { startTestApp } from '../../../../support/app.ts'
import { type BackupSource, fileModes, NOW, openBackupSource } from '../../../../support/backups.ts'
import { makeDirectory, openTestBlobs, storeTexts } from '../../../../support/company.ts'
import { insertTestMailbox } from '../../../../support/mail/mailboxes.ts'
import { OLDEST_SCHEMA, olderSchema } from '../../../../support/older-schema.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const sha = (text: string) => hash('sha256', text)
const NOBODY = 65534

async function restore(source: BackupSource, dataDir: string, owner?: { uid: number; gid: number }) {
  const lines: string[] = []
  const checking = { fault: (line: string) => lines.push(line), inPieces: false }
  const end = await restoreBackup(source.setDir, { dataDir, owner, now: NOW }, checking)
  return { ...end, lines }
}

/** The texts of the documents in a data directory, by id. */
async function helpTexts(dataDir: string): Promise<string[]> {
  const db = openDatabase(dataDir, { mustExist: true })
  const blobs = await openBlobFolder(join(dataDir, 'blobs'))
  const texts: string[] = []
  for (const { sha256 } of await selectDocuments(db, { limit: 1000 })) {
    const blob = await blobs.read(sha256)
    assert.ok(blob)
    texts.push(Buffer.concat(await Array.fromAsync(blob.stream())).toString())
  }
  await db.destroy()
  return texts
}

for (const how of ['is not there', 'is an empty directory'] as const) {
  test(`a data directory that ${how} gets the whole backup, and a new epoch`, async (t) => {
    const source = await openBackupSource(t, 'hola', 'adios', 'hola')
    const before = await selectMeta(source.db)
    await source.backUp()
    await source.storeTexts('later')
    const dataDir = join(source.home, 'new')
    if (how === 'is an empty directory') mkdirSync(join(dataDir, 'lost+found'), { recursive: true })
    const { faults, name } = await restore(source, dataDir)
    assert.deepEqual([faults, name], [0, '2026-03-24T09-30-00Z'])
    assert.deepEqual(await helpTexts(dataDir), ['hola', 'adios', 'hola'])
    const db = openDatabase(dataDir)
    const { revision, epoch } = await selectMeta(db)
    await db.destroy()
    assert.equal(revision, before.revision)
    assert.match(epoch, /^[0-9a-f]{16}$/)
    assert.notEqual(epoch, before.epoch)
    assert.deepEqual(
      fileModes(dataDir).filter((line) => !/^(600|700) |lost\+found$/.test(line)),
      [],
    )
    assert.deepEqual(
      readdirSync(source.home).filter((one) => one.includes('restoring')),
      [],
    )
    assert.equal(existsSync(join(dataDir, '.restoring')), false)
  })
}

test('a restore signs every browser out: a session that was closed since stays closed', async (t) => {
  const first = await startTestApp(t)
  const { url } = first.app
  const browser = await signIn(url, first.key)
  await browser.ask('/session/ticket', { json: { export: 'csv' } })
  const setDir = join(temporaryDirectory(t), 'sets')
  const backup = await runCommand(['backup', 'create', setDir, '--data-dir', first.dataDir])
  assert.equal(backup.code, 0, backup.err)
  await browser.ask('/session', { method: 'DELETE' })
  await first.app.close()
  const dataDir = join(temporaryDirectory(t), 'new')
  await restoreBackup(
    setDir,
    { dataDir, owner: undefined, now: NOW },
    { fault: assert.fail, inPieces: false },
  )
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'), { readonly: true })
  for (const table of ['page_sessions', 'page_tickets']) {
    assert.deepEqual(sqlite.prepare(`select * from ${table}`).all(), [], table)
  }
  sqlite.close()
  const { port } = new URL(url)
  await startTestApp(t, { dataDir, clock: first.clock, listen: { port: Number(port) } })
  assert.equal((await browser.ask('/api/v1/rates')).status, 401)
})

test('a restore pauses every mailbox, because the original server may still take its mails', async (t) => {
  const source = await openBackupSource(t)
  await insertTestMailbox(source.db)
  const formerPause = { paused_at: '2026-03-01T12:00:00.000Z', pause_reason: 'operator' as const }
  await insertTestMailbox(source.db, { name: 'paused', ...formerPause })
  await insertTestMailbox(source.db, { name: 'deleted', deleted_at: '2026-03-01T12:00:00.000Z' })
  await source.backUp()
  const dataDir = join(source.home, 'new')
  await restore(source, dataDir)
  const columns = ['name', 'paused_at', 'pause_reason'] as const
  const rows = await temporaryDatabase(t, dataDir).selectFrom('mailboxes').select(columns).execute()
  assert.deepEqual(rows, [
    { name: 'facturas', paused_at: NOW.toISOString(), pause_reason: 'restore' },
    { name: 'paused', ...formerPause },
    { name: 'deleted', paused_at: null, pause_reason: null },
  ])
})

test('a restored server answers with other ETags than the one that was backed up', async (t) => {
  const first = await startTestApp(t)
  await first.sync({ from: '2026-03-20', to: '2026-03-24' })
  const path = '/api/v1/rates/latest'
  const answer = await first.get(path)
  const etag = answer.headers.get('etag') ?? ''
  assert.equal((await first.get(path, { 'if-none-match': etag })).status, 304)
  const home = join(first.dataDir, '..', `restored-${process.pid}`)
  t.after(() => rmSync(home, { recursive: true, force: true }))
  mkdirSync(home)
  assert.equal(
    (await runCommand(['backup', 'create', join(home, 'set'), '--data-dir', first.dataDir])).code,
    0,
  )
  const restored = await runCommand([
    'backup',
    'restore',
    join(home, 'set'),
    '--data-dir',
    join(home, 'data'),
  ])
  assert.equal(restored.code, 0, restored.err)
  const second = await startTestApp(t, { dataDir: join(home, 'data') })
  const headers = { 'x-api-key': first.key } // the old keys are valid: their hashes are in the backup
  const again = await fetch(second.app.url + path, { headers: { ...headers, 'if-none-match': etag } })
  assert.equal(again.status, 200)
  assert.deepEqual(await again.json(), await answer.json())
  assert.notEqual(again.headers.get('etag'), etag)
})

test('a backup of an older schema is brought up to date, and gives no id twice either', async (t) => {
  const home = temporaryDirectory(t)
  const [from, set, to] = [olderSchema(t), join(home, 'set'), join(home, 'new')]
  assert.equal((await runCommand(['backup', 'create', set, '--data-dir', from])).code, 0)
  const end = await runCommand(['backup', 'restore', set, '--data-dir', to])
  assert.equal(end.code, 0, end.err)
  assert.match(end.out, new RegExp(`^its schema was ${OLDEST_SCHEMA} and is ${SCHEMA_VERSION} now$`, 'm'))
  assert.deepEqual(
    readdirSync(to).filter((name) => !/\.lock(-journal)?$/.test(name)),
    ['blobs', 'cambista.db'],
  )
  await makeDirectory(to)
  const db = temporaryDatabase(t, to)
  assert.deepEqual(await storeTexts(db, await openTestBlobs(to), ['hola']), [1_000_001])
})

test('restore reports each fault of a set and writes nothing', async (t) => {
  const source = await openBackupSource(t, 'hola', 'adios')
  await source.backUp()
  rmSync(source.blobPath(sha('hola'), source.setDir))
  const copy = readFileSync(source.blobPath(sha('adios')))
  rmSync(source.blobPath(sha('adios'), source.setDir))
  writeFileSync(source.blobPath(sha('adios'), source.setDir), `${copy}!`)
  const dataDir = join(source.home, 'new')
  const { faults, lines } = await restore(source, dataDir)
  assert.equal(faults, 2)
  assert.match(lines.join('\n'), /is altered(.|\n)*is missing|is missing(.|\n)*is altered/)
  assert.equal(existsSync(dataDir), false)
  assert.deepEqual(readdirSync(source.home).sort(), ['data', 'set'])

  mkdirSync(dataDir)
  await restore(source, dataDir)
  assert.deepEqual(readdirSync(dataDir).sort(), ['serve.lock', 'sync.lock'])
})

test('restore accepts a backup with a lost blob', async (t) => {
  const source = await openBackupSource(t, 'hola', 'adios')
  rmSync(source.blobPath(sha('hola')))
  await source.backUp()
  const { faults, manifest } = await restore(source, join(source.home, 'new'))
  assert.equal(faults, 0)
  assert.deepEqual(manifest.lost, [{ sha256: sha('hola'), words: 'is missing' }])
})

test('a data directory that is not empty or in use is refused and left as it is', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  await assert.rejects(restore(source, source.dataDir), /is not empty \(.*\): move it away first/)
  const lock = takeFileLock(source.dataDir, 'serve.lock')
  await assert.rejects(restore(source, source.dataDir), /is in use \(serve\.lock\): stop the server/)
  lock?.release()
  assert.deepEqual(await helpTexts(source.dataDir), ['hola'])

  const other = join(source.home, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'blobs'), 'a file of somebody')
  await assert.rejects(restore(source, other), /is not empty \(blobs\)/)
  assert.deepEqual(readdirSync(other), ['blobs'])
  await assert.rejects(
    restore(source, join(source.home, 'a/b')),
    /there is no .* to make the data directory in/,
  )
})

test('a server that makes a database meanwhile is not overwritten', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  const dataDir = join(source.home, 'new')
  mkdirSync(dataDir)
  const checking = {
    fault: (line: string) => assert.fail(line),
    inPieces: false,
    progress: () => writeFileSync(join(dataDir, 'cambista.db'), 'of the server'),
  }
  const restored = restoreBackup(source.setDir, { dataDir, owner: undefined, now: NOW }, checking)
  await assert.rejects(restored, /somebody made a database in .* meanwhile; nothing was restored/)
  assert.equal(readFileSync(join(dataDir, 'cambista.db'), 'utf8'), 'of the server')
  assert.equal(existsSync(join(dataDir, 'blobs')), false)
})

test('root gives everything to the owner, and shares no content with a set of somebody else', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined
  const dataDir = join(source.home, 'new')
  await restore(source, dataDir, owner)
  const { uid } = owner ?? statSync(source.setDir)
  for (const name of ['', ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' })]) {
    assert.equal(statSync(join(dataDir, name)).uid, uid, name)
  }
  const blobStats = statSync(
    join(dataDir, 'blobs', sha('hola').slice(0, 2), sha('hola').slice(2, 4), sha('hola')),
  )
  assert.equal(blobStats.nlink, owner ? 1 : 3)
  assert.equal(statSync(source.blobPath(sha('hola'), source.setDir)).uid, statSync(source.setDir).uid)
})

test('root restores to an empty directory of the service for the service', async (t) => {
  if (process.getuid?.() !== 0) return
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  const dataDir = join(source.home, 'state')
  mkdirSync(dataDir)
  chownSync(dataDir, NOBODY, NOBODY)
  chmodSync(source.home, 0o755)
  const end = await runCommand(['backup', 'restore', source.setDir, '--data-dir', dataDir])
  assert.equal(end.code, 0, end.err)
  for (const name of readdirSync(dataDir)) assert.equal(statSync(join(dataDir, name)).uid, NOBODY, name)
})

test('a writable directory of another user is restored to, and a new database is made in one', async (t) => {
  if (process.getuid?.() !== 0) return
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  const [restored, empty] = ['restored', 'empty'].map((name) => join(source.home, name))
  assert.ok(restored && empty)
  for (const path of [restored, empty]) {
    mkdirSync(path)
    chownSync(path, 0, NOBODY)
    chmodSync(path, 0o2775)
  }
  chmodSync(source.home, 0o755)
  for (const name of ['', ...readdirSync(source.setDir, { recursive: true, encoding: 'utf8' })])
    chownSync(join(source.setDir, name), NOBODY, NOBODY)
  process.setegid?.(NOBODY)
  process.seteuid?.(NOBODY)
  try {
    assert.equal((await restore(source, restored)).faults, 0)
    await openDatabase(empty).destroy()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
  for (const path of [restored, empty]) {
    assert.equal(statSync(path).mode & 0o7777, 0o2775)
    assert.equal(statSync(join(path, 'cambista.db')).uid, NOBODY)
  }
})

test('restore resumes a restore that was killed before its last step', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  const dataDir = join(source.home, 'new')
  mkdirSync(join(dataDir, '.restoring'), { recursive: true })
  cpSync(join(source.setDir, 'blobs'), join(dataDir, 'blobs'), { recursive: true })
  writeFileSync(join(dataDir, '.restoring/cambista.db'), 'half')
  assert.equal((await restore(source, dataDir)).faults, 0)
  assert.deepEqual(await helpTexts(dataDir), ['hola'])
})

test('two restores to one place at once: one of them lands', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp(NOW)
  const dataDir = join(source.home, 'new')
  const ends = await Promise.allSettled([restore(source, dataDir), restore(source, dataDir)])
  assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.deepEqual(await helpTexts(dataDir), ['hola'])
})
