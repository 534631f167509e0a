import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openNightlyBackup } from '../../../src/domain/backup/nightly.ts'
import { createLog } from '../../../src/log.ts'
import { backupNames, openBackupSet } from '../../../src/store/backup/set.ts'
import { faultsIn, openVault, type Vault } from '../../support/backups.ts'
import { fixedClock } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const CRON = '30 3 * * *' // 09:30 UTC

type Answer = 'ok' | 'error' | Promise<void>

/** A plan whose backups are only noted, as their times, and answered one after the other. */
async function openPlan(t: TestContext, options: { now?: string; dir?: string; answers?: Answer[] } = {}) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const clock = fixedClock(options.now ?? '2026-03-24T12:00:00Z')
  const made: string[] = []
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
    made.push(clock.read().toISOString().slice(0, 16))
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
  return { nightly, clock, made, logged, pass, log, stopped: () => signal?.aborted }
}

/** A set with one good backup of this time. */
async function setWithBackup(t: TestContext, at: string): Promise<Vault> {
  const vault = await openVault(t, 'hola')
  await vault.backUp(new Date(at))
  return vault
}

test('a backup is made at its time, in the time of Costa Rica, once a night', async (t) => {
  const { setDir } = await setWithBackup(t, '2026-03-24T09:30:01Z')
  const { nightly, made, pass } = await openPlan(t, { dir: setDir })
  const last = new Date('2026-03-24T09:30:01.000Z')
  const nextRun = new Date('2026-03-25T09:30:00.000Z')
  const before = { lastRun: last, lastStatus: 'ok', lastVerified: undefined }
  assert.deepEqual(nightly.status(), { schedule: CRON, nextRun, ...before })
  nightly.start()
  await pass(30 * MINUTE, 96)
  assert.deepEqual(made, ['2026-03-25T09:30', '2026-03-26T09:30'])
  assert.deepEqual(nightly.status(), {
    schedule: CRON,
    nextRun: new Date('2026-03-27T09:30:00.000Z'),
    lastRun: new Date('2026-03-26T09:30:00.000Z'),
    lastStatus: 'ok',
    lastVerified: new Date('2026-03-26T09:30:00.000Z'),
  })
})

test('one that was missed, or the first of all, is made soon after the start', async (t) => {
  const { setDir } = await setWithBackup(t, '2026-03-23T09:30:01Z')
  for (const dir of [setDir, '/nowhere']) {
    const { nightly, made, pass } = await openPlan(t, { dir })
    assert.deepEqual(made, [])
    nightly.start()
    await pass(1000, 3)
    assert.deepEqual(made, ['2026-03-24T12:00'])
    await nightly.close()
    t.mock.timers.reset()
  }
})

test('after one that failed it is tried again each hour, and logged each time', async (t) => {
  const { nightly, made, pass, log, logged } = await openPlan(t, { answers: ['error', 'error'] })
  nightly.start()
  await pass(1000)
  assert.equal(nightly.status().lastStatus, 'error')
  assert.equal(nightly.status().nextRun?.toISOString(), '2026-03-24T13:00:01.000Z')
  await pass(30 * MINUTE, 8)
  assert.deepEqual(made, ['2026-03-24T12:00', '2026-03-24T13:00', '2026-03-24T14:00'])
  assert.equal(nightly.status().lastStatus, 'ok')
  log.flush()
  const failures = logged.join('').match(/"event":"backup failed".*"reason":"the disk is full"/g)
  assert.equal(failures?.length, 2)
})

test('a clock that is set back a day plans anew from there, and loses no night', async (t) => {
  const { setDir } = await setWithBackup(t, '2026-03-24T09:30:01Z')
  const { nightly, made, pass } = await openPlan(t, { dir: setDir })
  nightly.start()
  await pass(22 * HOUR)
  await pass(-24 * HOUR)
  await pass(HOUR, 30)
  assert.deepEqual(made, ['2026-03-25T10:00', '2026-03-25T10:00'])
})

test('the end of the server gives a backup up that is under way, and waits for that', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { nightly, pass, stopped } = await openPlan(t, { answers: [gate.promise] })
  nightly.start()
  await pass(1000)
  let closed = false
  const closing = nightly.close().then(() => {
    closed = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([stopped(), closed], [true, false])
  gate.resolve()
  await closing
})

/** A server's own backups of a real data directory, made at once. */
async function runOnce(t: TestContext, vault: Vault, now: string, keep = 2) {
  const logged: string[] = []
  const log = createLog({ level: 'debug', format: 'json', write: (text) => logged.push(text) })
  const clock = fixedClock(now).read
  const plan = { dir: vault.setDir, cron: '* * * * * *', keep, dataDir: vault.dataDir, clock, log }
  const nightly = await openNightlyBackup(plan)
  t.after(() => nightly.close())
  nightly.start()
  await until(() => nightly.status().lastRun?.getTime() === clock().getTime())
  await nightly.close()
  log.flush()
  const { lastStatus: status, lastVerified } = nightly.status()
  return { status, lastVerified, logged: logged.join('') }
}

test('which backup was verified last is known after a restart; a later fault does not hide it', async (t) => {
  const vault = await openVault(t, 'hola')
  await vault.backUp(new Date('2026-03-20T09:30:00Z'))
  const known = async () => {
    const { nightly } = await openPlan(t, { dir: vault.setDir })
    t.mock.timers.reset()
    return nightly.status().lastVerified
  }
  assert.equal(await known(), undefined, 'that one was made, and not read back')
  const good = new Date('2026-03-21T09:30:00Z')
  const { lastVerified } = await runOnce(t, vault, good.toISOString())
  assert.deepEqual([lastVerified, await known()], [good, good])
  writeFileSync(vault.place(hash('sha256', 'hola')), 'aloh') // in place, so that the set's hard link has it too
  const bad = await runOnce(t, vault, '2026-03-22T09:30:00Z')
  assert.deepEqual([bad.status, bad.lastVerified, await known()], ['error', good, good])
  rmSync(join(vault.setDir, '2026-03-21T09-30-00Z'), { recursive: true })
  assert.equal(await known(), undefined, 'it is gone')
  writeFileSync(join(vault.setDir, 'verified.json'), '{"backup":"../x","created_at":"now"}')
  assert.equal(await known(), undefined)
})

test('old backups go once a new one has been read back and is good', async (t) => {
  const vault = await openVault(t, 'hola')
  for (const day of [21, 22, 23]) {
    const { status, logged } = await runOnce(t, vault, `2026-03-${day}T09:30:00Z`)
    assert.equal(status, 'ok', logged)
    assert.match(logged, /"event":"backup made","backup":".*","database":\d+,"contents":1,"bytes":4,/)
  }
  assert.deepEqual(backupNames(vault.setDir), ['2026-03-22T09-30-00Z', '2026-03-23T09-30-00Z'])
  assert.deepEqual((await faultsIn(vault.setDir)).lines, [])
})

test('with a fault in the new one the old ones stay, and it is logged', async (t) => {
  const vault = await openVault(t, 'hola', 'adios')
  for (const day of [21, 22]) await runOnce(t, vault, `2026-03-${day}T09:30:00Z`)
  writeFileSync(vault.place(hash('sha256', 'hola')), 'aloh') // in place, so that the set's hard link has it too
  const { status, logged } = await runOnce(t, vault, '2026-03-23T09:30:00Z')
  assert.equal(status, 'error')
  assert.match(logged, /"event":"backup fault".*is altered/)
  assert.match(logged, /"event":"backup failed".*has 1 faults; no older one was removed/)
  assert.equal(backupNames(vault.setDir).length, 3)
})

test('what is altered in the set and right in the data directory is taken again, and is no failure', async (t) => {
  const vault = await openVault(t, 'hola', 'adios')
  for (const day of [21, 22]) await runOnce(t, vault, `2026-03-${day}T09:30:00Z`)
  const stored = vault.place(hash('sha256', 'hola'), vault.setDir)
  rmSync(stored) // a file of the set's own
  writeFileSync(stored, 'aloh')
  const { status, logged } = await runOnce(t, vault, '2026-03-23T09:30:00Z')
  assert.equal(status, 'ok')
  assert.match(logged, /"level":"warn","event":"backup mended","backup":".*","contents":1/)
  assert.doesNotMatch(logged, /"level":"error"/)
  assert.deepEqual(backupNames(vault.setDir), ['2026-03-22T09-30-00Z', '2026-03-23T09-30-00Z'])
  for (const name of backupNames(vault.setDir)) {
    assert.deepEqual((await faultsIn(join(vault.setDir, name))).lines, [])
  }
})

test('a set that another process writes to, or that is not mounted, is a failure that is logged', async (t) => {
  const vault = await openVault(t)
  const set = await openBackupSet(vault.setDir, vault.dataDir)
  const busy = await runOnce(t, vault, '2026-03-21T09:30:00Z')
  assert.match(busy.logged, /"reason":"another backup is being written to/)
  set.close()
  rmSync(vault.setDir, { recursive: true })
  const gone = { ...vault, setDir: join(vault.home, 'disk/set') }
  assert.match((await runOnce(t, gone, '2026-03-21T09:30:00Z')).logged, /is it mounted\?/)
  mkdirSync(join(vault.home, 'disk'))
  assert.equal((await runOnce(t, gone, '2026-03-21T10:30:00Z')).status, 'ok')
})

test('a clock that is nudged back neither repeats a backup nor puts off the retry of one that failed', async (t) => {
  const { nightly, pass, made } = await openPlan(t, { now: '2026-03-24T12:00:00Z', answers: ['error'] })
  nightly.start()
  await pass(1000)
  await pass(-2000)
  await pass(HOUR + MINUTE)
  assert.deepEqual(made, ['2026-03-24T12:00', '2026-03-24T13:00'])
  await pass(20 * HOUR + 29 * MINUTE + 2000)
  await pass(-3000)
  await pass(3000)
  assert.equal(made.length, 3)
})
