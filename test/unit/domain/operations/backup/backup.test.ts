import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { purgeDocuments } from '../../../../../src/domain/documents/removal.ts'
import { createBackup, pruneBackups } from '../../../../../src/domain/operations/backup/backup.ts'
import { readManifest } from '../../../../../src/domain/operations/backup/manifest.ts'
import { backupNames, findBackup, openBackupSet } from '../../../../../src/domain/operations/backup/set.ts'
import { VERSION } from '../../../../../src/runtime/assets.ts'
import { selectMeta } from '../../../../../src/store/meta.ts'
import { SCHEMA_VERSION } from '../../../../../src/store/migrations.ts'
import { checkBackup, fileModes, NOW, openBackupSource } from '../../../../support/backups.ts'
import { ANA } from '../../../../support/company.ts'
import { emptyOlderSchema, OLDEST_SCHEMA } from '../../../../support/older-schema.ts'
import { until } from '../../../../support/terminal.ts'

const sha = (text: string) => hash('sha256', text)
const HOLA = sha('hola')
const later = (days: number) => new Date(NOW.getTime() + days * 86_400_000)

test('a backup has the database and each blob once, and lists them in its manifest', async (t) => {
  const source = await openBackupSource(t, 'hola', 'adios', 'hola')
  const end = await source.backUp()
  assert.equal(end.name, '2026-03-24T09-30-00Z')
  const dir = join(source.setDir, end.name)
  const database = readFileSync(join(dir, 'cambista.db'))
  const list = readFileSync(join(dir, 'blobs.sha256'), 'utf8')
  const { revision, epoch } = await selectMeta(source.db)
  assert.deepEqual(await readManifest(dir), {
    format: 1,
    program: VERSION,
    schema: SCHEMA_VERSION,
    created_at: NOW.toISOString(),
    data_revision: revision,
    epoch,
    database: { file: 'cambista.db', bytes: database.length, sha256: hash('sha256', database) },
    blobs: { count: 2, bytes: 9, list: 'blobs.sha256', list_sha256: sha(list) },
    lost: [],
  })
  const contents = [sha('adios'), HOLA].sort()
  const path = (sha256: string) => `../blobs/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
  assert.equal(list, contents.map((one) => `${one}  ${path(one)}\n`).join(''))
  for (const one of contents) assert.equal(sha(readFileSync(join(dir, path(one)), 'utf8')), one)
  assert.deepEqual((await checkBackup(source.setDir)).lines, [])
})

test('nobody else can read a backup, and no -wal belongs to it', async (t) => {
  const umask = process.umask(0)
  t.after(() => process.umask(umask))
  const source = await openBackupSource(t, 'hola')
  const { name } = await source.backUp()
  const modes = fileModes(source.setDir)
  assert.deepEqual(
    modes.filter((line) => !/^(600|700) /.test(line)),
    [],
  )
  assert.deepEqual(readdirSync(join(source.setDir, name)).sort(), [
    'blobs.sha256',
    'cambista.db',
    'manifest.json',
  ])
  assert.equal(statSync(source.setDir).mode & 0o777, 0o700)
})

test('a second backup adds only what is missing, and shares the rest by hard links', async (t) => {
  const source = await openBackupSource(t, 'hola')
  assert.deepEqual((await source.backUp()).added, { blobs: 1, bytes: 4 })
  assert.equal(statSync(source.blobPath(HOLA)).ino, statSync(source.blobPath(HOLA, source.setDir)).ino)
  await source.storeTexts('adios')
  assert.deepEqual((await source.backUp(later(1))).added, { blobs: 1, bytes: 5 })
  assert.deepEqual((await source.backUp(later(1))).added, { blobs: 0, bytes: 0 })
  // The third was made in the same second: it is the next one.
  const names = ['2026-03-24T09-30-00Z', '2026-03-25T09-30-00Z', '2026-03-25T09-30-01Z']
  assert.deepEqual(backupNames(source.setDir), names)
  for (const name of names) assert.deepEqual((await checkBackup(join(source.setDir, name))).lines, [])
})

test('a backup after one of a clock that was ahead is the newest', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp(later(40))
  const { name, manifest } = await source.backUp(NOW)
  assert.deepEqual([name, manifest.created_at], ['2026-05-03T09-30-01Z', NOW.toISOString()])
  assert.equal(findBackup(source.setDir).name, name)
})

test('on another file system contents are copied', async (t) => {
  const source = await openBackupSource(t, 'hola', 'x'.repeat(700_000))
  const other = `/dev/shm/cambista-test-${process.pid}`
  t.after(() => rmSync(other, { recursive: true, force: true }))
  mkdirSync(other)
  assert.notEqual(statSync(other).dev, statSync(source.dataDir).dev, '/dev/shm is another file system')
  const set = await openBackupSet(other, source.dataDir)
  await createBackup(set, { dataDir: source.dataDir, now: NOW })
  set.close()
  assert.deepEqual((await checkBackup(other)).lines, [])
  assert.equal(statSync(source.blobPath(HOLA, other)).nlink, 1)
  assert.deepEqual(readdirSync(join(other, 'blobs/tmp')), [])
})

test('a content in the set is not trusted for its name: of another size it is taken again', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  const blobFile = source.blobPath(HOLA, source.setDir)
  rmSync(blobFile)
  writeFileSync(blobFile, 'hol', { mode: 0o600 })
  assert.deepEqual((await source.backUp(later(1))).added, { blobs: 1, bytes: 4 })
  assert.equal(readFileSync(blobFile, 'utf8'), 'hola')
})

test('a missing or altered blob is recorded as lost, and the rest is backed up', async (t) => {
  const source = await openBackupSource(t, 'hola', 'adios', 'otro')
  rmSync(source.blobPath(HOLA))
  writeFileSync(source.blobPath(sha('otro')), 'roto')
  const { manifest, path } = await source.backUp()
  const words = Object.fromEntries(manifest.lost.map((one) => [one.sha256, one.words]))
  assert.deepEqual(Object.keys(words).sort(), [HOLA, sha('otro')].sort())
  assert.equal(words[HOLA], 'is missing')
  assert.match(words[sha('otro')] ?? '', /^is altered \(4 bytes whose SHA-256 is /)
  assert.equal(manifest.blobs.count, 1)
  const { lines } = await checkBackup(path)
  assert.equal(lines.length, 2)
  assert.match(lines.join(), /is missing: so it was in the data directory already when the backup was made/)
  assert.equal(
    existsSync(source.blobPath(sha('otro'), source.setDir)),
    false,
    'the altered one is not in the set',
  )
})

test('a blob of the set is not lost when the data directory loses it', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  rmSync(source.blobPath(HOLA))
  const { manifest } = await source.backUp(later(1))
  assert.deepEqual(manifest.lost, [])
  assert.deepEqual((await checkBackup(source.setDir)).lines, [])
})

test('a document that comes and goes while the backup is made is not called lost: the copy is made again', async (t) => {
  const source = await openBackupSource(t, 'hola')
  const [gone, came] = [sha('comes and goes'), sha('comes')]
  let copies = 0
  let looked = 0
  const raw = new Sqlite(join(source.dataDir, 'cambista.db'))
  t.after(() => raw.close())
  await source.storeTexts('comes and goes', 'comes') // after all contents were taken over, before the copy
  const { manifest, path } = await source.backUp(NOW, (set) => ({
    ...set,
    begin(now) {
      copies++
      return set.begin(now)
    },
    get blobsDir() {
      // Taken over before: nothing. After the copy: the deletion commits, then unlinks.
      if (copies === 1 && looked++ === 0) {
        raw.exec(`delete from documents where id = 2; delete from attachments where sha256 = '${gone}'`)
        for (const root of [source.dataDir, source.setDir])
          rmSync(source.blobPath(gone, root), { force: true })
      }
      return set.blobsDir
    },
  }))
  assert.equal(copies, 2)
  assert.deepEqual([manifest.lost, manifest.blobs.count], [[], 2])
  assert.deepEqual((await checkBackup(path)).lines, [])
  assert.ok(existsSync(source.blobPath(came, source.setDir)))
})

test('beside uploads and deletions every backup is good', async (t) => {
  const source = await openBackupSource(t)
  let n = 0
  let on = true
  let purgesLeft = 0
  const uploads = (async () => {
    while (on) await source.storeTexts(`document ${n++}`, `same ${n % 7}`)
  })()
  const purges = (async () => {
    for (;;) {
      await until(() => purgesLeft > 0 || !on)
      if (!on) return
      purgesLeft--
      await purgeDocuments(source.db, source.blobs, { createdUpTo: '2999', by: ANA, onRemoved: () => {} })
    }
  })()
  for (let day = 0; day < 12; day++) {
    purgesLeft = 10 // each may spoil an attempt, of the 20 of a backup
    const { path, manifest } = await source.backUp(later(day))
    assert.deepEqual(manifest.lost, [])
    assert.deepEqual((await checkBackup(path, { inPieces: true })).lines, [])
    await until(() => n > 2 * day + 2)
  }
  on = false
  await Promise.all([uploads, purges])
})

test('a backup that is stopped leaves nothing that is taken for one', async (t) => {
  const source = await openBackupSource(t, ...Array.from({ length: 50 }, (_, i) => `document ${i}`))
  const stop = new AbortController()
  const set = await openBackupSet(source.setDir, source.dataDir)
  const request = { dataDir: source.dataDir, now: NOW, signal: stop.signal }
  const progress = (done: number) => done === 40 && stop.abort()
  await assert.rejects(
    createBackup(set, { ...request, progress }),
    /stopped before the end: there is no new backup/,
  )
  set.close()
  assert.deepEqual(backupNames(source.setDir), [])
  assert.deepEqual(readdirSync(join(source.setDir, 'blobs/tmp')), [])
  await assert.rejects(checkBackup(source.setDir), /there is no finished backup in/)
  await source.backUp()
  assert.deepEqual((await checkBackup(source.setDir)).lines, [])
})

test('a damaged database is not backed up, and the backup before stays the newest', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  await source.db.destroy()
  const path = join(source.dataDir, 'cambista.db')
  const bytes = readFileSync(path)
  bytes.fill('X', 4096 * 4 + 8, 4096 * 9)
  writeFileSync(path, bytes)
  await assert.rejects(
    source.backUp(later(1)),
    /the database is damaged \(.*\): no backup was made, see cambista doctor/,
  )
  assert.deepEqual(backupNames(source.setDir), ['2026-03-24T09-30-00Z'])
  assert.deepEqual((await checkBackup(source.setDir)).lines, [])
})

test('a data directory of an older schema is backed up as it is', async (t) => {
  const source = await openBackupSource(t)
  await source.db.destroy()
  rmSync(source.dataDir, { recursive: true })
  mkdirSync(source.dataDir)
  emptyOlderSchema(source.dataDir).close()
  const { manifest } = await source.backUp()
  assert.deepEqual([manifest.schema, manifest.blobs.count], [OLDEST_SCHEMA, 0])
  assert.deepEqual((await checkBackup(source.setDir)).lines, [])
  assert.deepEqual(readdirSync(source.dataDir), ['cambista.db'])
})

test('pruning leaves the newest backups and their blobs', async (t) => {
  const source = await openBackupSource(t, 'first', 'always')
  await source.backUp()
  await purgeDocuments(source.db, source.blobs, { createdUpTo: '2999', by: ANA, onRemoved: () => {} })
  await source.storeTexts('always', 'second')
  await source.backUp(later(1))
  await source.storeTexts('third')
  const { name } = await source.backUp(later(2))
  const set = await openBackupSet(source.setDir, source.dataDir)
  t.after(() => set.close())
  assert.deepEqual(await pruneBackups(set, 3, name), { removed: [], blobs: 0 })
  assert.deepEqual(await pruneBackups(set, 2, name), { removed: ['2026-03-24T09-30-00Z'], blobs: 1 })
  assert.equal(existsSync(source.blobPath(sha('first'), source.setDir)), false)
  for (const one of backupNames(source.setDir)) {
    assert.deepEqual((await checkBackup(join(source.setDir, one))).lines, [])
  }
})

test('pruning never removes the backup that was just made, whatever the clock', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp(later(300))
  const { name } = await source.backUp()
  const set = await openBackupSet(source.setDir, source.dataDir)
  t.after(() => set.close())
  await pruneBackups(set, 1, name)
  assert.deepEqual(backupNames(source.setDir), [name])
})

test('pruning removes no blob while a manifest is unreadable', async (t) => {
  const source = await openBackupSource(t, 'first')
  await source.backUp()
  await source.backUp(later(1))
  const { name, path } = await source.backUp(later(2))
  writeFileSync(join(path, 'cambista.db'), 'letters')
  const set = await openBackupSet(source.setDir, source.dataDir)
  t.after(() => set.close())
  await assert.rejects(pruneBackups(set, 2, name), /cannot open the database/)
  assert.ok(existsSync(source.blobPath(sha('first'), source.setDir)))
})

test('`backup create` refuses a directory that is not a backup set', async (t) => {
  const source = await openBackupSource(t, 'hola')
  const open = (dir: string) => openBackupSet(join(source.home, dir), source.dataDir)
  await assert.rejects(open('data'), /is inside the data directory/)
  await assert.rejects(open('data/backups'), /is inside the data directory/)
  assert.equal(existsSync(join(source.dataDir, 'backups')), false)
  await assert.rejects(open('disk/backups'), /there is no .*disk to make backups in: is it mounted\?/)
  assert.equal(existsSync(join(source.home, 'disk')), false)
  mkdirSync(join(source.home, 'photos'))
  writeFileSync(join(source.home, 'photos/aunt.jpg'), '')
  await assert.rejects(open('photos'), /is not empty and not a backup set/)
  assert.deepEqual(readdirSync(join(source.home, 'photos')), ['aunt.jpg'])
  await assert.rejects(open('photos/aunt.jpg'), /is not a directory/)
  mkdirSync(join(source.home, 'disk/lost+found'), { recursive: true })
  ;(await open('disk')).close()
})

test('two backups at once are refused, and the files of an interrupted one are cleared', async (t) => {
  const source = await openBackupSource(t, 'hola')
  const set = await openBackupSet(source.setDir, source.dataDir)
  await assert.rejects(source.backUp(), /another backup is being written to/)
  set.close()
  mkdirSync(join(source.setDir, '.unfinished-2026-01-01T00-00-00Z'))
  writeFileSync(join(source.setDir, 'blobs/tmp/half'), 'half')
  await source.backUp()
  assert.deepEqual(readdirSync(source.setDir).sort(), [
    '2026-03-24T09-30-00Z',
    'README.txt',
    'backup.lock',
    'blobs',
  ])
  assert.deepEqual(readdirSync(join(source.setDir, 'blobs/tmp')), [])
})
