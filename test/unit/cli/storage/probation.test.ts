// The record of an upgrade: who is on probation, what is refused, and what decides.

import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { awaitDecision, findProbation, refuseOnProbation } from '../../../../src/cli/storage/probation.ts'
import { run } from '../../../../src/main.ts'
import { VERSION } from '../../../../src/runtime/assets.ts'
import { takeFileLock } from '../../../../src/store/sqlite/lock.ts'
import { openSqliteEngine } from '../../../../src/store/sqlite/sqlite-engine.ts'
import { emptyOlderSchema, OLDEST_SCHEMA } from '../../../support/older-schema.ts'
import { TEST_PROVIDERS } from '../../../support/providers.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

const NEVER = new AbortController().signal

/** Makes the directory of a service's settings, with a record of an upgrade to a version. */
function settingsWithRecord(t: TestContext, version = VERSION) {
  const folder = temporaryDirectory(t)
  const record = join(folder, 'probation.json')
  const program = { version, commit: null, schema: 13 }
  const upgrader = { pid: 1, startTime: '-' }
  writeFileSync(record, JSON.stringify({ program, former: program, copies: [], starts: 1, upgrader }))
  return { settingsFile: join(folder, 'cambista.env'), record, returned: join(folder, 'probation.back.json') }
}

test('the new program is on probation, wherever its data are, and another program is not', (t) => {
  const { settingsFile, record } = settingsWithRecord(t)
  assert.equal(findProbation(settingsFile), record)
  assert.equal(findProbation(settingsWithRecord(t, '0.0.1').settingsFile), undefined)
  assert.equal(findProbation(undefined), undefined)
  rmSync(record)
  assert.equal(findProbation(settingsFile), undefined)
})

test('commands of each version that change data are refused until the upgrade is decided', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  mkdirSync(dataDir)
  let keys = 0
  const createKey = async (settingsFile: string) => {
    let err = ''
    const code = await run(['key', 'create', `key ${++keys}`, '--data-dir', dataDir], {
      ...{ env: {}, providers: TEST_PROVIDERS, settingsFile, out: () => {}, interactive: false, stop: NEVER },
      err: (text) => {
        err += text
      },
    })
    return { code, err }
  }
  for (const version of [VERSION, '0.0.1']) {
    const { settingsFile, record, returned } = settingsWithRecord(t, version)
    const message = new RegExp(
      `the upgrade to cambista ${version} is not confirmed yet, and nothing may be written`,
    )
    const first = await createKey(settingsFile)
    assert.equal(first.code, 1)
    assert.match(first.err, message)
    renameSync(record, returned)
    assert.match((await createKey(settingsFile)).err, message)
    rmSync(returned)
    assert.equal((await createKey(settingsFile)).code, 0)
    assert.doesNotThrow(() => refuseOnProbation(settingsFile))
  }
})

test('the removal of the record confirms, and its renaming or a stop does not', async (t) => {
  const confirmed = settingsWithRecord(t)
  rmSync(confirmed.record)
  assert.equal(await awaitDecision(confirmed.record, NEVER), true)
  const { record, returned } = settingsWithRecord(t)
  const decision = awaitDecision(record, NEVER)
  renameSync(record, returned)
  assert.equal(await decision, false)
  const stop = new AbortController()
  stop.abort()
  assert.equal(await awaitDecision(settingsWithRecord(t).record, stop.signal), false)
})

test('a command does not upgrade a database that a server of another version uses', async (t) => {
  const dataDir = temporaryDirectory(t)
  emptyOlderSchema(dataDir).close()
  const lock = takeFileLock(dataDir, 'serve.lock')
  const expected = new RegExp(
    `has schema version ${OLDEST_SCHEMA}, which its server of another version uses: restart`,
  )
  await assert.rejects(openSqliteEngine(dataDir), expected)
  lock?.release()
  await (await openSqliteEngine(dataDir)).close()
})
