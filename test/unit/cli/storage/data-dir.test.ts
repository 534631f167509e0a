// A data directory that is a dangling link, such as to a disk that is not mounted.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

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
