import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { purgeDocuments } from '../../../../../src/domain/documents/removal.ts'
import { openNightlyBackup } from '../../../../../src/domain/operations/backup/nightly.ts'
import { backupNames, openBackupSet } from '../../../../../src/domain/operations/backup/set.ts'
import { writeVerifiedNote } from '../../../../../src/domain/operations/backup/verified-note.ts'
import { createLog } from '../../../../../src/runtime/log.ts'
import { type BackupSource, checkBackup, openBackupSource } from '../../../../support/backups.ts'
import { ANA } from '../../../../support/company.ts'
import { fixedClock } from '../../../../support/temporary.ts'
import { until } from '../../../../support/terminal.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const CRON = '30 3 * * *' // 09:30 UTC

type Answer = 'ok' | 'error' | Promise<void>

/** A plan whose backups are only noted, as their times, and answered one after the other. */
async function openPlan(t: TestContext, options: { now?: string; dir?: string; answers?: Answer[] } = {}) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const clock = fixedClock(options.now ?? '2026-03-24T12:00:00Z')
  const backupTimes: string[] = []
  const logged: string[] = []
  const log = createLog({ level: 'debug', format: 'json', write: (text) => logged.push(text) })
  const plan = {
    dir: options.dir ?? '/nowhere',
    cron: CRON,
    keep: 7,
    dataDir: '/none',
    clock: clock.read,
    log,
  }
  const answers = options.answers ?? []
  let signal: AbortSignal | undefined
  const nightly = await openNightlyBackup(plan, async (stop) => {
    signal = stop
    backupTimes.push(clock.read().toISOString().slice(0, 16))
    const answer = answers.shift() ?? 'ok'
    if (answer === 'error') throw new Error('the disk is full')
    await answer
  })
  t.after(() => nightly.close())
  const pass = async (ms: number, times = 1) => {
    for (let n = 0; n < times; n++) {
      clock.now = new Date(clock.now.getTime() + ms)
      t.mock.timers.tick(1000)
      await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { nightly, clock, backupTimes, logged, pass, log, stopped: () => signal?.aborted }
}

/** A set with one verified backup of this time. */
async function setWithBackup(t: TestContext, at: string): Promise<BackupSource> {
  const source = await openBackupSource(t, 'hola')
  const { name, manifest } = await source.backUp(new Date(at))
  await writeVerifiedNote(source.setDir, { name, createdAt: manifest.created_at })
  return source
}

test('a backup is made at its time, in the time of Costa Rica, once a night', async (t) => {
  const { setDir } = await setWithBackup(t, '2026-03-24T09:30:01Z')
  const { nightly, backupTimes, pass } = await openPlan(t, { dir: setDir })
  const last = new Date('2026-03-24T09:30:01.000Z')
  const nextRun = new Date('2026-03-25T09:30:00.000Z')
  const before = { lastRun: last, lastStatus: 'ok', lastVerified: last }
  assert.deepEqual(nightly.status(), { schedule: CRON, nextRun, ...before })
  nightly.start()
  await pass(30 * MINUTE, 96)
  assert.deepEqual(backupTimes, ['2026-03-25T09:30', '2026-03-26T09:30'])
  assert.deepEqual(nightly.status(), {
    schedule: CRON,
    nextRun: new Date('2026-03-27T09:30:00.000Z'),
    lastRun: new Date('2026-03-26T09:30:00.000Z'),
    lastStatus: 'ok',
    lastVerified: new Date('2026-03-26T09:30:00.000Z'),
  })
})

test('a missed or a first backup is made soon after the start', async (t) => {
  const { setDir } = await setWithBackup(t, '2026-03-23T09:30:01Z')
  for (const dir of [setDir, '/nowhere']) {
    const { nightly, backupTimes, pass } = await openPlan(t, { dir })
    assert.deepEqual(backupTimes, [])
    nightly.start()
    await pass(1000, 3)
    assert.deepEqual(backupTimes, ['2026-03-24T12:00'])
    await nightly.close()
    t.mock.timers.reset()
  }
})

test('a start finds that the newest backup is not verified, and makes another', async (t) => {
  const source = await setWithBackup(t, '2026-03-24T09:30:01Z')
  const { path } = await source.backUp(new Date('2026-03-24T11:00:00Z'))
  writeFileSync(join(path, 'unverified'), '')
  const { nightly, backupTimes, pass } = await openPlan(t, { dir: source.setDir })
  assert.deepEqual(nightly.status(), {
    schedule: CRON,
    nextRun: new Date('2026-03-24T12:00:00.000Z'),
    lastRun: new Date('2026-03-24T11:00:00.000Z'),
    lastStatus: 'error',
    lastVerified: new Date('2026-03-24T09:30:01.000Z'),
  })
  nightly.start()
  await pass(1000, 3)
  assert.deepEqual([backupTimes, nightly.status().lastStatus], [['2026-03-24T12:00'], 'ok'])
})

test('a start makes a backup after one by hand that nobody verified, and after one of a wrong clock', async (t) => {
  for (const time of ['2026-03-24T11:00:00Z', '2027-01-01T09:30:00Z']) {
    const source = await setWithBackup(t, '2026-03-24T09:30:01Z')
    const { name, manifest } = await source.backUp(new Date(time))
    if (time > '2027') await writeVerifiedNote(source.setDir, { name, createdAt: manifest.created_at })
    const { nightly, backupTimes, pass } = await openPlan(t, { dir: source.setDir })
    assert.equal(nightly.status().lastStatus, time > '2027' ? 'ok' : 'error')
    nightly.start()
    await pass(1000, 3)
    assert.deepEqual([backupTimes, nightly.status().lastStatus], [['2026-03-24T12:00'], 'ok'])
    assert.ok(nightly.status().nextRun?.toISOString().startsWith('2026-03-25'))
    await nightly.close()
    t.mock.timers.reset()
  }
})

test('after one that failed it is tried again each hour, and logged each time', async (t) => {
  const { nightly, backupTimes, pass, log, logged } = await openPlan(t, { answers: ['error', 'error'] })
  nightly.start()
  await pass(1000)
  assert.equal(nightly.status().lastStatus, 'error')
  assert.equal(nightly.status().nextRun?.toISOString(), '2026-03-24T13:00:01.000Z')
  await pass(30 * MINUTE, 8)
  assert.deepEqual(backupTimes, ['2026-03-24T12:00', '2026-03-24T13:00', '2026-03-24T14:00'])
  assert.equal(nightly.status().lastStatus, 'ok')
  log.flush()
  const failures = logged.join('').match(/"event":"backup failed".*"reason":"the disk is full"/g)
  assert.equal(failures?.length, 2)
})

test('a clock that is set back a day plans anew from there, and loses no night', async (t) => {
  const { setDir } = await setWithBackup(t, '2026-03-24T09:30:01Z')
  const { nightly, backupTimes, pass } = await openPlan(t, { dir: setDir })
  nightly.start()
  await pass(22 * HOUR)
  await pass(-24 * HOUR)
  await pass(HOUR, 30)
  assert.deepEqual(backupTimes, ['2026-03-25T10:00', '2026-03-25T10:00'])
})

test('the end of the server gives a backup up that is under way, and waits for that', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { nightly, pass, stopped } = await openPlan(t, { answers: [gate.promise] })
  nightly.start()
  await pass(1000)
  let isClosed = false
  const closing = nightly.close().then(() => {
    isClosed = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([stopped(), isClosed], [true, false])
  gate.resolve()
  await closing
})

/** A server's own backups of a real data directory, made at once. */
async function runOnce(t: TestContext, source: BackupSource, now: string, { cron = '* * * * * *' } = {}) {
  const logged: string[] = []
  const log = createLog({ level: 'debug', format: 'json', write: (text) => logged.push(text) })
  const clock = fixedClock(now).read
  const plan = { dir: source.setDir, cron, keep: 2, dataDir: source.dataDir, clock, log }
  const nightly = await openNightlyBackup(plan)
  t.after(() => nightly.close())
  nightly.start()
  await until(() => nightly.status().lastRun?.getTime() === clock().getTime())
  await nightly.close()
  log.flush()
  const { lastStatus: status, lastVerified, nextRun } = nightly.status()
  return { status, lastVerified, nextRun, logged: logged.join('') }
}

test('the last verified backup is known after a restart and after a later fault', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp(new Date('2026-03-20T09:30:00Z'))
  const loadLastVerified = async () => {
    const { nightly } = await openPlan(t, { dir: source.setDir })
    t.mock.timers.reset()
    return nightly.status().lastVerified
  }
  assert.equal(await loadLastVerified(), undefined, 'that one was made, and not read back')
  const good = new Date('2026-03-21T09:30:00Z')
  const { lastVerified } = await runOnce(t, source, good.toISOString())
  assert.deepEqual([lastVerified, await loadLastVerified()], [good, good])
  writeFileSync(source.blobPath(hash('sha256', 'hola')), 'aloh') // in place, so that the set's hard link has it too
  const bad = await runOnce(t, source, '2026-03-22T09:30:00Z')
  assert.deepEqual([bad.status, bad.lastVerified, await loadLastVerified()], ['error', good, good])
  rmSync(join(source.setDir, '2026-03-21T09-30-00Z'), { recursive: true })
  assert.equal(await loadLastVerified(), undefined, 'it is gone')
  writeFileSync(join(source.setDir, 'verified.json'), '{"backup":"../x","created_at":"now"}')
  assert.equal(await loadLastVerified(), undefined)
})

test('old backups go once a new one has been read back and is good', async (t) => {
  const source = await openBackupSource(t, 'hola')
  for (const day of [21, 22, 23]) {
    const { status, logged } = await runOnce(t, source, `2026-03-${day}T09:30:00Z`)
    assert.equal(status, 'ok', logged)
    assert.match(logged, /"event":"backup made","backup":".*","database":\d+,"contents":1,"bytes":4,/)
  }
  assert.deepEqual(backupNames(source.setDir), ['2026-03-22T09-30-00Z', '2026-03-23T09-30-00Z'])
  assert.deepEqual((await checkBackup(source.setDir)).lines, [])
})

test('a backup on the disk of the data is logged as a warning', async (t) => {
  const source = await openBackupSource(t, 'hola')
  const warning = /"level":"warn","event":"backup on the disk of the data"/
  assert.match((await runOnce(t, source, '2026-03-21T09:30:00Z')).logged, warning)
  const setDir = `/dev/shm/cambista-test-${process.pid}`
  t.after(() => rmSync(setDir, { recursive: true, force: true }))
  const { status, logged } = await runOnce(t, { ...source, setDir }, '2026-03-21T09:30:00Z')
  assert.equal(status, 'ok', logged)
  assert.doesNotMatch(logged, warning)
})

test('an unreadable old backup replaces no readable one, and goes when it is the oldest', async (t) => {
  const source = await openBackupSource(t, 'hola', 'adios')
  for (const day of [20, 21]) await runOnce(t, source, `2026-03-${day}T09:30:00Z`)
  writeFileSync(join(source.setDir, '2026-03-21T09-30-00Z/cambista.db'), 'letters')
  await purgeDocuments(source.db, source.blobs, { createdUpTo: '2999', by: ANA, onRemoved: () => {} })
  const [, blobFile] = ['hola', 'adios'].map((text) =>
    source.blobPath(hash('sha256', text), source.setDir),
  ) as [string, string]
  const runNight = async (day: number) => {
    const { status, nextRun, logged } = await runOnce(t, source, `2026-03-${day}T10:00:00Z`, { cron: CRON })
    const days = backupNames(source.setDir).map((name) => Number(name.slice(8, 10)))
    const faults = logged.match(/"event":"backup not pruned","dir":".*","reason":"cannot open the database/g)
    assert.deepEqual([status, nextRun?.getUTCDate()], ['ok', day + 1])
    return { days, faults: faults?.length, blob: existsSync(blobFile) }
  }
  assert.deepEqual(await runNight(22), { days: [20, 21, 22], faults: 1, blob: true })
  assert.deepEqual(await runNight(23), { days: [22, 23], faults: undefined, blob: false })
})

test('with a fault in the new one the old ones stay, and it is logged', async (t) => {
  const source = await openBackupSource(t, 'hola', 'adios')
  for (const day of [21, 22]) await runOnce(t, source, `2026-03-${day}T09:30:00Z`)
  writeFileSync(source.blobPath(hash('sha256', 'hola')), 'aloh') // in place, so that the set's hard link has it too
  const { status, logged } = await runOnce(t, source, '2026-03-23T09:30:00Z')
  assert.equal(status, 'error')
  assert.match(logged, /"event":"backup fault".*is altered/)
  assert.match(logged, /"event":"backup failed".*has 1 faults; no verified one was removed/)
  assert.equal(backupNames(source.setDir).length, 3)
})

test('each backup with a fault replaces the one before, and no verified one', async (t) => {
  const source = await openBackupSource(t, 'hola', 'adios')
  await source.backUp(new Date('2026-03-20T09:30:00Z'))
  await runOnce(t, source, '2026-03-21T09:30:00Z')
  const blobFile = source.blobPath(hash('sha256', 'perdido'))
  await source.storeTexts('perdido')
  renameSync(blobFile, `${source.home}/perdido`)
  for (const day of [22, 23, 24]) {
    const { status } = await runOnce(t, source, `2026-03-${day}T09:30:00Z`)
    const days = backupNames(source.setDir).map((name) => Number(name.slice(8, 10)))
    assert.deepEqual([status, days], ['error', [20, 21, day]])
  }
  renameSync(`${source.home}/perdido`, blobFile)
  assert.equal((await runOnce(t, source, '2026-03-25T09:30:00Z')).status, 'ok')
  assert.deepEqual(backupNames(source.setDir), ['2026-03-21T09-30-00Z', '2026-03-25T09-30-00Z'])
  assert.equal((await runOnce(t, source, '2026-03-26T09:30:00Z')).status, 'ok')
  assert.deepEqual(backupNames(source.setDir), ['2026-03-25T09-30-00Z', '2026-03-26T09-30-00Z'])
})

test('a blob that is altered in the set is copied again, without a failure', async (t) => {
  const source = await openBackupSource(t, 'hola', 'adios')
  for (const day of [21, 22]) await runOnce(t, source, `2026-03-${day}T09:30:00Z`)
  const blobFile = source.blobPath(hash('sha256', 'hola'), source.setDir)
  rmSync(blobFile) // a file of the set's own
  writeFileSync(blobFile, 'aloh')
  const { status, logged } = await runOnce(t, source, '2026-03-23T09:30:00Z')
  assert.equal(status, 'ok')
  assert.match(logged, /"level":"warn","event":"backup mended","backup":".*","contents":1/)
  assert.doesNotMatch(logged, /"level":"error"/)
  assert.deepEqual(backupNames(source.setDir), ['2026-03-22T09-30-00Z', '2026-03-23T09-30-00Z'])
  for (const name of backupNames(source.setDir)) {
    assert.deepEqual((await checkBackup(join(source.setDir, name))).lines, [])
  }
})

test('a set that another process writes to, or that is not mounted, is a failure that is logged', async (t) => {
  const source = await openBackupSource(t)
  const set = await openBackupSet(source.setDir, source.dataDir)
  const busy = await runOnce(t, source, '2026-03-21T09:30:00Z')
  assert.match(busy.logged, /"reason":"another backup is being written to/)
  set.close()
  rmSync(source.setDir, { recursive: true })
  const unmounted = { ...source, setDir: join(source.home, 'disk/set') }
  assert.match((await runOnce(t, unmounted, '2026-03-21T09:30:00Z')).logged, /is it mounted\?/)
  mkdirSync(join(source.home, 'disk'))
  assert.equal((await runOnce(t, unmounted, '2026-03-21T10:30:00Z')).status, 'ok')
})

test('a clock that is nudged back neither repeats a backup nor puts off the retry of one that failed', async (t) => {
  const { nightly, pass, backupTimes } = await openPlan(t, {
    now: '2026-03-24T12:00:00Z',
    answers: ['error'],
  })
  nightly.start()
  await pass(1000)
  await pass(-2000)
  await pass(HOUR + MINUTE)
  assert.deepEqual(backupTimes, ['2026-03-24T12:00', '2026-03-24T13:00'])
  await pass(20 * HOUR + 29 * MINUTE + 2000)
  await pass(-3000)
  await pass(3000)
  assert.equal(backupTimes.length, 3)
})
