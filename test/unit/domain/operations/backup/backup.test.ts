import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { VERSION } from '../../../src/assets.ts'
import { createBackup, pruneBackups } from '../../../src/domain/backup/backup.ts'
import { purgeDocuments } from '../../../src/domain/documents/removal.ts'
import { readManifest } from '../../../src/store/backup/manifest.ts'
import { backupNames, openBackupSet } from '../../../src/store/backup/set.ts'
import { selectMeta } from '../../../src/store/meta.ts'
import { SCHEMA_VERSION } from '../../../src/store/sqlite/migrations.ts'
import { faultsIn, modesIn, NOW, openVault } from '../../support/backups.ts'
import { ANA } from '../../support/company.ts'

const sha = (text: string) => hash('sha256', text)
const HOLA = sha('hola')
const later = (days: number) => new Date(NOW.getTime() + days * 86_400_000)

test('a backup holds the database, every content once, and says so in its manifest', async (t) => {
  const vault = await openVault(t, 'hola', 'adios', 'hola')
  const end = await vault.backUp()
  assert.equal(end.name, '2026-03-24T09-30-00Z')
  const dir = join(vault.setDir, end.name)
  const database = readFileSync(join(dir, 'cambista.db'))
  const list = readFileSync(join(dir, 'blobs.sha256'), 'utf8')
  const { revision, epoch } = await selectMeta(vault.db)
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
  assert.deepEqual((await faultsIn(vault.setDir)).lines, [])
})

test('nobody else can read a backup, and no -wal belongs to it', async (t) => {
  const umask = process.umask(0)
  t.after(() => process.umask(umask))
  const vault = await openVault(t, 'hola')
  const { name } = await vault.backUp()
  const modes = modesIn(vault.setDir)
  assert.deepEqual(
    modes.filter((line) => !/^(600|700) /.test(line)),
    [],
  )
  assert.deepEqual(readdirSync(join(vault.setDir, name)).sort(), [
    'blobs.sha256',
    'cambista.db',
    'manifest.json',
  ])
  assert.equal(statSync(vault.setDir).mode & 0o777, 0o700)
})

test('a second backup adds only what is missing, and shares the rest by hard links', async (t) => {
  const vault = await openVault(t, 'hola')
  assert.deepEqual((await vault.backUp()).added, { blobs: 1, bytes: 4 })
  assert.equal(statSync(vault.place(HOLA)).ino, statSync(vault.place(HOLA, vault.setDir)).ino)
  await vault.keep('adios')
  assert.deepEqual((await vault.backUp(later(1))).added, { blobs: 1, bytes: 5 })
  assert.deepEqual((await vault.backUp(later(1))).added, { blobs: 0, bytes: 0 })
  // The third was made in the same second: it is the next one.
  const names = ['2026-03-24T09-30-00Z', '2026-03-25T09-30-00Z', '2026-03-25T09-30-01Z']
  assert.deepEqual(backupNames(vault.setDir), names)
  for (const name of names) assert.deepEqual((await faultsIn(join(vault.setDir, name))).lines, [])
})

test('on another file system contents are copied', async (t) => {
  const vault = await openVault(t, 'hola', 'x'.repeat(700_000))
  const other = `/dev/shm/cambista-test-${process.pid}`
  t.after(() => rmSync(other, { recursive: true, force: true }))
  mkdirSync(other)
  assert.notEqual(statSync(other).dev, statSync(vault.dataDir).dev, '/dev/shm is another file system')
  const set = await openBackupSet(other, vault.dataDir)
  await createBackup(set, { dataDir: vault.dataDir, now: NOW })
  set.close()
  assert.deepEqual((await faultsIn(other)).lines, [])
  assert.equal(statSync(vault.place(HOLA, other)).nlink, 1)
  assert.deepEqual(readdirSync(join(other, 'blobs/tmp')), [])
})

test('a content in the set is not trusted for its name: of another size it is taken again', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp()
  const stored = vault.place(HOLA, vault.setDir)
  rmSync(stored)
  writeFileSync(stored, 'hol', { mode: 0o600 })
  assert.deepEqual((await vault.backUp(later(1))).added, { blobs: 1, bytes: 4 })
  assert.equal(readFileSync(stored, 'utf8'), 'hola')
})

test('a content that is missing or altered is said to be lost, and everything else is backed up', async (t) => {
  const vault = await openVault(t, 'hola', 'adios', 'otro')
  rmSync(vault.place(HOLA))
  writeFileSync(vault.place(sha('otro')), 'roto')
  const { manifest, path } = await vault.backUp()
  const words = Object.fromEntries(manifest.lost.map((one) => [one.sha256, one.words]))
  assert.deepEqual(Object.keys(words).sort(), [HOLA, sha('otro')].sort())
  assert.equal(words[HOLA], 'is missing')
  assert.match(words[sha('otro')] ?? '', /^is altered \(4 bytes whose SHA-256 is /)
  assert.equal(manifest.blobs.count, 1)
  const { lines } = await faultsIn(path)
  assert.equal(lines.length, 2)
  assert.match(lines.join(), /is missing: so it was in the data directory already when the backup was made/)
  assert.equal(existsSync(vault.place(sha('otro'), vault.setDir)), false, 'the altered one is not in the set')
})

test('what the set has is not lost when the data directory loses it', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp()
  rmSync(vault.place(HOLA))
  const { manifest } = await vault.backUp(later(1))
  assert.deepEqual(manifest.lost, [])
  assert.deepEqual((await faultsIn(vault.setDir)).lines, [])
})

test('a document that comes and goes while the backup is made is not called lost: the copy is made again', async (t) => {
  const vault = await openVault(t, 'hola')
  const [gone, came] = [sha('comes and goes'), sha('comes')]
  let copies = 0
  let looked = 0
  const raw = new Sqlite(join(vault.dataDir, 'cambista.db'))
  t.after(() => raw.close())
  await vault.keep('comes and goes', 'comes') // after all contents were taken over, before the copy
  const { manifest, path } = await vault.backUp(NOW, (set) => ({
    ...set,
    begin(now) {
      copies++
      return set.begin(now)
    },
    get blobsDir() {
      // Taken over before: nothing. After the copy: the deletion commits, then unlinks.
      if (copies === 1 && looked++ === 0) {
        raw.exec(`delete from documents where id = 2; delete from attachments where sha256 = '${gone}'`)
        for (const root of [vault.dataDir, vault.setDir]) rmSync(vault.place(gone, root), { force: true })
      }
      return set.blobsDir
    },
  }))
  assert.equal(copies, 2)
  assert.deepEqual([manifest.lost, manifest.blobs.count], [[], 2])
  assert.deepEqual((await faultsIn(path)).lines, [])
  assert.ok(existsSync(vault.place(came, vault.setDir)))
})

test('beside uploads and deletions every backup is good', async (t) => {
  const vault = await openVault(t)
  let n = 0
  let on = true
  const uploads = (async () => {
    while (on) await vault.keep(`document ${n++}`, `same ${n % 7}`)
  })()
  const purges = (async () => {
    while (on) {
      await purgeDocuments(vault.db, vault.blobs, { createdUpTo: '2999', by: ANA, removed: () => {} })
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  })()
  for (let day = 0; day < 12; day++) {
    const { path, manifest } = await vault.backUp(later(day))
    assert.deepEqual(manifest.lost, [])
    assert.deepEqual((await faultsIn(path, { inPieces: true })).lines, [])
  }
  on = false
  await Promise.all([uploads, purges])
  assert.ok(n > 20, `only ${n} uploads came between`)
})

test('a backup that is stopped leaves nothing that is taken for one', async (t) => {
  const vault = await openVault(t, ...Array.from({ length: 50 }, (_, i) => `document ${i}`))
  const stop = new AbortController()
  const set = await openBackupSet(vault.setDir, vault.dataDir)
  const request = { dataDir: vault.dataDir, now: NOW, signal: stop.signal }
  const progress = (done: number) => done === 40 && stop.abort()
  await assert.rejects(
    createBackup(set, { ...request, progress }),
    /stopped before the end: there is no new backup/,
  )
  set.close()
  assert.deepEqual(backupNames(vault.setDir), [])
  assert.deepEqual(readdirSync(join(vault.setDir, 'blobs/tmp')), [])
  await assert.rejects(faultsIn(vault.setDir), /there is no finished backup in/)
  await vault.backUp()
  assert.deepEqual((await faultsIn(vault.setDir)).lines, [])
})

test('a damaged database is not backed up, and the backup before stays the newest', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp()
  await vault.db.destroy()
  const path = join(vault.dataDir, 'cambista.db')
  const bytes = readFileSync(path)
  bytes.fill('X', 4096 * 4 + 8, 4096 * 9)
  writeFileSync(path, bytes)
  await assert.rejects(
    vault.backUp(later(1)),
    /the database is damaged \(.*\): no backup was made, see cambista doctor/,
  )
  assert.deepEqual(backupNames(vault.setDir), ['2026-03-24T09-30-00Z'])
  assert.deepEqual((await faultsIn(vault.setDir)).lines, [])
})

test('a data directory of the first schema is backed up as it is', async (t) => {
  const vault = await openVault(t)
  await vault.db.destroy()
  rmSync(vault.dataDir, { recursive: true })
  mkdirSync(vault.dataDir)
  const sqlite = new Sqlite(join(vault.dataDir, 'cambista.db'))
  sqlite.exec(readFileSync(join(import.meta.dirname, '../../fixtures/schema-1.sql'), 'utf8'))
  sqlite.pragma(`application_id = ${0x63616d62}`)
  sqlite.pragma('user_version = 1')
  sqlite.close()
  const { manifest } = await vault.backUp()
  assert.deepEqual([manifest.schema, manifest.blobs.count], [1, 0])
  assert.deepEqual((await faultsIn(vault.setDir)).lines, [])
  assert.deepEqual(readdirSync(vault.dataDir), ['cambista.db'])
})

test('pruning keeps the newest, and the contents that they name', async (t) => {
  const vault = await openVault(t, 'first', 'always')
  await vault.backUp()
  await purgeDocuments(vault.db, vault.blobs, { createdUpTo: '2999', by: ANA, removed: () => {} })
  await vault.keep('always', 'second')
  await vault.backUp(later(1))
  await vault.keep('third')
  const { name } = await vault.backUp(later(2))
  const set = await openBackupSet(vault.setDir, vault.dataDir)
  t.after(() => set.close())
  assert.deepEqual(await pruneBackups(set, 3, name), { removed: [], blobs: 0 })
  assert.deepEqual(await pruneBackups(set, 2, name), { removed: ['2026-03-24T09-30-00Z'], blobs: 1 })
  assert.equal(existsSync(vault.place(sha('first'), vault.setDir)), false)
  for (const one of backupNames(vault.setDir)) {
    assert.deepEqual((await faultsIn(join(vault.setDir, one))).lines, [])
  }
})

test('pruning never removes the backup that was just made, whatever the clock says', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp(later(300))
  const { name } = await vault.backUp()
  const set = await openBackupSet(vault.setDir, vault.dataDir)
  t.after(() => set.close())
  await pruneBackups(set, 1, name)
  assert.deepEqual(backupNames(vault.setDir), [name])
})

test('where a kept backup cannot be read no content is removed', async (t) => {
  const vault = await openVault(t, 'first')
  await vault.backUp()
  await vault.backUp(later(1))
  const { name, path } = await vault.backUp(later(2))
  writeFileSync(join(path, 'cambista.db'), 'letters')
  const set = await openBackupSet(vault.setDir, vault.dataDir)
  t.after(() => set.close())
  await assert.rejects(pruneBackups(set, 2, name), /cannot open the database/)
  assert.ok(existsSync(vault.place(sha('first'), vault.setDir)))
})

test('what is no place for a set is refused and left as it is', async (t) => {
  const vault = await openVault(t, 'hola')
  const open = (dir: string) => openBackupSet(join(vault.home, dir), vault.dataDir)
  await assert.rejects(open('data'), /is inside the data directory/)
  await assert.rejects(open('data/backups'), /is inside the data directory/)
  assert.equal(existsSync(join(vault.dataDir, 'backups')), false)
  await assert.rejects(open('disk/backups'), /there is no .*disk to make backups in: is it mounted\?/)
  assert.equal(existsSync(join(vault.home, 'disk')), false)
  mkdirSync(join(vault.home, 'photos'))
  writeFileSync(join(vault.home, 'photos/aunt.jpg'), '')
  await assert.rejects(open('photos'), /is not empty and not a backup set/)
  assert.deepEqual(readdirSync(join(vault.home, 'photos')), ['aunt.jpg'])
  await assert.rejects(open('photos/aunt.jpg'), /is not a directory/)
  mkdirSync(join(vault.home, 'disk/lost+found'), { recursive: true })
  ;(await open('disk')).close()
})

test('two backups at once are refused, and the files of an interrupted one are cleared', async (t) => {
  const vault = await openVault(t, 'hola')
  const set = await openBackupSet(vault.setDir, vault.dataDir)
  await assert.rejects(vault.backUp(), /another backup is being written to/)
  set.close()
  mkdirSync(join(vault.setDir, '.unfinished-2026-01-01T00-00-00Z'))
  writeFileSync(join(vault.setDir, 'blobs/tmp/half'), 'half')
  await vault.backUp()
  assert.deepEqual(readdirSync(vault.setDir).sort(), [
    '2026-03-24T09-30-00Z',
    'README.txt',
    'backup.lock',
    'blobs',
  ])
  assert.deepEqual(readdirSync(join(vault.setDir, 'blobs/tmp')), [])
})
