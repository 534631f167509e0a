// A disk that is full at any moment of a backup or a restore: there is a whole new one or none, older ones stay as they
// are, and with room again the next one is made.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openList } from '../../../src/store/backup/manifest.ts'
import { backupNames } from '../../../src/store/backup/set.ts'
import { faultsIn, openVault } from '../../support/backups.ts'
import { startProgram } from '../../support/program.ts'
import { mountSmallDisk, PAGE } from '../../support/small-disk.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'

const DISK = 24 * 1024 ** 2
const STEP = scaled({ short: 8, long: 1 })
const FULL = /ENOSPC|disk (of \S+ )?is full/
const textsOf = (what: string) => Array.from({ length: 12 }, (_, at) => `${what} ${at} `.repeat(500))

test('a backup to a full disk fails in words, and leaves the older ones', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const vault = await openVault(t, ...textsOf('old'))
  const set = join(disk.dir, 'set')
  const command = (what: string, ...more: string[]) => runCommand(['backup', what, set, ...more])
  const create = () => command('create', '--data-dir', vault.dataDir)
  let failed = 0
  for (const before of [0, 1]) {
    if (before > 0) await vault.keep(...textsOf('new'))
    for (let pages = 0; ; pages += pages < 10 ? 1 : STEP) {
      const older = before > 0 ? backupNames(set) : []
      disk.leave(pages * PAGE)
      const { code, out, err } = await create()
      if (code === 0) break
      failed += 1
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
  for (const name of backupNames(set)) assert.deepEqual((await faultsIn(join(set, name))).lines, [])
  figure(t, 'backups to a full disk that failed', failed)
  assert.ok(failed > 8)
})

for (const [how, flags, done] of [
  ['a restore', [], 0],
  ['a restore without damaged contents', ['--without-damaged'], 3],
] as const) {
  test(`${how} to a full disk leaves nothing, and works once there is room`, async (t) => {
    const disk = mountSmallDisk(t, DISK)
    if ('reason' in disk) return t.skip(disk.reason)
    const texts = textsOf('kept')
    const vault = await openVault(t, ...texts)
    await vault.backUp()
    for (const text of done === 0 ? [] : texts.slice(0, 2)) {
      const path = vault.place(hash('sha256', text), vault.setDir)
      rmSync(path)
      writeFileSync(path, text.toUpperCase())
    }
    const dataDir = join(disk.dir, 'data')
    const restore = () => runCommand(['backup', 'restore', vault.setDir, ...flags, '--data-dir', dataDir])
    let failed = 0
    for (let pages = 0; ; pages += pages < 10 ? 1 : STEP) {
      disk.leave(pages * PAGE)
      const { code, out, err } = await restore()
      if (code === done) break
      failed += 1
      assert.deepEqual([code, out], [1, ''])
      assert.match(err, FULL)
      assert.match(err, /nothing was restored/)
      assert.deepEqual(readdirSync(disk.dir), ['filler'])
    }
    figure(t, 'restores to a full disk that failed', failed)
    assert.ok(failed > 4)
    for (const name of readdirSync(disk.dir)) rmSync(join(disk.dir, name), { recursive: true })
    disk.makeRoom()
    assert.equal((await restore()).code, done)
  })
}

test('a list of contents that has no room for the whole of a line says so', async (t) => {
  const disk = mountSmallDisk(t, 2 ** 20)
  if ('reason' in disk) return t.skip(disk.reason)
  disk.leave(PAGE)
  const list = await openList(disk.dir)
  t.after(() => list.close())
  const line = 146
  for (let at = 1; at <= Math.floor(PAGE / line); at += 1) await list.add('a'.repeat(64))
  await assert.rejects(list.add('b'.repeat(64)), { code: 'ENOSPC' })
})

test('a server whose backups find a full disk goes on, and makes the next one', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const { dataDir, db } = await openVault(t, ...textsOf('old'))
  await db.destroy()
  const set = join(disk.dir, 'set')
  const plan = ['--backup-dir', set, '--backup-cron', '* * * * * *']
  const words = ['serve', '--no-scheduler', '--port', '0', '--data-dir', dataDir, ...plan]
  const server = startProgram(t, words, {}, PROGRAM)
  const [, url] = await server.says(/url=(\S+)/)
  await server.says(/backup made/)
  disk.leave(0)
  await server.says(/backup failed .*(ENOSPC|disk is full)/)
  const names = backupNames(set)
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  disk.makeRoom()
  await until(() => /backup failed.*backup made/s.test(server.printed.err))
  server.child.kill('SIGTERM')
  assert.equal(await server.ended(), 0)
  const newest = backupNames(set)
  assert.ok((newest.at(-1) ?? '') > (names.at(-1) ?? ''))
  for (const name of newest) assert.deepEqual((await faultsIn(join(set, name))).lines, [])
})
