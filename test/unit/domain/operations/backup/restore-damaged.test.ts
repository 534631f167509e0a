// Restores without the damaged part of a backup: results, messages and refusals.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { messageWithAdvice } from '../../../../../src/cli/help/advice.ts'
import { removeDocuments } from '../../../../../src/domain/documents/removal.ts'
import { restoreBackup } from '../../../../../src/domain/operations/backup/restore.ts'
import { examine } from '../../../../../src/domain/operations/doctor/doctor.ts'
import { selectDocuments } from '../../../../../src/store/documents/documents.ts'
import { selectLostBlobs } from '../../../../../src/store/documents/lost-blobs.ts'
import { openDatabase } from '../../../../../src/store/sqlite/database.ts'
import {
  type BackupSource,
  checkBackup,
  fileModes,
  NOW,
  openBackupSource,
} from '../../../../support/backups.ts'
import { openTestBlobs, storeTexts } from '../../../../support/company.ts'

const sha = (text: string) => hash('sha256', text)
const later = (days: number) => new Date(NOW.getTime() + days * 86_400_000)

async function restore(source: BackupSource, dataDir: string, withoutDamaged = true, from = source.setDir) {
  const lines: string[] = []
  const checking = { fault: (line: string) => lines.push(line), inPieces: false }
  const end = await restoreBackup(
    from,
    { dataDir, owner: undefined, now: later(7), withoutDamaged },
    checking,
  )
  return { ...end, lines }
}

/** Replaces a blob of the set by another text. The data directory may share the file and does not change. */
function alter(source: BackupSource, text: string, to = `${text}!`): void {
  const path = source.blobPath(sha(text), source.setDir)
  rmSync(path)
  writeFileSync(path, to, { mode: 0o600 })
}

const lose = (source: BackupSource, text: string) => rmSync(source.blobPath(sha(text), source.setDir))

async function openDamaged(t: TestContext): Promise<BackupSource> {
  const umask = process.umask(0o077) // as main.ts has it
  t.after(() => process.umask(umask))
  const source = await openBackupSource(t, 'hola', 'adios', 'missing', 'adios')
  await source.backUp()
  alter(source, 'adios')
  lose(source, 'missing')
  return source
}

async function lostBlobs(dataDir: string): Promise<Record<string, string>> {
  const db = openDatabase(dataDir, { mustExist: true })
  const rows = await selectLostBlobs(db)
  await db.destroy()
  return Object.fromEntries(rows.map(({ sha256, since }) => [sha256, since]))
}

async function look(dataDir: string, backupDir?: string) {
  const report = await examine({
    dataDir,
    clock: () => new Date(),
    providers: [],
    minFree: 0,
    zone: 'Europe/Berlin',
    backup: backupDir === undefined ? undefined : { dir: backupDir, cron: '30 3 29 2 *' },
    signal: new AbortController().signal,
    beforeRecheck: async () => {},
  })
  const notes = report.notes.map(messageWithAdvice)
  const findings = report.findings.map((one) => ({ check: one.check, message: messageWithAdvice(one) }))
  return { findings, notes }
}

for (const how of ['is not there', 'is an empty directory'] as const) {
  test(`a data directory that ${how} gets all but the damaged contents, and knows which those are`, async (t) => {
    const source = await openDamaged(t)
    const dataDir = join(source.home, 'new')
    if (how === 'is an empty directory') mkdirSync(dataDir)
    const { faults, lines, data } = await restore(source, dataDir)
    assert.deepEqual([faults, lines], [0, []])
    assert.deepEqual(data?.blobs, { count: 1, bytes: 4 })
    const beside = readdirSync(source.home).filter((name) => !['data', 'set'].includes(name))
    assert.deepEqual(beside.sort(), ['new', 'new.damaged', 'new.damaged.json'])

    const list = JSON.parse(readFileSync(`${dataDir}.damaged.json`, 'utf8'))
    const { epoch, ...rest } = list
    assert.match(epoch, /^[0-9a-f]{16}$/)
    const row = { name: 'nota.txt', company_id: 7, agent_id: 12, owner_id: 31 }
    const of = (id: number, text: string, fault: string, copy: string | null) => ({
      ...{
        id,
        ...row,
        created_at: '2026-03-24T12:00:00.000Z',
        size: text.length,
        sha256: sha(text),
        fault,
        copy,
      },
    })
    const altered = `is altered (6 bytes whose SHA-256 is ${sha('adios!')})`
    const copy = join(`${dataDir}.damaged`, sha('adios'))
    const documents = [2, 4].map((id) => of(id, 'adios', altered, copy))
    assert.deepEqual(rest, {
      backup: join(source.setDir, '2026-03-24T09-30-00Z'),
      data_dir: dataDir,
      restored_at: later(7).toISOString(),
      contents: 2,
      documents: [documents[0], of(3, 'missing', 'is missing', null), documents[1]],
    })
    assert.equal(readFileSync(copy, 'utf8'), 'adios!')
    assert.deepEqual(fileModes(`${dataDir}.damaged`), [`600 ${sha('adios')}`])
    assert.equal(statSync(`${dataDir}.damaged`).mode & 0o777, 0o700)
    assert.equal(statSync(`${dataDir}.damaged.json`).mode & 0o777, 0o600)

    const since = later(7).toISOString()
    assert.deepEqual(await lostBlobs(dataDir), { [sha('adios')]: since, [sha('missing')]: since })
    const { findings, notes } = await look(dataDir)
    assert.deepEqual(findings, [])
    const lossNotes = notes.filter((note) => note.includes('known lost'))
    assert.deepEqual(
      lossNotes.sort(),
      [
        `content ${sha('adios')} is known lost since ${since}, when it ${altered.replace('is', 'was')}: documents 2 (nota.txt), 4 (nota.txt)`,
        `content ${sha('missing')} is known lost since ${since}, when it was missing: document 3 (nota.txt)`,
      ].sort(),
    )
    assert.ok(notes.includes('1 content of a document, 4 bytes'))
  })
}

test('without anything damaged it is a restore like any other', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  const { faults, data } = await restore(source, join(source.home, 'new'))
  assert.deepEqual([faults, data?.leftOut, data?.lost], [0, undefined, []])
  assert.deepEqual(readdirSync(source.home).sort(), ['data', 'new', 'set'])
})

const FILES: [string, (dir: string) => void, RegExp][] = [
  [
    'the database',
    (dir) => edit(join(dir, 'cambista.db'), 'nota.txt', 'nota.tx!'),
    /^cambista\.db is altered/,
  ],
  ['the list', (dir) => writeFileSync(join(dir, 'blobs.sha256'), ''), /^blobs\.sha256 is altered$/],
  [
    'the manifest',
    (dir) => edit(join(dir, 'manifest.json'), '"count": 3', '"count": 2'),
    /the manifest 2 of/,
  ],
]
for (const [what, damage, expected] of FILES) {
  test(`with a fault in ${what} nothing is left out, because nothing is restored`, async (t) => {
    const source = await openDamaged(t)
    damage(join(source.setDir, '2026-03-24T09-30-00Z'))
    const { faults, damaged, lines, data } = await restore(source, join(source.home, 'new'))
    assert.deepEqual([faults, damaged, data], [1, 2, undefined])
    assert.match(lines.join('\n'), expected)
    assert.deepEqual(readdirSync(source.home).sort(), ['data', 'set'])
  })
}

test('a content that the disk cannot read is left out', async (t) => {
  const source = await openDamaged(t)
  rmSync(source.blobPath(sha('adios'), source.setDir))
  symlinkSync('/proc/self/mem', source.blobPath(sha('adios'), source.setDir)) // the first bytes are an EIO
  const { data } = await restore(source, join(source.home, 'new'))
  const faults = data?.leftOut?.documents.map(({ id, fault, copy }) => [id, fault.slice(0, 19), copy])
  assert.deepEqual(faults, [
    [2, 'cannot be read (EIO', null],
    [3, 'is missing', null],
    [4, 'cannot be read (EIO', null],
  ])
})

test('a content that is no file is left out, and one that we were not let to read is a fault', async (t) => {
  const source = await openDamaged(t)
  rmSync(source.blobPath(sha('adios'), source.setDir))
  mkdirSync(source.blobPath(sha('adios'), source.setDir))
  const dataDir = join(source.home, 'new')
  const { data } = await restore(source, dataDir)
  assert.equal(data?.leftOut?.contents.length, 2)
  assert.equal(data?.leftOut?.copies, undefined)
  assert.equal(existsSync(`${dataDir}.damaged`), false)

  rmSync(source.blobPath(sha('adios'), source.setDir), { recursive: true })
  symlinkSync('round', join(source.blobPath(sha('adios'), source.setDir), '..', 'round'))
  symlinkSync('round', source.blobPath(sha('adios'), source.setDir))
  const { faults, damaged, lines } = await restore(source, join(source.home, 'other'))
  assert.deepEqual([faults, damaged], [1, 1])
  assert.match(lines.join(), /cannot be read \(ELOOP/)
  assert.equal(existsSync(join(source.home, 'other')), false)
})

test('the list and files of an earlier restore are never written over', async (t) => {
  const source = await openDamaged(t)
  const dataDir = join(source.home, 'new')
  await restore(source, dataDir)
  const before = readFileSync(`${dataDir}.damaged.json`, 'utf8')
  rmSync(dataDir, { recursive: true })
  await assert.rejects(restore(source, dataDir), {
    code: 'failed',
    message: `${dataDir}.damaged.json is there already, of an earlier restore: move it away first`,
  })
  const { faults } = await restore(source, dataDir, false)
  assert.equal(faults, 2)
  rmSync(`${dataDir}.damaged.json`)
  await assert.rejects(restore(source, dataDir), /new\.damaged is there already/)
  assert.equal(readFileSync(join(`${dataDir}.damaged`, sha('adios')), 'utf8'), 'adios!')
  assert.ok(before.includes(sha('adios')))
  assert.equal(existsSync(dataDir), false)
})

test('restore clears the files of a restore that was killed before its last step', async (t) => {
  for (const isThere of [false, true]) {
    const source = await openDamaged(t)
    const dataDir = join(source.home, 'new')
    await restore(source, dataDir)
    // Back to the moment before the directory got its place.
    const database = readFileSync(join(dataDir, 'cambista.db'))
    rmSync(dataDir, { recursive: true })
    if (isThere) mkdirSync(dataDir)
    const work = isThere ? join(dataDir, '.restoring') : `${dataDir}.restoring`
    mkdirSync(work)
    writeFileSync(join(work, 'cambista.db'), database)
    mkdirSync(`${dataDir}.damaged.restoring`)
    const { faults, data } = await restore(source, dataDir)
    assert.deepEqual([faults, data?.leftOut?.contents.length], [0, 2])
    assert.deepEqual(readdirSync(source.home).sort(), [
      'data',
      'new',
      'new.damaged',
      'new.damaged.json',
      'set',
    ])
  }
})

test('a restore that does not get its place leaves no list', async (t) => {
  const source = await openDamaged(t)
  const dataDir = join(source.home, 'new')
  mkdirSync(dataDir)
  const checking = {
    fault: (line: string) => assert.fail(line),
    inPieces: false,
    progress: () => writeFileSync(join(dataDir, 'cambista.db'), 'of the server'),
  }
  const request = { dataDir, owner: undefined, now: NOW, withoutDamaged: true }
  await assert.rejects(restoreBackup(source.setDir, request, checking), /somebody made a database in/)
  assert.deepEqual(readdirSync(source.home).sort(), ['data', 'new', 'set'])
})

test('a blob that was lost at the backup stays lost, unless the set has it again', async (t) => {
  const source = await openBackupSource(t, 'hola', 'adios')
  rmSync(source.blobPath(sha('hola')))
  await source.backUp()
  const { faults, data, manifest } = await restore(source, join(source.home, 'one'), false)
  assert.deepEqual([faults, data?.leftOut], [0, undefined])
  const since = manifest.created_at
  assert.deepEqual(data?.lost, [{ sha256: sha('hola'), fault: 'is missing', since }])
  assert.deepEqual(await lostBlobs(join(source.home, 'one')), { [sha('hola')]: since })

  await source.storeTexts('hola')
  await source.backUp(later(1))
  const older = await restore(
    source,
    join(source.home, 'two'),
    false,
    join(source.setDir, '2026-03-24T09-30-00Z'),
  )
  assert.deepEqual([older.data?.lost, older.data?.blobs.count], [[], 2])
  assert.deepEqual(await lostBlobs(join(source.home, 'two')), {})
})

test('with known losses backups are good, and so are restores of them', async (t) => {
  const damaged = await openDamaged(t)
  const dataDir = join(damaged.home, 'new')
  await restore(damaged, dataDir)
  const { source, close } = await reopened(damaged, dataDir)
  await storeTexts(source.db, source.blobs, ['newer'])
  // The altered file is still in the set, under its name and with another size; then with the right one.
  for (const [day, text] of [
    [8, 'adios!'],
    [9, 'ADIOS'],
  ] as const) {
    alter(source, 'adios', text)
    const { manifest, path } = await source.backUp(later(day))
    const since = later(7).toISOString()
    assert.deepEqual(
      manifest.lost.map((one) => [one.sha256, one.since]),
      [sha('adios'), sha('missing')].sort().map((one) => [one, since]),
    )
    assert.equal(manifest.blobs.count, 2)
    assert.deepEqual((await checkBackup(path)).lines, [])
  }
  const again = await restore(source, join(source.home, 'again'), false)
  assert.deepEqual([again.faults, again.data?.lost.length, again.data?.blobs.count], [0, 2, 2])
  assert.deepEqual(await lostBlobs(join(source.home, 'again')), await lostBlobs(dataDir))
  assert.deepEqual((await look(join(source.home, 'again'))).findings, [])
  await close()
})

test('doctor names a good copy of a lost blob, and reports when the blob exists again', async (t) => {
  const source = await openDamaged(t)
  const dataDir = join(source.home, 'new')
  await restore(source, dataDir)
  const path = source.blobPath(sha('missing'), source.setDir)
  writeFileSync(path, 'missing')
  const doctorNotes = async () =>
    (await look(dataDir, source.setDir)).notes.filter((one) => one.includes(sha('missing')))
  assert.match((await doctorNotes())[0] ?? '', new RegExp(`; a good copy is ${path}$`))
  const place = join(dataDir, path.slice(source.setDir.length))
  mkdirSync(join(place, '..'), { recursive: true, mode: 0o700 })
  writeFileSync(place, 'missing', { mode: 0o600 })
  assert.match((await doctorNotes())[0] ?? '', /; it is there again: restart the server$/)
  assert.deepEqual((await look(dataDir)).findings, [])
})

test('with the last document of a lost content goes what is known of it', async (t) => {
  const source = await openDamaged(t)
  const dataDir = join(source.home, 'new')
  await restore(source, dataDir)
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  const blobs = await openTestBlobs(dataDir)
  const rows = await selectDocuments(db, { limit: 10 })
  assert.deepEqual(
    rows.map(({ content }) => content),
    [undefined, 'lost', 'lost', 'lost'],
  )
  const loadLostHashes = async () => (await selectLostBlobs(db)).map(({ sha256 }) => sha256)
  await removeDocuments(
    db,
    blobs,
    rows.filter(({ id }) => id === 2),
    { via: 'cli', actor: 'ana', clock: () => new Date() },
    () => {},
  )
  assert.equal((await loadLostHashes()).length, 2, 'another document has the same')
  const end = await removeDocuments(
    db,
    blobs,
    rows.filter(({ id }) => id > 2),
    { via: 'cli', actor: 'ana', clock: () => new Date() },
    () => {},
  )
  assert.deepEqual([await loadLostHashes(), end.documents, end.blobs], [[], 2, 0])
})

test('restore reads a set without write permission, and reports it', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp()
  mkdirSync(join(source.setDir, 'restored.json'))
  const { data } = await restore(source, join(source.home, 'new'))
  assert.match(data?.unnoted ?? '', /EISDIR|ENOTEMPTY|illegal/)
  assert.deepEqual(
    readdirSync(source.setDir).filter((name) => name.startsWith('.')),
    [],
  )
})

/** The source as if it were about another data directory. */
async function reopened(
  source: BackupSource,
  dataDir: string,
): Promise<{ source: BackupSource; close(): Promise<void> }> {
  await source.db.destroy()
  rmSync(source.dataDir, { recursive: true })
  renameSync(dataDir, source.dataDir)
  symlinkSync(source.dataDir, dataDir)
  const db = openDatabase(source.dataDir)
  return { source: { ...source, db, blobs: await openTestBlobs(source.dataDir) }, close: () => db.destroy() }
}

function edit(path: string, from: string, to: string): void {
  const bytes = readFileSync(path, 'latin1')
  assert.ok(bytes.includes(from))
  writeFileSync(path, bytes.replace(from, to), 'latin1')
}
