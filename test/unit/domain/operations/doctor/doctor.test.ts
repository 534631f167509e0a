import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { messageWithAdvice } from '../../../../../src/cli/help/advice.ts'
import { purgeDocuments } from '../../../../../src/domain/documents/removal.ts'
import type { BackupEnd } from '../../../../../src/domain/operations/backup/backup.ts'
import { writeVerifiedNote } from '../../../../../src/domain/operations/backup/verified-note.ts'
import { examine } from '../../../../../src/domain/operations/doctor/doctor.ts'
import type { DoctorRequest } from '../../../../../src/domain/operations/doctor/examination.ts'
import { missingRanges } from '../../../../../src/domain/operations/doctor/rates.ts'
import { repair } from '../../../../../src/domain/operations/doctor/repair.ts'
import { useCopy } from '../../../../../src/domain/operations/earlier-database.ts'
import { bccr } from '../../../../../src/providers/bccr/bccr.ts'
import type { AppError } from '../../../../../src/runtime/errors.ts'
import { RELEASED_SCHEMA, SCHEMA_VERSION } from '../../../../../src/store/migrations.ts'
import { insertRun } from '../../../../../src/store/rates/sync-runs.ts'
import { takeFileLock } from '../../../../../src/store/sqlite/lock.ts'
import { copyBeforeMigration } from '../../../../../src/store/sqlite/migration-copy.ts'
import { discardRates } from '../../../../../src/sync/discard.ts'
import { type BackupSource, NOW, openBackupSource } from '../../../../support/backups.ts'
import { ANA } from '../../../../support/company.ts'
import { pruebas } from '../../../../support/pruebas/pruebas.ts'
import { openDesk } from '../../../../support/rates/memory-bank.ts'
import { fixedClock } from '../../../../support/temporary.ts'
import { until } from '../../../../support/terminal.ts'

const sha = (text: string) => hash('sha256', text)
const HOLA = sha('hola')

async function look(dataDir: string, more: Partial<DoctorRequest> = {}) {
  const report = await examine({
    dataDir,
    clock: () => new Date(),
    providers: [], // most directories here have no synchronized rates
    minFree: 0,
    zone: 'Europe/Berlin',
    backup: undefined,
    signal: new AbortController().signal,
    beforeRecheck: async () => {},
    ...more,
  })
  const notes = report.notes.map(messageWithAdvice)
  const findings = report.findings.map((one) => ({ check: one.check, message: messageWithAdvice(one) }))
  return { lines: findings.map(({ check, message }) => `${check}: ${message}`), notes: notes.join('\n') }
}

/** Locks a data directory as a server does. */
function serve(t: TestContext, { dataDir }: BackupSource) {
  const lock = takeFileLock(dataDir, 'serve.lock')
  assert.ok(lock)
  t.after(() => lock.release())
  return lock
}

/** A file in the folder of blobs that no row names. */
function leave(source: BackupSource, text: string): string {
  const path = source.blobPath(sha(text))
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
  mkdirSync(join(path, '../..'), { recursive: true, mode: 0o700 })
  writeFileSync(path, text, { mode: 0o600 })
  for (const folder of [join(path, '..'), join(path, '../..')]) chmodSync(folder, 0o700)
  return path
}

async function openHealthy(t: TestContext, ...texts: string[]): Promise<BackupSource> {
  const umask = process.umask(0o077) // as main.ts has it
  t.after(() => process.umask(umask))
  return openBackupSource(t, ...texts)
}

const noteVerified = ({ setDir }: BackupSource, { name, manifest }: BackupEnd) =>
  writeVerifiedNote(setDir, { name, createdAt: manifest.created_at })

test('a healthy data directory has no findings, and notes what is worth knowing', async (t) => {
  const source = await openHealthy(t, 'hola', 'adios')
  const { lines, notes } = await look(source.dataDir)
  assert.deepEqual(lines, [])
  assert.match(notes, new RegExp(`the schema is ${SCHEMA_VERSION}, as it should be`))
  assert.match(notes, /2 contents of documents, 9 bytes/)
  assert.match(notes, /^\d+(\.\d)? [GT]iB are free$/m)
  assert.match(notes, /no nightly backup is set up/)
  assert.match(
    notes,
    /the zone of this machine is Europe\/Berlin; days and schedules are those of America\/Costa_Rica$/m,
  )
})

test('doctor notes the time zone of each provider that is not in Costa Rica', async (t) => {
  const source = await openHealthy(t)
  const { notes } = await look(source.dataDir, { providers: [bccr, pruebas] })
  assert.match(notes, /schedules are those of America\/Costa_Rica, those of pruebas of Europe\/Helsinki$/m)
})

test('a content that is missing, altered or of another size is found, with its documents and where a good copy is', async (t) => {
  const source = await openHealthy(t, 'hola', 'adios', 'hola', 'hola', 'hola', 'size')
  await noteVerified(source, await source.backUp())
  rmSync(source.blobPath(HOLA))
  rmSync(source.blobPath(sha('adios'))) // the set has another link
  writeFileSync(source.blobPath(sha('adios')), 'ADIOS', { mode: 0o600 })
  const raw = new Sqlite(join(source.dataDir, 'cambista.db'))
  raw.exec(`update attachments set size = 5 where sha256 = '${sha('size')}'`)
  raw.close()
  const backup = { dir: source.setDir, cron: '30 3 * * *' }
  const { lines } = await look(source.dataDir, { backup, clock: () => NOW })
  const [a, b, c] = [
    lines.find((one) => one.includes(HOLA)),
    lines.find((one) => /ADIOS|altered/.test(one)),
    lines.find((one) => one.includes(sha('size'))),
  ]
  assert.equal(lines.length, 3)
  const documents = 'documents 1 \\(nota\\.txt\\), 3 \\(nota\\.txt\\), 4 \\(nota\\.txt\\) and more'
  assert.match(
    a ?? '',
    new RegExp(
      `^contents: content ${HOLA} is missing: ${documents}; a good copy is ${source.blobPath(HOLA, source.setDir)}$`,
    ),
  )
  assert.match(b ?? '', /^contents: .* is altered \(5 bytes .*\): document 2 \(nota\.txt\); a good copy is /)
  assert.match(c ?? '', /^contents: .* has 4 bytes, its rows say 5: document 6 \(nota\.txt\)/)
})

test('contents and temporary files that a crash left are found, and only they are swept', async (t) => {
  const source = await openHealthy(t, 'hola')
  const orphan = leave(source, 'orphan')
  const upload = join(source.dataDir, 'blobs/tmp/upload')
  writeFileSync(upload, 'half', { mode: 0o600 })
  const copy = join(source.dataDir, 'cambista.db.v1-2026-01-01T00-00-00Z.bak.partial')
  writeFileSync(copy, 'half', { mode: 0o600 })
  const expected = [
    `contents: content ${sha('orphan')} (6 bytes) belongs to no document`,
    `temporary: ${copy} was left by something interrupted`,
    `temporary: ${upload} was left by something interrupted`,
  ]
  assert.deepEqual((await look(source.dataDir)).lines.sort(), expected.sort())
  assert.deepEqual(await repair(source.dataDir), { contents: 1, temporary: 2 })
  assert.deepEqual((await look(source.dataDir)).lines, [])
  for (const path of [orphan, upload, copy]) assert.throws(() => readFileSync(path), { code: 'ENOENT' })
  assert.equal(readFileSync(source.blobPath(HOLA), 'utf8'), 'hola')
})

test('beside a server, an upload that is under way is no finding, and what is old is one', async (t) => {
  const source = await openHealthy(t, 'hola')
  leave(source, 'renamed, its row not committed')
  writeFileSync(join(source.dataDir, 'blobs/tmp/upload'), 'half', { mode: 0o600 })
  serve(t, source)
  const { lines, notes } = await look(source.dataDir)
  assert.deepEqual(lines, [])
  assert.match(notes, /which a server is using/)
  assert.match(notes, /2 files seem to belong to uploads that are under way/)
  const clock = () => new Date(Date.now() + 11 * 60_000)
  assert.deepEqual((await look(source.dataDir, { clock })).lines, [
    `contents: content ${sha('renamed, its row not committed')} (30 bytes) belongs to no document`,
  ])
})

test('a row that is committed, or a file that is unlinked, before the second look is no finding', async (t) => {
  const source = await openHealthy(t)
  leave(source, 'uploaded')
  const deletedFile = leave(source, 'deleted')
  let looks = 1
  const beforeRecheck = async () => {
    looks += 1
    await source.storeTexts('uploaded')
    rmSync(deletedFile)
  }
  assert.deepEqual((await look(source.dataDir, { beforeRecheck: beforeRecheck })).lines, [])
  assert.equal(looks, 2)
})

test('beside uploads and deletions there are no findings', async (t) => {
  const source = await openHealthy(t, 'hola')
  serve(t, source)
  let on = true
  let n = 0
  const uploads = (async () => {
    while (on) await source.storeTexts(`document ${n++}`)
  })()
  const purges = (async () => {
    while (on) {
      await purgeDocuments(source.db, source.blobs, { createdUpTo: '2999', by: ANA, onRemoved: () => {} })
      await wait(9)
    }
  })()
  for (let round = 0; round < 10; round++) {
    const before = n
    const beforeRecheck = () => until(() => n > before)
    assert.deepEqual((await look(source.dataDir, { beforeRecheck })).lines, [])
  }
  on = false
  await Promise.all([uploads, purges])
})

test('a sum that is not that of its documents is noted, and --repair adds it up anew', async (t) => {
  const source = await openHealthy(t, 'hola', 'adios')
  assert.doesNotMatch((await look(source.dataDir)).notes, /quota/)
  await source.db.updateTable('companies').set({ used: 8 }).execute()
  const { lines, notes } = await look(source.dataDir)
  assert.deepEqual(lines, [])
  assert.match(
    notes,
    /8 bytes count against the quota of company 7, its documents have 9: stop the server and run cambista doctor --repair/,
  )
  await repair(source.dataDir)
  assert.doesNotMatch((await look(source.dataDir)).notes, /quota/)
})

test('--repair is refused beside a server, and on a damaged database', async (t) => {
  const source = await openHealthy(t, 'hola')
  const orphan = leave(source, 'orphan')
  const lock = serve(t, source)
  const errorText = (error: AppError) => messageWithAdvice(error)
  const refusal = await repair(source.dataDir).then(() => '', errorText)
  assert.match(refusal, /a server is using .*: stop it first, the command needs its lock/)
  lock.release()
  await source.db.destroy()
  damage(source, 4)
  await assert.rejects(repair(source.dataDir), /nothing was removed, because the database is damaged/)
  assert.equal(readFileSync(orphan, 'utf8'), 'orphan')
})

test('a damaged database is found, and what hangs on its rows is not guessed', async (t) => {
  const source = await openHealthy(t, 'hola')
  leave(source, 'orphan')
  await source.db.destroy()
  damage(source, 4)
  const { lines, notes } = await look(source.dataDir)
  assert.ok(lines.length > 0)
  for (const line of lines) assert.match(line, /^database: /)
  assert.match(notes, /rates and contents are not looked at/)
  writeFileSync(join(source.dataDir, 'cambista.db'), 'a letter to my aunt')
  assert.match(
    (await look(source.dataDir)).lines.join(),
    /^database: cannot open the database .*file is not a database$/,
  )
})

test('a row that names one which is not there is found', async (t) => {
  const source = await openHealthy(t, 'hola')
  const raw = new Sqlite(join(source.dataDir, 'cambista.db'))
  raw.pragma('foreign_keys = off')
  raw.exec('delete from owners')
  raw.close()
  assert.deepEqual((await look(source.dataDir)).lines, [
    'database: row 1 of documents names a row of owners that is not there',
  ])
})

test('a newer schema, one too old, and the database of another program are findings; an older schema is a note', async (t) => {
  const source = await openHealthy(t)
  const raw = new Sqlite(join(source.dataDir, 'cambista.db'))
  t.after(() => raw.close())
  raw.pragma('user_version = 999')
  assert.match(
    (await look(source.dataDir)).lines.join(),
    /^database: .* has schema version 999, .*use a newer cambista$/,
  )
  if (SCHEMA_VERSION > RELEASED_SCHEMA) raw.exec('update meta set schema_hash = null') // as of a release
  raw.pragma('user_version = 11')
  assert.match(
    (await look(source.dataDir)).lines.join(),
    /^database: .* has schema version 11, .*with cambista 0\.2\.0 /,
  )
  raw.pragma('user_version = 12')
  const { lines, notes } = await look(source.dataDir)
  assert.deepEqual(lines, [])
  assert.match(
    notes,
    new RegExp(`the schema is 12; the next start brings it to ${SCHEMA_VERSION}, after a copy`),
  )
  raw.pragma('application_id = 7')
  assert.match((await look(source.dataDir)).lines.join(), /^database: .* is not a database of cambista$/)
})

test('doctor lists files that other users may read, at most twenty lines', async (t) => {
  const source = await openHealthy(t, ...Array.from({ length: 30 }, (_, i) => `document ${i}`))
  const database = join(source.dataDir, 'cambista.db')
  chmodSync(database, 0o640)
  chmodSync(source.dataDir, 0o755)
  assert.deepEqual((await look(source.dataDir)).lines, [
    `permissions: ${source.dataDir} has mode 755 instead of 700`,
    `permissions: ${database} has mode 640 instead of 600`,
  ])
  for await (const one of source.blobs.list()) chmodSync(source.blobPath(one), 0o644)
  const { lines } = await look(source.dataDir)
  assert.equal(lines.length, 21)
  assert.match(lines.at(-1) ?? '', /^permissions: 12 more files and directories have such faults$/)
})

test('a file of another user is found', async (t) => {
  if (process.getuid?.() !== 0) return
  const source = await openHealthy(t, 'hola')
  chownSync(source.blobPath(HOLA), 65534, 65534)
  const { lines } = await look(source.dataDir)
  assert.deepEqual(lines, [
    `permissions: ${source.blobPath(HOLA)} belongs to user 65534, the data directory to 0`,
  ])
})

test('a directory of root that the group of the server may write is no fault, unless every user may', async (t) => {
  if (process.getuid?.() !== 0) return
  const source = await openHealthy(t, 'hola')
  const names = readdirSync(source.dataDir, { recursive: true, encoding: 'utf8' })
  for (const name of names) chownSync(join(source.dataDir, name), 65534, 65534)
  chownSync(source.dataDir, 0, 65534)
  chmodSync(source.dataDir, 0o2775)
  assert.deepEqual((await look(source.dataDir)).lines, [])
  chownSync(source.blobPath(HOLA), 0, 0)
  chmodSync(source.dataDir, 0o2777)
  assert.deepEqual((await look(source.dataDir)).lines, [
    `permissions: ${source.dataDir} has mode 777: every user may write into it`,
    `permissions: ${source.blobPath(HOLA)} belongs to user 0, the database to 65534`,
  ])
})

test('too little free space is found', async (t) => {
  const source = await openHealthy(t)
  const { lines } = await look(source.dataDir, { minFree: 2 ** 52 })
  assert.match(lines.join(), /^space: only \d+(\.\d)? [GT]iB are free: uploads are refused below 4096 TiB$/)
})

test('an enabled provider that was never synced is found, but not while its first run is open', async (t) => {
  const source = await openHealthy(t)
  const synced = async () => {
    const { lines, notes } = await look(source.dataDir, { providers: [bccr] })
    return [lines.join(), /^never synced.*$/m.exec(notes)?.[0]]
  }
  assert.deepEqual(await synced(), [
    'rates: never synced, so that there are no rates: cambista sync fetches them, and so does a server by itself unless it has --no-scheduler',
    undefined,
  ])
  const day = { date_from: '2026-03-01', date_to: '2026-03-25' }
  const started_at = '2026-03-25T11:00:00.000Z'
  await insertRun(source.db, { provider_id: 1, trigger: 'startup', started_at, ...day })
  const began = `never synced: the first run began at ${started_at}`
  const lock = takeFileLock(source.dataDir, 'sync.lock')
  assert.deepEqual(await synced(), ['', `${began} and has not ended`])
  lock?.release()
  const [findings, note] = await synced()
  assert.equal(findings, '')
  assert.match(note ?? '', new RegExp(`^${began} and was interrupted: cambista sync fetches them`))
  await source.db.deleteFrom('sync_runs').execute()
  await source.db.updateTable('providers').set({ enabled: 0 }).execute()
  assert.deepEqual(await synced(), ['', 'never synced: bccr is disabled'])
})

test('`examine` notes the files of a later database with the command that removes them', async (t) => {
  const source = await openHealthy(t)
  await source.db.destroy()
  const copy = copyBeforeMigration(join(source.dataDir, 'cambista.db'), SCHEMA_VERSION)
  const later = useCopy(source.dataDir, copy)
  const { lines, notes } = await look(source.dataDir)
  assert.deepEqual(lines, [])
  for (const path of [later, join(source.dataDir, 'blobs/held')])
    assert.ok(
      notes.includes(`${path} is of a later database, which sudo cambista upgrade --forget removes`),
      notes,
    )
  assert.doesNotMatch(notes, /is not a file of cambista/)
})

test('a nightly backup that was not made is found', async (t) => {
  const source = await openHealthy(t)
  const cron = '30 3 * * *'
  const backup = { dir: source.setDir, cron }
  const at = (instant: string) => look(source.dataDir, { backup, clock: fixedClock(instant).read })
  assert.match((await at('2026-03-24T12:00:00Z')).lines.join(), /^backup: there is no backup set at .*set$/)
  await noteVerified(source, await source.backUp(new Date('2026-03-24T09:30:01Z')))
  assert.deepEqual((await at('2026-03-25T11:00:00Z')).lines, [], 'it may still be under way')
  const due = 'when one was due'
  assert.match(
    (await at('2026-03-25T11:31:00Z')).lines.join(),
    new RegExp(`^backup: .* is older than 2026-03-25T09:30:00.000Z, ${due}$`),
  )
})

test('a nightly backup that is not verified is found once its verification is late', async (t) => {
  const source = await openHealthy(t)
  const backup = { dir: source.setDir, cron: '30 3 * * *' }
  const at = (instant: string) => look(source.dataDir, { backup, clock: fixedClock(instant).read })
  const first = await source.backUp(new Date('2026-03-24T09:30:01Z'))
  const findings = async (instant: string) => (await at(instant)).lines.join()
  assert.match(await findings('2026-03-24T10:00:00Z'), /^backup: .* is not verified, and none is verified$/)
  await noteVerified(source, first)
  const { path } = await source.backUp(new Date('2026-03-25T09:30:01Z'))
  const { lines, notes } = await at('2026-03-25T11:00:00Z')
  assert.deepEqual(lines, [])
  assert.ok(notes.includes(`the newest backup is ${path}, not verified yet`), notes)
  assert.ok(
    notes.includes(`${source.setDir} is on the disk of ${source.dataDir}, and would be lost with it`),
    notes,
  )
  const late = 'is not verified, and the newest verified one is of 2026-03-24T09:30:01.000Z'
  assert.equal(await findings('2026-03-25T11:31:00Z'), `backup: the newest backup, ${path}, ${late}`)
})

test('a day without a dollar rate inside the covered interval is found, as a range to sync again', async (t) => {
  const desk = await openDesk(t)
  chmodSync(desk.dataDir, 0o700)
  const dataDir = desk.dataDir
  await desk.sync()
  const clock = desk.clock.read
  const rates = async () =>
    (await look(dataDir, { clock, providers: [bccr] })).lines.filter((line) => line.startsWith('rates'))
  assert.deepEqual(await rates(), [])
  const raw = new Sqlite(join(dataDir, 'cambista.db'))
  t.after(() => raw.close())
  raw.exec(`delete from rates where series_id = 1 and rate_date between '2026-02-10' and '2026-02-12'`)
  raw.exec(`delete from rates where series_id = 2 and rate_date = '2026-03-01'`)
  raw.exec(`update rates set value = '1.50' where series_id = 2 and rate_date = '2026-03-02'`)
  // The bank may still publish a value of the newest days, and a parity has days without one.
  raw.exec(`delete from rates where series_id = 1 and rate_date = '2026-03-25'`)
  raw.exec(`delete from rates where series_id = 3 and rate_date >= '2026-03-20'`)
  raw.exec('delete from rate_sums') // as an older program would
  const lines = await rates()
  assert.equal(lines.length, 3)
  assert.equal(
    lines[0],
    'rates: series 1 (USD/CRC compra) has no value from 2026-02-10 to 2026-02-12: cambista sync --from 2026-02-10 --to 2026-02-12 reads it again',
  )
  assert.equal(lines[1], 'rates: series 2 (USD/CRC venta) has the value 1.50 on 2026-03-02')
  assert.match(
    lines[2] ?? '',
    /^rates: series 2 .* has no value on 2026-03-01: cambista sync --from 2026-03-01 --to 2026-03-01 /,
  )
})

test('values and covered days after tomorrow are found, with the command that removes them', async (t) => {
  const desk = await openDesk(t)
  chmodSync(desk.dataDir, 0o700)
  const { dataDir } = desk
  await desk.sync()
  const clock = desk.clock.read
  const rates = async () => (await look(dataDir, { clock })).lines.filter((line) => line.startsWith('rates'))
  const raw = new Sqlite(join(dataDir, 'cambista.db'))
  t.after(() => raw.close())
  raw.exec(`update coverage set covered_to = '2026-03-25' where covered_to > '2026-03-25'`)
  assert.deepEqual(await rates(), [], 'tomorrow is no finding')
  raw.exec(`update coverage set covered_to = '2026-04-02' where series_id = 2 and kind = 'answered'`)
  const words = 'values or covered days after tomorrow, 2026-03-25, up to'
  const end = 'which nobody can have published: cambista rates discard --after 2026-03-25 removes them'
  assert.deepEqual(await rates(), [`rates: series 2 (USD/CRC venta) has ${words} 2026-04-02, ${end}`])
  raw.exec(`delete from rate_sums; insert into rates values (1, '2030-01-01', '500', null, 1)`)
  raw.exec(`update coverage set covered_to = '2030-01-01' where series_id = 1 and kind = 'answered'`)
  assert.deepEqual(await rates(), [`rates: 2 series have ${words} 2030-01-01, ${end}`])
  await discardRates({ ...desk.deps, clock }, '2026-03-25')
  assert.deepEqual(await rates(), [])
})

test('each side of the dollar is judged for itself', async (t) => {
  const desk = await openDesk(t)
  await desk.sync()
  desk.bank.publish['318'] = () => undefined
  const later = { providers: [bccr], clock: fixedClock('2026-07-02T12:00:00Z').read }
  desk.clock.now = new Date('2026-07-02T12:00:00Z')
  await desk.sync()
  const { lines } = await look(desk.dataDir, later)
  assert.deepEqual(
    lines.filter((line) => line.startsWith('rates')),
    ['rates: the newest venta of the dollar is of 2026-03-25, 99 days ago: cambista sync says why'],
  )
})

test('doctor notes days that were never requested and rounded values, without a fault', async (t) => {
  const desk = await openDesk(t)
  desk.bank.roundedTo = 2
  await desk.sync()
  await desk.sync({ range: { from: '2025-12-01', to: '2025-12-31' } })
  const { lines, notes } = await look(desk.dataDir, { providers: [bccr], clock: desk.clock.read })
  assert.deepEqual(
    lines.filter((line) => line.startsWith('rates')),
    [],
  )
  const hole = notes.split('\n').find((line) => line.includes('not synchronized'))
  assert.equal(
    hole,
    '6 series: not synchronized from 2026-01-01 to 2026-01-31, answered with 404; cambista sync --from 2026-01-01 --to 2026-01-31 asks for it',
  )
  assert.match(notes, /^504 values of 6 series are rounded, as the bank's website gives them; /m)
})

test('a dollar rate that is older than two days is found, and none at all once a sync has run', async (t) => {
  const desk = await openDesk(t)
  await desk.sync()
  const at = async (instant: string) =>
    (await look(desk.dataDir, { providers: [bccr], clock: fixedClock(instant).read })).lines.filter((line) =>
      line.startsWith('rates'),
    )
  assert.deepEqual(await at('2026-03-27T12:00:00Z'), [])
  assert.deepEqual(await at('2026-03-28T12:00:00Z'), [
    'rates: the newest compra of the dollar is of 2026-03-25, 3 days ago: cambista sync says why',
    'rates: the newest venta of the dollar is of 2026-03-25, 3 days ago: cambista sync says why',
  ])
  const raw = new Sqlite(join(desk.dataDir, 'cambista.db'))
  raw.exec('delete from rates; delete from rate_sums; delete from coverage')
  raw.close()
  assert.deepEqual(await at('2026-03-24T12:00:00Z'), [
    'rates: there is no dollar rate, although a sync has run',
  ])
})

test('between the chunks of a sync there are no gaps', async (t) => {
  const desk = await openDesk(t, { backfillFrom: '2020-01-01' })
  chmodSync(desk.dataDir, 0o700)
  const findings: string[] = []
  desk.bank.fault = async () => {
    const { lines } = await look(desk.dataDir, { providers: [bccr], clock: desk.clock.read })
    findings.push(...lines.filter((line) => /^(rates|database)/.test(line)))
    return undefined
  }
  await desk.sync()
  assert.ok(desk.bank.asked.length > 5)
  assert.deepEqual(findings, [])
})

test('missingRanges returns ranges of days', () => {
  const window = { from: '2026-02-27', to: '2026-03-03' }
  assert.deepEqual(missingRanges(window, new Set()), [window])
  assert.deepEqual(missingRanges(window, new Set(['2026-02-28', '2026-03-03'])), [
    { from: '2026-02-27', to: '2026-02-27' },
    { from: '2026-03-01', to: '2026-03-02' },
  ])
})

/** Writes nonsense over some pages. */
function damage({ dataDir }: BackupSource, page: number): void {
  const path = join(dataDir, 'cambista.db')
  const bytes = readFileSync(path)
  bytes.fill('X', 4096 * page + 8, 4096 * (page + 5))
  writeFileSync(path, bytes)
}
