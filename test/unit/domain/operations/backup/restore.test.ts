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
import { restoreBackup } from '../../../src/domain/backup/restore.ts'
import { openBlobFolder } from '../../../src/store/blobs/folder.ts'
import { selectDocuments } from '../../../src/store/documents.ts'
import { selectMeta } from '../../../src/store/meta.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { takeFileLock } from '../../../src/store/sqlite/lock.ts'
import { SCHEMA_VERSION } from '../../../src/store/sqlite/migrations.ts'
import { startTestApp } from '../../support/app.ts'
import { modesIn, NOW, openVault, type Vault } from '../../support/backups.ts'
import { keepTexts, makeDirectory, openTestBlobs } from '../../support/company.ts'
import { olderSchema } from '../../support/older-schema.ts'
import { temporaryDatabase, temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'

const sha = (text: string) => hash('sha256', text)
const NOBODY = 65534

async function restore(vault: Vault, dataDir: string, owner?: { uid: number; gid: number }) {
  const lines: string[] = []
  const checking = { fault: (line: string) => lines.push(line), inPieces: false }
  const end = await restoreBackup(vault.setDir, { dataDir, owner, now: NOW }, checking)
  return { ...end, lines }
}

/** The texts of the documents in a data directory, by id. */
async function textsIn(dataDir: string): Promise<string[]> {
  const db = openDatabase(dataDir, { mustExist: true })
  const blobs = await openBlobFolder(join(dataDir, 'blobs'))
  const texts: string[] = []
  for (const { sha256 } of await selectDocuments(db, { limit: 1000 })) {
    const found = await blobs.read(sha256)
    assert.ok(found)
    texts.push(Buffer.concat(await Array.fromAsync(found.stream())).toString())
  }
  await db.destroy()
  return texts
}

for (const how of ['is not there', 'is an empty directory'] as const) {
  test(`a data directory that ${how} gets all that the backup holds, and a new epoch`, async (t) => {
    const vault = await openVault(t, 'hola', 'adios', 'hola')
    const before = await selectMeta(vault.db)
    await vault.backUp()
    await vault.keep('later')
    const dataDir = join(vault.home, 'new')
    if (how === 'is an empty directory') mkdirSync(join(dataDir, 'lost+found'), { recursive: true })
    const { faults, name } = await restore(vault, dataDir)
    assert.deepEqual([faults, name], [0, '2026-03-24T09-30-00Z'])
    assert.deepEqual(await textsIn(dataDir), ['hola', 'adios', 'hola'])
    const db = openDatabase(dataDir)
    const { revision, epoch } = await selectMeta(db)
    await db.destroy()
    assert.equal(revision, before.revision)
    assert.match(epoch, /^[0-9a-f]{16}$/)
    assert.notEqual(epoch, before.epoch)
    assert.deepEqual(
      modesIn(dataDir).filter((line) => !/^(600|700) |lost\+found$/.test(line)),
      [],
    )
    assert.deepEqual(
      readdirSync(vault.home).filter((one) => one.includes('restoring')),
      [],
    )
    assert.equal(existsSync(join(dataDir, '.restoring')), false)
  })
}

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

test('a backup of an older schema is brought up to date, and its new tables give no id twice either', async (t) => {
  const home = temporaryDirectory(t)
  const [from, set, to] = [olderSchema(t, 1), join(home, 'set'), join(home, 'new')]
  assert.equal((await runCommand(['backup', 'create', set, '--data-dir', from])).code, 0)
  const end = await runCommand(['backup', 'restore', set, '--data-dir', to])
  assert.equal(end.code, 0, end.err)
  assert.match(end.out, new RegExp(`^its schema was 1 and is ${SCHEMA_VERSION} now$`, 'm'))
  assert.deepEqual(
    readdirSync(to).filter((name) => !/\.lock(-journal)?$/.test(name)),
    ['blobs', 'cambista.db'],
  )
  await makeDirectory(to)
  const db = temporaryDatabase(t, to)
  assert.deepEqual(await keepTexts(db, await openTestBlobs(to), ['hola']), [1_000_001])
})

test('with a fault nothing is made, and each fault is told', async (t) => {
  const vault = await openVault(t, 'hola', 'adios')
  await vault.backUp()
  rmSync(vault.place(sha('hola'), vault.setDir))
  const copy = readFileSync(vault.place(sha('adios')))
  rmSync(vault.place(sha('adios'), vault.setDir))
  writeFileSync(vault.place(sha('adios'), vault.setDir), `${copy}!`)
  const dataDir = join(vault.home, 'new')
  const { faults, lines } = await restore(vault, dataDir)
  assert.equal(faults, 2)
  assert.match(lines.join('\n'), /is altered(.|\n)*is missing|is missing(.|\n)*is altered/)
  assert.equal(existsSync(dataDir), false)
  assert.deepEqual(readdirSync(vault.home).sort(), ['data', 'set'])

  mkdirSync(dataDir)
  await restore(vault, dataDir)
  assert.deepEqual(readdirSync(dataDir).sort(), ['serve.lock', 'sync.lock'])
})

test('what was lost when the backup was made does not keep it from being restored', async (t) => {
  const vault = await openVault(t, 'hola', 'adios')
  rmSync(vault.place(sha('hola')))
  await vault.backUp()
  const { faults, manifest } = await restore(vault, join(vault.home, 'new'))
  assert.equal(faults, 0)
  assert.deepEqual(manifest.lost, [{ sha256: sha('hola'), words: 'is missing' }])
})

test('a data directory that is not empty or in use is refused and left as it is', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp()
  await assert.rejects(restore(vault, vault.dataDir), /is not empty \(.*\): move it away first/)
  const lock = takeFileLock(vault.dataDir, 'serve.lock')
  await assert.rejects(restore(vault, vault.dataDir), /is in use \(serve\.lock\): stop the server/)
  lock?.release()
  assert.deepEqual(await textsIn(vault.dataDir), ['hola'])

  const other = join(vault.home, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'blobs'), 'a file of somebody')
  await assert.rejects(restore(vault, other), /is not empty \(blobs\)/)
  assert.deepEqual(readdirSync(other), ['blobs'])
  await assert.rejects(
    restore(vault, join(vault.home, 'a/b')),
    /there is no .* to make the data directory in/,
  )
})

test('a server that makes a database meanwhile is not overwritten', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp()
  const dataDir = join(vault.home, 'new')
  mkdirSync(dataDir)
  const checking = {
    fault: (line: string) => assert.fail(line),
    inPieces: false,
    progress: () => writeFileSync(join(dataDir, 'cambista.db'), 'of the server'),
  }
  const restored = restoreBackup(vault.setDir, { dataDir, owner: undefined, now: NOW }, checking)
  await assert.rejects(restored, /somebody made a database in .* meanwhile; nothing was restored/)
  assert.equal(readFileSync(join(dataDir, 'cambista.db'), 'utf8'), 'of the server')
  assert.equal(existsSync(join(dataDir, 'blobs')), false)
})

test('root gives everything to the owner, and shares no content with a set of somebody else', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp()
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined
  const dataDir = join(vault.home, 'new')
  await restore(vault, dataDir, owner)
  const { uid } = owner ?? statSync(vault.setDir)
  for (const name of ['', ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' })]) {
    assert.equal(statSync(join(dataDir, name)).uid, uid, name)
  }
  const stored = statSync(
    join(dataDir, 'blobs', sha('hola').slice(0, 2), sha('hola').slice(2, 4), sha('hola')),
  )
  assert.equal(stored.nlink, owner ? 1 : 3)
  assert.equal(statSync(vault.place(sha('hola'), vault.setDir)).uid, statSync(vault.setDir).uid)
})

test('root restores to an empty directory of the service for the service', async (t) => {
  if (process.getuid?.() !== 0) return
  const vault = await openVault(t, 'hola')
  await vault.backUp()
  const dataDir = join(vault.home, 'state')
  mkdirSync(dataDir)
  chownSync(dataDir, NOBODY, NOBODY)
  chmodSync(vault.home, 0o755)
  const end = await runCommand(['backup', 'restore', vault.setDir, '--data-dir', dataDir])
  assert.equal(end.code, 0, end.err)
  for (const name of readdirSync(dataDir)) assert.equal(statSync(join(dataDir, name)).uid, NOBODY, name)
})

test('what a restore left between its last two steps is taken up by the next', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp()
  const dataDir = join(vault.home, 'new')
  mkdirSync(join(dataDir, '.restoring'), { recursive: true })
  cpSync(join(vault.setDir, 'blobs'), join(dataDir, 'blobs'), { recursive: true })
  writeFileSync(join(dataDir, '.restoring/cambista.db'), 'half')
  assert.equal((await restore(vault, dataDir)).faults, 0)
  assert.deepEqual(await textsIn(dataDir), ['hola'])
})

test('two restores to one place at once: one of them lands', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp(NOW)
  const dataDir = join(vault.home, 'new')
  const ends = await Promise.allSettled([restore(vault, dataDir), restore(vault, dataDir)])
  assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.deepEqual(await textsIn(dataDir), ['hola'])
})
