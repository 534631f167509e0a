// A full disk of the data directory. The data can still be read and copied to another disk. A server runs, was
// stopped, or was killed and left its log.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { startProgram } from '../../support/program.ts'
import { openRatesDisk } from '../../support/rates-disk.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'

const LISTS = ['key list', 'token list', 'company list', 'document list', 'series list', 'directory export']

/** Copies everything to another disk, and returns the exported rates. */
async function copyAll(t: TestContext, dataDir: string): Promise<string> {
  const other = temporaryDirectory(t)
  const dataOption = ['--data-dir', dataDir]
  const runOrFail = async (...words: string[]) => {
    const result = await runCommand([...words, ...dataOption])
    assert.equal(result.code, 0, `${words.join(' ')}: ${result.err}`)
    return result.out
  }
  await runOrFail('export', join(other, 'rates.csv'))
  await runOrFail('backup', 'create', join(other, 'set'))
  for (const words of LISTS) await runOrFail(...words.split(' '))
  const doctor = await runCommand(['doctor', '--json', ...dataOption])
  const checks = JSON.parse(doctor.out).findings.map(({ check }: { check: string }) => check)
  assert.deepEqual(checks, ['space'], doctor.out)
  const verified = await runCommand(['backup', 'verify', join(other, 'set')])
  assert.equal(verified.code, 0, verified.err)
  return readFileSync(join(other, 'rates.csv'), 'utf8')
}

test('export, `backup create`, lists and doctor work on a full disk without a server', async (t) => {
  const disk = await openRatesDisk(t)
  if ('reason' in disk) return t.skip(disk.reason)
  const before = await exportWithRoom(t, disk)
  disk.leaveFree(0)
  assert.deepEqual(await copyAll(t, disk.dataDir), before)
  const creation = await runCommand(['key', 'create', 'other', '--data-dir', disk.dataDir])
  assert.equal(creation.code, 1)
  assert.match(creation.err, /the disk of \S+ is full: make room on it/)
  disk.makeRoom()
  assert.equal((await runCommand(['key', 'create', 'other', '--data-dir', disk.dataDir])).code, 0)
  assert.deepEqual(await exportWithRoom(t, disk), before)
})

test('export, `backup create`, lists and doctor work on a full disk beside a server, which stays ready', async (t) => {
  const disk = await openRatesDisk(t)
  if ('reason' in disk) return t.skip(disk.reason)
  const before = await exportWithRoom(t, disk)
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', disk.dataDir]
  const server = startProgram(t, words)
  const [, url] = await server.waitForOutput(/listening url=(\S+)/)
  disk.leaveFree(0)
  assert.deepEqual(await copyAll(t, disk.dataDir), before)
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
})

test('the log of a killed process is read on a full disk, with its index and without', async (t) => {
  const disk = await openRatesDisk(t)
  if ('reason' in disk) return t.skip(disk.reason)
  for (const isWithoutIndex of [false, true]) {
    const name = `late ${isWithoutIndex}`
    const killed = startProgram(t, ['-e', WRITE_AND_STAY, disk.dataDir, name], {}, [process.execPath])
    await killed.waitForOutput(/written/)
    killed.child.kill('SIGKILL')
    await killed.waitForExit()
    const files: string[] = readdirSync(disk.dataDir)
    assert.ok(files.includes('cambista.db-wal') && files.includes('cambista.db-shm'), files.join())
    if (isWithoutIndex) rmSync(join(disk.dataDir, 'cambista.db-shm'))
    disk.leaveFree(0)
    await copyAll(t, disk.dataDir)
    const { out } = await runCommand(['key', 'list', '--data-dir', disk.dataDir])
    assert.match(out, new RegExp(name), 'the commit is in the log alone')
    disk.makeRoom()
  }
  await openDatabase(disk.dataDir).destroy()
})

/** Commits to the log without a checkpoint, and runs until it is killed. */
const WRITE_AND_STAY = `
  const Sqlite = require('better-sqlite3')
  const [dataDir, name] = process.argv.slice(1)
  const sqlite = new Sqlite(dataDir + '/cambista.db')
  sqlite.pragma('wal_autocheckpoint = 0')
  sqlite.prepare('update api_keys set name = ?').run(name)
  console.log('written')
  setInterval(() => {}, 1000)`

async function exportWithRoom(t: TestContext, disk: { dataDir: string }): Promise<string> {
  const file = join(temporaryDirectory(t), 'rates.csv')
  assert.equal((await runCommand(['export', file, '--data-dir', disk.dataDir])).code, 0)
  return readFileSync(file, 'utf8')
}
