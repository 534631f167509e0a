// Restores that leave out what is damaged in the backup: what they make, what they say, and what they refuse.

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
import { inWords } from '../../../src/cli/advice.ts'
import { restoreBackup } from '../../../src/domain/backup/restore.ts'
import { examine } from '../../../src/domain/doctor/doctor.ts'
import { removeDocuments } from '../../../src/domain/documents/removal.ts'
import { selectDocuments } from '../../../src/store/documents.ts'
import { selectLostContents } from '../../../src/store/lost-contents.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { faultsIn, modesIn, NOW, openVault, type Vault } from '../../support/backups.ts'
import { keepTexts, openTestBlobs } from '../../support/company.ts'

const sha = (text: string) => hash('sha256', text)
const later = (days: number) => new Date(NOW.getTime() + days * 86_400_000)

async function restore(vault: Vault, dataDir: string, withoutDamaged = true, from = vault.setDir) {
  const lines: string[] = []
  const checking = { fault: (line: string) => lines.push(line), inPieces: false }
  const end = await restoreBackup(
    from,
    { dataDir, owner: undefined, now: later(7), withoutDamaged },
    checking,
  )
  return { ...end, lines }
}

/** Puts another text in the place of a content of the set, and not of the data directory that may share it. */
function alter(vault: Vault, text: string, to = `${text}!`): void {
  const path = vault.place(sha(text), vault.setDir)
  rmSync(path)
  writeFileSync(path, to, { mode: 0o600 })
}

const lose = (vault: Vault, text: string) => rmSync(vault.place(sha(text), vault.setDir))

async function openDamaged(t: TestContext): Promise<Vault> {
  const umask = process.umask(0o077) // as main.ts has it
  t.after(() => process.umask(umask))
  const vault = await openVault(t, 'hola', 'adios', 'missing', 'adios')
  await vault.backUp()
  alter(vault, 'adios')
  lose(vault, 'missing')
  return vault
}

async function lostIn(dataDir: string): Promise<Record<string, string>> {
  const db = openDatabase(dataDir, { mustExist: true })
  const lost = await selectLostContents(db)
  await db.destroy()
  return Object.fromEntries(lost.map(({ sha256, since }) => [sha256, since]))
}

async function look(dataDir: string, backupDir?: string) {
  const found = await examine({
    dataDir,
    clock: () => new Date(),
    providers: [],
    minFree: 0,
    zone: 'Europe/Berlin',
    backup: backupDir === undefined ? undefined : { dir: backupDir, cron: '30 3 29 2 *' },
    signal: new AbortController().signal,
    beforeSecondLook: async () => {},
  })
  const notes = found.notes.map(inWords)
  const findings = found.findings.map((one) => ({ check: one.check, message: inWords(one) }))
  return { findings, notes }
}

for (const how of ['is not there', 'is an empty directory'] as const) {
  test(`a data directory that ${how} gets all but the damaged contents, and knows which those are`, async (t) => {
    const vault = await openDamaged(t)
    const dataDir = join(vault.home, 'new')
    if (how === 'is an empty directory') mkdirSync(dataDir)
    const { faults, lines, made } = await restore(vault, dataDir)
    assert.deepEqual([faults, lines], [0, []])
    assert.deepEqual(made?.contents, { count: 1, bytes: 4 })
    const beside = readdirSync(vault.home).filter((name) => !['data', 'set'].includes(name))
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
      backup: join(vault.setDir, '2026-03-24T09-30-00Z'),
      data_dir: dataDir,
      restored_at: later(7).toISOString(),
      contents: 2,
      documents: [documents[0], of(3, 'missing', 'is missing', null), documents[1]],
    })
    assert.equal(readFileSync(copy, 'utf8'), 'adios!')
    assert.deepEqual(modesIn(`${dataDir}.damaged`), [`600 ${sha('adios')}`])
    assert.equal(statSync(`${dataDir}.damaged`).mode & 0o777, 0o700)
    assert.equal(statSync(`${dataDir}.damaged.json`).mode & 0o777, 0o600)

    const since = later(7).toISOString()
    assert.deepEqual(await lostIn(dataDir), { [sha('adios')]: since, [sha('missing')]: since })
    const { findings, notes } = await look(dataDir)
    assert.deepEqual(findings, [])
    const known = notes.filter((note) => note.includes('known lost'))
    assert.deepEqual(
      known.sort(),
      [
        `content ${sha('adios')} is known lost since ${since}, when it ${altered.replace('is', 'was')}: documents 2 (nota.txt), 4 (nota.txt)`,
        `content ${sha('missing')} is known lost since ${since}, when it was missing: document 3 (nota.txt)`,
      ].sort(),
    )
    assert.ok(notes.includes('1 contents of documents, 4 bytes'))
  })
}

test('without anything damaged it is a restore like any other', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp()
  const { faults, made } = await restore(vault, join(vault.home, 'new'))
  assert.deepEqual([faults, made?.leftOut, made?.lost], [0, undefined, []])
  assert.deepEqual(readdirSync(vault.home).sort(), ['data', 'new', 'set'])
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
    const vault = await openDamaged(t)
    damage(join(vault.setDir, '2026-03-24T09-30-00Z'))
    const { faults, damaged, lines, made } = await restore(vault, join(vault.home, 'new'))
    assert.deepEqual([faults, damaged, made], [1, 2, undefined])
    assert.match(lines.join('\n'), expected)
    assert.deepEqual(readdirSync(vault.home).sort(), ['data', 'set'])
  })
}

test('a content that the disk cannot read is left out', async (t) => {
  const vault = await openDamaged(t)
  rmSync(vault.place(sha('adios'), vault.setDir))
  symlinkSync('/proc/self/mem', vault.place(sha('adios'), vault.setDir)) // whose first bytes are an EIO
  const { made } = await restore(vault, join(vault.home, 'new'))
  const faults = made?.leftOut?.documents.map(({ id, fault, copy }) => [id, fault.slice(0, 19), copy])
  assert.deepEqual(faults, [
    [2, 'cannot be read (EIO', null],
    [3, 'is missing', null],
    [4, 'cannot be read (EIO', null],
  ])
})

test('a content that is no file is left out, and one that we were not let to read is a fault', async (t) => {
  const vault = await openDamaged(t)
  rmSync(vault.place(sha('adios'), vault.setDir))
  mkdirSync(vault.place(sha('adios'), vault.setDir))
  const dataDir = join(vault.home, 'new')
  const { made } = await restore(vault, dataDir)
  assert.equal(made?.leftOut?.contents.length, 2)
  assert.equal(made?.leftOut?.copies, undefined)
  assert.equal(existsSync(`${dataDir}.damaged`), false)

  rmSync(vault.place(sha('adios'), vault.setDir), { recursive: true })
  symlinkSync('round', join(vault.place(sha('adios'), vault.setDir), '..', 'round'))
  symlinkSync('round', vault.place(sha('adios'), vault.setDir))
  const { faults, damaged, lines } = await restore(vault, join(vault.home, 'other'))
  assert.deepEqual([faults, damaged], [1, 1])
  assert.match(lines.join(), /cannot be read \(ELOOP/)
  assert.equal(existsSync(join(vault.home, 'other')), false)
})

test('the list and files of an earlier restore are never written over', async (t) => {
  const vault = await openDamaged(t)
  const dataDir = join(vault.home, 'new')
  await restore(vault, dataDir)
  const before = readFileSync(`${dataDir}.damaged.json`, 'utf8')
  rmSync(dataDir, { recursive: true })
  await assert.rejects(restore(vault, dataDir), {
    code: 'failed',
    message: `${dataDir}.damaged.json is there already, of an earlier restore: move it away first`,
  })
  const { faults } = await restore(vault, dataDir, false)
  assert.equal(faults, 2)
  rmSync(`${dataDir}.damaged.json`)
  await assert.rejects(restore(vault, dataDir), /new\.damaged is there already/)
  assert.equal(readFileSync(join(`${dataDir}.damaged`, sha('adios')), 'utf8'), 'adios!')
  assert.ok(before.includes(sha('adios')))
  assert.equal(existsSync(dataDir), false)
})

test('what a restore left that was killed before its last step is cleared by the next', async (t) => {
  for (const isThere of [false, true]) {
    const vault = await openDamaged(t)
    const dataDir = join(vault.home, 'new')
    await restore(vault, dataDir)
    // Back to the moment before the directory got its place.
    const database = readFileSync(join(dataDir, 'cambista.db'))
    rmSync(dataDir, { recursive: true })
    if (isThere) mkdirSync(dataDir)
    const work = isThere ? join(dataDir, '.restoring') : `${dataDir}.restoring`
    mkdirSync(work)
    writeFileSync(join(work, 'cambista.db'), database)
    mkdirSync(`${dataDir}.damaged.restoring`)
    const { faults, made } = await restore(vault, dataDir)
    assert.deepEqual([faults, made?.leftOut?.contents.length], [0, 2])
    assert.deepEqual(readdirSync(vault.home).sort(), [
      'data',
      'new',
      'new.damaged',
      'new.damaged.json',
      'set',
    ])
  }
})

test('a restore that does not get its place leaves no list', async (t) => {
  const vault = await openDamaged(t)
  const dataDir = join(vault.home, 'new')
  mkdirSync(dataDir)
  const checking = {
    fault: (line: string) => assert.fail(line),
    inPieces: false,
    progress: () => writeFileSync(join(dataDir, 'cambista.db'), 'of the server'),
  }
  const request = { dataDir, owner: undefined, now: NOW, withoutDamaged: true }
  await assert.rejects(restoreBackup(vault.setDir, request, checking), /somebody made a database in/)
  assert.deepEqual(readdirSync(vault.home).sort(), ['data', 'new', 'set'])
})

test('what was lost when the backup was made is known to be lost, unless the set has it by now', async (t) => {
  const vault = await openVault(t, 'hola', 'adios')
  rmSync(vault.place(sha('hola')))
  await vault.backUp()
  const { faults, made, manifest } = await restore(vault, join(vault.home, 'one'), false)
  assert.deepEqual([faults, made?.leftOut], [0, undefined])
  const since = manifest.created_at
  assert.deepEqual(made?.lost, [{ sha256: sha('hola'), fault: 'is missing', since }])
  assert.deepEqual(await lostIn(join(vault.home, 'one')), { [sha('hola')]: since })

  await vault.keep('hola')
  await vault.backUp(later(1))
  const older = await restore(
    vault,
    join(vault.home, 'two'),
    false,
    join(vault.setDir, '2026-03-24T09-30-00Z'),
  )
  assert.deepEqual([older.made?.lost, older.made?.contents.count], [[], 2])
  assert.deepEqual(await lostIn(join(vault.home, 'two')), {})
})

test('with known losses backups are good, and so are restores of them', async (t) => {
  const damaged = await openDamaged(t)
  const dataDir = join(damaged.home, 'new')
  await restore(damaged, dataDir)
  const { vault, close } = await reopened(damaged, dataDir)
  await keepTexts(vault.db, vault.blobs, ['newer'])
  // The altered file is still in the set, under its name and with another size; then with the right one.
  for (const [day, text] of [
    [8, 'adios!'],
    [9, 'ADIOS'],
  ] as const) {
    alter(vault, 'adios', text)
    const { manifest, path } = await vault.backUp(later(day))
    const since = later(7).toISOString()
    assert.deepEqual(
      manifest.lost.map((one) => [one.sha256, one.since]),
      [sha('adios'), sha('missing')].sort().map((one) => [one, since]),
    )
    assert.equal(manifest.blobs.count, 2)
    assert.deepEqual((await faultsIn(path)).lines, [])
  }
  const again = await restore(vault, join(vault.home, 'again'), false)
  assert.deepEqual([again.faults, again.made?.lost.length, again.made?.contents.count], [0, 2, 2])
  assert.deepEqual(await lostIn(join(vault.home, 'again')), await lostIn(dataDir))
  assert.deepEqual((await look(join(vault.home, 'again'))).findings, [])
  await close()
})

test('the doctor names a good copy of a lost content, and says when it is there again', async (t) => {
  const vault = await openDamaged(t)
  const dataDir = join(vault.home, 'new')
  await restore(vault, dataDir)
  const path = vault.place(sha('missing'), vault.setDir)
  writeFileSync(path, 'missing')
  const notesOf = async () =>
    (await look(dataDir, vault.setDir)).notes.filter((one) => one.includes(sha('missing')))
  assert.match((await notesOf())[0] ?? '', new RegExp(`; a good copy is ${path}$`))
  const place = join(dataDir, path.slice(vault.setDir.length))
  mkdirSync(join(place, '..'), { recursive: true, mode: 0o700 })
  writeFileSync(place, 'missing', { mode: 0o600 })
  assert.match((await notesOf())[0] ?? '', /; it is there again: restart the server$/)
  assert.deepEqual((await look(dataDir)).findings, [])
})

test('with the last document of a lost content goes what is known of it', async (t) => {
  const vault = await openDamaged(t)
  const dataDir = join(vault.home, 'new')
  await restore(vault, dataDir)
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  const blobs = await openTestBlobs(dataDir)
  const rows = await selectDocuments(db, { limit: 10 })
  assert.deepEqual(
    rows.map(({ content }) => content),
    [undefined, 'lost', 'lost', 'lost'],
  )
  const left = async () => (await selectLostContents(db)).map(({ sha256 }) => sha256)
  await removeDocuments(
    db,
    blobs,
    rows.filter(({ id }) => id === 2),
    { via: 'cli', actor: 'ana', clock: () => new Date() },
    () => {},
  )
  assert.equal((await left()).length, 2, 'another document has the same')
  const end = await removeDocuments(
    db,
    blobs,
    rows.filter(({ id }) => id > 2),
    { via: 'cli', actor: 'ana', clock: () => new Date() },
    () => {},
  )
  assert.deepEqual([await left(), end.documents, end.blobs], [[], 2, 0])
})

test('a set that cannot be written to is restored from all the same, and that is told', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp()
  mkdirSync(join(vault.setDir, 'restored.json'))
  const { made } = await restore(vault, join(vault.home, 'new'))
  assert.match(made?.unnoted ?? '', /EISDIR|ENOTEMPTY|illegal/)
  assert.deepEqual(
    readdirSync(vault.setDir).filter((name) => name.startsWith('.')),
    [],
  )
})

/** The vault as if it were about another data directory. */
async function reopened(vault: Vault, dataDir: string): Promise<{ vault: Vault; close(): Promise<void> }> {
  await vault.db.destroy()
  rmSync(vault.dataDir, { recursive: true })
  renameSync(dataDir, vault.dataDir)
  symlinkSync(vault.dataDir, dataDir)
  const db = openDatabase(vault.dataDir)
  return { vault: { ...vault, db, blobs: await openTestBlobs(vault.dataDir) }, close: () => db.destroy() }
}

function edit(path: string, from: string, to: string): void {
  const bytes = readFileSync(path, 'latin1')
  assert.ok(bytes.includes(from))
  writeFileSync(path, bytes.replace(from, to), 'latin1')
}
