// Commands on a data directory that is being moved, of another user, or a link to a missing disk.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { writeMovedNote } from '../../../../src/store/cluster/moved-note.ts'
import { openSqliteEngine } from '../../../../src/store/sqlite/sqlite-engine.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const NOBODY = 65534
/** More readings of the clock than a command has that is not locked out. */
const RETRIES = 100
const PROGRAM = join(ROOT, 'bin/cambista.ts')
const AS_NOBODY = { uid: NOBODY, gid: NOBODY, encoding: 'utf8' } as const

/** Reason for which no command runs as another user here. */
function whyNotAsNobody(): string | false {
  if (process.getuid?.() !== 0) return 'only root can run a command as another user'
  const end = spawnSync(process.execPath, ['-e', 'fs.readFileSync(process.argv[1])', PROGRAM], AS_NOBODY)
  return end.status !== 0 && `another user cannot read ${ROOT}`
}

test('commands of each kind reject a data directory that is a dangling link', async (t) => {
  const home = temporaryDirectory(t)
  const dataDir = join(home, 'data')
  symlinkSync('disk/cambista', dataDir)
  const expected = `cambista: ${dataDir} is a link to ${home}/disk/cambista, which is not there: is its disk mounted?\n`
  const lines = ['serve --port 0 --no-scheduler', 'key create erp', 'key list', 'export', 'doctor', 'sync']
  lines.push(`backup create ${home}/set`)
  for (const line of lines) {
    const end = await runCommand([...line.split(' '), '--data-dir', dataDir])
    assert.deepEqual([end.code, end.err], [1, expected], line)
  }
  assert.equal(existsSync(join(home, 'disk')), false)
  mkdirSync(join(home, 'disk/cambista'), { recursive: true })
  assert.equal((await runCommand(['key', 'create', 'erp', '--data-dir', dataDir])).code, 0)
})

test('commands of each kind name the owner of a directory of another user', {
  skip: whyNotAsNobody(),
}, async (t) => {
  const home = temporaryDirectory(t)
  const dataDir = join(home, 'data')
  chownSync(home, NOBODY, NOBODY)
  await runCommand(['key', 'create', 'erp', '--data-dir', dataDir])
  const lines = ['serve --port 0 --no-scheduler', 'key create a', 'key list', 'export', 'doctor', 'sync']
  lines.push('mcp', `backup create ${home}/set`)
  const expectErrors = (message: string, ...few: string[]) => {
    for (const line of few.length > 0 ? few : lines) {
      const words = [PROGRAM, ...line.split(' '), '--data-dir', dataDir]
      const env = { PATH: process.env.PATH, TMPDIR: home }
      const end = spawnSync(process.execPath, words, { ...AS_NOBODY, env, cwd: ROOT })
      assert.deepEqual([end.status, end.stderr], [1, `cambista: ${message}\n`], line)
    }
  }
  const gift = `use sudo, or give it to the user of the server (chown -R USER ${dataDir})`
  expectErrors(`${dataDir} may not be read by this user: it belongs to root: ${gift}`)
  chownSync(dataDir, NOBODY, NOBODY)
  expectErrors(`${dataDir}/cambista.db may not be read by this user: it belongs to root: ${gift}`, 'key list')
  chownSync(dataDir, 1, 1)
  const other = 'it belongs to user 1: run cambista as that user, or use sudo'
  expectErrors(`${dataDir} may not be read by this user: ${other}`, 'key list')
})

test('commands change nothing during a move, and one that waited for its end names the new place', async (t) => {
  const dataDir = temporaryDirectory(t)
  const run = (line: string) => runCommand([...line.split(' '), '--data-dir', dataDir])
  await run('key create erp')
  const source = await openSqliteEngine(dataDir, { server: true, mustExist: true, isMoving: true })
  t.after(() => source.close())
  const refused = await run('key revoke erp')
  assert.deepEqual([refused.code, refused.err], [1, 'cambista: database is locked\n'])
  const { mock: clock } = t.mock.method(performance, 'now', () => 0) // the patience of the command never ends
  const waiting = run('key revoke erp')
  while (clock.callCount() < RETRIES) await setImmediate()
  await writeMovedNote(dataDir, { to: 'database', at: new Date(), epoch: 'e' })
  await source.close()
  const late = await waiting
  assert.equal(late.code, 1)
  assert.match(late.err, /are in database since .+Serve them with --database/)
})
