// A disk that fills up at any moment of a backup or a restore. A new one is whole or absent, older ones stay
// unchanged, and with room again the next one succeeds.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openList } from '../../../src/domain/operations/backup/manifest.ts'
import { backupNames } from '../../../src/domain/operations/backup/set.ts'
import { checkBackup, openBackupSource } from '../../support/backups.ts'
import { startProgram } from '../../support/program.ts'
import { mountSmallDisk, PAGE } from '../../support/small-disk.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'

const DISK = 24 * 1024 ** 2
const STEP = scaled({ short: 20, long: 1 })
const FULL = /ENOSPC|disk (of \S+ )?is full/
const makeTexts = (prefix: string) => Array.from({ length: 12 }, (_, at) => `${prefix} ${at} `.repeat(500))

test('`backup create` on a full disk fails with the reason, and leaves older backups unchanged', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const source = await openBackupSource(t, ...makeTexts('old'))
  const set = join(disk.dir, 'set')
  const command = (name: string, ...options: string[]) => runCommand(['backup', name, set, ...options])
  const create = () => command('create', '--data-dir', source.dataDir)
  let failures = 0
  for (const before of [0, 1]) {
    if (before > 0) await source.storeTexts(...makeTexts('new'))
    for (let pages = 0; ; pages += pages < 10 ? 1 : STEP) {
      const older = before > 0 ? backupNames(set) : []
      disk.leaveFree(pages * PAGE)
      const { code, out, err } = await create()
      if (code === 0) break
      failures += 1
      assert.deepEqual([code, out], [1, ''])
      assert.match(err, FULL, `${pages} pages`)
      assert.match(err, /^cambista: .*set.*\n$/)
      if (existsSync(set)) {
        assert.deepEqual(backupNames(set), older)
        assert.deepEqual(
          readdirSync(set).filter((name) => /^\.unfinished-\d/.test(name)),
          [],
        )
      }
      const verified = await command('verify')
      assert.equal(verified.code, before > 0 ? 0 : 1, verified.err)
      if (before === 0 && existsSync(set)) assert.match(verified.err, /there is no finished backup/)
    }
    disk.makeRoom()
    assert.equal((await create()).code, 0)
    assert.equal((await command('verify')).code, 0)
    assert.match(
      readFileSync(join(set, 'README.txt'), 'utf8'),
      /cambista\.db and, beside it, of blobs\/\.\n$/,
    )
  }
  for (const name of backupNames(set)) assert.deepEqual((await checkBackup(join(set, name))).lines, [])
  figure(t, 'backups to a full disk that failed', failures)
  assert.ok(failures > 8)
})

for (const [title, flags, exitCode] of [
  ['a restore', [], 0],
  ['a restore without damaged contents', ['--without-damaged'], 3],
] as const) {
  test(`${title} to a full disk leaves nothing, and succeeds once there is room`, async (t) => {
    const disk = mountSmallDisk(t, DISK)
    if ('reason' in disk) return t.skip(disk.reason)
    const texts = makeTexts('kept')
    const source = await openBackupSource(t, ...texts)
    await source.backUp()
    for (const text of exitCode === 0 ? [] : texts.slice(0, 2)) {
      const path = source.blobPath(hash('sha256', text), source.setDir)
      rmSync(path)
      writeFileSync(path, text.toUpperCase())
    }
    const dataDir = join(disk.dir, 'data')
    const restore = () => runCommand(['backup', 'restore', source.setDir, ...flags, '--data-dir', dataDir])
    let failures = 0
    for (let pages = 0; ; pages += pages < 10 ? 1 : STEP) {
      disk.leaveFree(pages * PAGE)
      const { code, out, err } = await restore()
      if (code === exitCode) break
      failures += 1
      assert.deepEqual([code, out], [1, ''])
      assert.match(err, FULL)
      assert.match(err, /nothing was restored/)
      assert.deepEqual(readdirSync(disk.dir), ['filler'])
    }
    figure(t, 'restores to a full disk that failed', failures)
    assert.ok(failures > 4)
    for (const name of readdirSync(disk.dir)) rmSync(join(disk.dir, name), { recursive: true })
    disk.makeRoom()
    assert.equal((await restore()).code, exitCode)
  })
}

test('a list of contents rejects a line that has no room with ENOSPC', async (t) => {
  const disk = mountSmallDisk(t, 2 ** 20)
  if ('reason' in disk) return t.skip(disk.reason)
  disk.leaveFree(PAGE)
  const list = await openList(disk.dir)
  t.after(() => list.close())
  const line = 146
  for (let at = 1; at <= Math.floor(PAGE / line); at += 1) await list.add('a'.repeat(64))
  await assert.rejects(list.add('b'.repeat(64)), { code: 'ENOSPC' })
})

test('a server whose backup meets a full disk stays ready, and makes the next backup', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const { dataDir, db } = await openBackupSource(t, ...makeTexts('old'))
  await db.destroy()
  const set = join(disk.dir, 'set')
  const backupOptions = ['--backup-dir', set, '--backup-cron', '* * * * * *']
  const args = ['serve', '--no-scheduler', '--port', '0', '--data-dir', dataDir, ...backupOptions]
  const server = startProgram(t, args, {}, PROGRAM)
  const [, url] = await server.waitForOutput(/url=(\S+)/)
  await server.waitForOutput(/backup made/)
  disk.leaveFree(0)
  await server.waitForOutput(/backup failed .*(ENOSPC|disk is full)/)
  const names = backupNames(set)
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  disk.makeRoom()
  await until(() => /backup failed.*backup made/s.test(server.printed.err))
  server.child.kill('SIGTERM')
  assert.equal(await server.waitForExit(), 0)
  const newest = backupNames(set)
  assert.ok((newest.at(-1) ?? '') > (names.at(-1) ?? ''))
  for (const name of newest) assert.deepEqual((await checkBackup(join(set, name))).lines, [])
})
