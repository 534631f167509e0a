// A disk of the data directory without a byte left: the data can still be looked at and taken off to another disk,
// whether a server runs, was stopped, or was killed and left its log.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { addDays, todayIn } from '../../../src/dates.ts'
import { startBank } from '../../../src/demo/bank.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { startProgram } from '../../support/program.ts'
import { mountSmallDisk, type SmallDisk } from '../../support/small-disk.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'

const DISK = 24 * 1024 ** 2
const LISTS = ['key list', 'token list', 'company list', 'document list', 'series list', 'directory export']

/** A disk with a data directory of a week of rates and a key. */
async function openDisk(t: TestContext): Promise<(SmallDisk & { dataDir: string }) | { reason: string }> {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return disk
  const dataDir = join(disk.dir, 'data')
  const today = todayIn(() => new Date())
  const bank = await startBank({ token: 'secret', today: () => today })
  t.after(() => bank.close())
  const from = ['--from', addDays(today, -7), '--bccr-url', bank.url, '--bccr-pace', '0']
  const synced = await runCommand(['sync', '--data-dir', dataDir, ...from], { CAMBISTA_BCCR_TOKEN: 'secret' })
  assert.equal(synced.code, 0, synced.err)
  await runCommand(['key', 'create', 'erp', '--data-dir', dataDir])
  return { ...disk, dataDir }
}

/** Takes everything off, and returns the exported rates. */
async function takeOff(t: TestContext, dataDir: string): Promise<string> {
  const other = temporaryDirectory(t)
  const at = ['--data-dir', dataDir]
  const well = async (...words: string[]) => {
    const end = await runCommand([...words, ...at])
    assert.equal(end.code, 0, `${words.join(' ')}: ${end.err}`)
    return end.out
  }
  await well('export', join(other, 'rates.csv'))
  await well('backup', 'create', join(other, 'set'))
  for (const words of LISTS) await well(...words.split(' '))
  const doctor = await runCommand(['doctor', '--json', ...at])
  const checks = JSON.parse(doctor.out).findings.map(({ check }: { check: string }) => check)
  assert.deepEqual(checks, ['space'], doctor.out)
  const verified = await runCommand(['backup', 'verify', join(other, 'set')])
  assert.equal(verified.code, 0, verified.err)
  return readFileSync(join(other, 'rates.csv'), 'utf8')
}

test('beside no server, export, backup create, lists and doctor work on a full disk', async (t) => {
  const disk = await openDisk(t)
  if ('reason' in disk) return t.skip(disk.reason)
  const before = await takeOffWithRoom(t, disk)
  disk.leave(0)
  assert.deepEqual(await takeOff(t, disk.dataDir), before)
  const made = await runCommand(['key', 'create', 'other', '--data-dir', disk.dataDir])
  assert.equal(made.code, 1)
  assert.match(made.err, /the disk of \S+ is full: make room on it/)
  disk.makeRoom()
  assert.equal((await runCommand(['key', 'create', 'other', '--data-dir', disk.dataDir])).code, 0)
  assert.deepEqual(await takeOffWithRoom(t, disk), before)
})

test('beside a server they work on a full disk, and the server goes on', async (t) => {
  const disk = await openDisk(t)
  if ('reason' in disk) return t.skip(disk.reason)
  const before = await takeOffWithRoom(t, disk)
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', disk.dataDir]
  const server = startProgram(t, words)
  const [, url] = await server.says(/listening url=(\S+)/)
  disk.leave(0)
  assert.deepEqual(await takeOff(t, disk.dataDir), before)
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
})

test('the log of a process that was killed is read on a full disk, with its index and without', async (t) => {
  const disk = await openDisk(t)
  if ('reason' in disk) return t.skip(disk.reason)
  for (const isWithoutIndex of [false, true]) {
    const name = `late ${isWithoutIndex}`
    const killed = startProgram(t, ['-e', WRITE_AND_STAY, disk.dataDir, name], {}, [process.execPath])
    await killed.says(/written/)
    killed.child.kill('SIGKILL')
    await killed.ended()
    const left: string[] = readdirSync(disk.dataDir)
    assert.ok(left.includes('cambista.db-wal') && left.includes('cambista.db-shm'), left.join())
    if (isWithoutIndex) rmSync(join(disk.dataDir, 'cambista.db-shm'))
    disk.leave(0)
    await takeOff(t, disk.dataDir)
    const { out } = await runCommand(['key', 'list', '--data-dir', disk.dataDir])
    assert.match(out, new RegExp(name), 'what was committed is in the log alone')
    disk.makeRoom()
  }
  await openDatabase(disk.dataDir).destroy()
})

/** Commits to the log, which no checkpoint puts into the database, and stays. */
const WRITE_AND_STAY = `
  const Sqlite = require('better-sqlite3')
  const [dataDir, name] = process.argv.slice(1)
  const sqlite = new Sqlite(dataDir + '/cambista.db')
  sqlite.pragma('wal_autocheckpoint = 0')
  sqlite.prepare('update api_keys set name = ?').run(name)
  console.log('written')
  setInterval(() => {}, 1000)`

async function takeOffWithRoom(t: TestContext, disk: { dataDir: string }): Promise<string> {
  const file = join(temporaryDirectory(t), 'rates.csv')
  assert.equal((await runCommand(['export', file, '--data-dir', disk.dataDir])).code, 0)
  return readFileSync(file, 'utf8')
}
