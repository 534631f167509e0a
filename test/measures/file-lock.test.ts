// Time of a refusal: a lock of another process is not waited for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeFileLock } from '../../src/store/sqlite/lock.ts'
import { startScript } from '../support/other-process.ts'
import { temporaryDirectory } from '../support/temporary.ts'

test('a lock of another process is refused at once', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { firstLine } = await startScript(
    t,
    `
    import { takeFileLock } from './src/store/sqlite/lock.ts'
    const lock = takeFileLock(${JSON.stringify(dataDir)}, 'sync.lock')
    console.log(lock ? 'taken' : 'refused')
    setInterval(() => lock, 1000) // an unreachable lock would be collected and closed`,
  )
  assert.equal(firstLine, 'taken')
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now()
    assert.equal(takeFileLock(dataDir, 'sync.lock'), undefined)
    return performance.now() - began
  })
  assert.ok(Math.min(...times) < 1000, times.join()) // the fastest counts, because the machine may be busy
})
