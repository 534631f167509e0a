// Runs over indicators in processes that are killed at random moments, or stopped by SIGTERM. A window is stored whole or
// not at all. The next run closes the record of a dead one, and requests no stored window again.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startBank } from '../../src/demo/bank.ts'
import { selectIndicatorRuns } from '../../src/store/indicators/runs.ts'
import { selectAllIndicatorValues, selectIndicatorCoverage } from '../../src/store/indicators/values.ts'
import { selectRuns } from '../../src/store/rates/sync-runs.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { findDatabaseFaults } from '../../src/store/sqlite/database-copy.ts'
import { addDays, currentDay } from '../../src/values/dates.ts'
import { startProgram } from '../support/program.ts'
import { listDays } from '../support/rates/memory-bank.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { runCommand, until } from '../support/terminal.ts'
import { figure, PROGRAM, scaled } from './scale.ts'

const KILLS = scaled({ short: 3, long: 30 })
const MOST_WINDOWS = 3 // before a kill
const WINDOW_MS = 400
const TOKEN = 'test-token'
const DAYS = 15

const today = () => currentDay(() => new Date(), 'America/Costa_Rica')

const DAY_MS = 86_400_000
const MIDNIGHT_MS = 6 * 3_600_000 // in Costa Rica, after that of UTC
const LONGEST_MS = scaled({ short: 120_000, long: 600_000 })

/** Waits for a midnight that is near: programs of the next day request the newest days again. */
async function passMidnight(): Promise<void> {
  const remainingMs = DAY_MS - ((Date.now() - MIDNIGHT_MS) % DAY_MS)
  if (remainingMs < LONGEST_MS) await wait(remainingMs)
}

/** A bank with indicators, and a data directory in which they are enabled. History is read in no round. */
async function openWorld(t: TestContext, count: number) {
  await passMidnight()
  const codes = Array.from({ length: count }, (_, at) => String(900_001 + at))
  const indicators = codes.map((code) => ({ code, name: `Indicador ${code}` }))
  const bank = await startBank({
    ...{ token: TOKEN, today, indicators },
    value: (code, day) => (code.startsWith('900') && day <= today() ? `1${code.slice(-2)}.25` : undefined),
  })
  t.after(() => bank.close())
  const dir = temporaryDirectory(t)
  const dataDir = join(dir, 'data')
  const tokenFile = join(dir, 'token')
  writeFileSync(tokenFile, TOKEN, { mode: 0o600 })
  const words = [
    ...['sync', '--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '20'],
    ...['--bccr-token-file', tokenFile, '--backfill-from', addDays(today(), -20)],
  ]
  const first = await runCommand(words)
  assert.equal(first.code, 0, first.err)
  const enabled = ['indicator', 'enable', ...codes, '--from', today(), '--data-dir', dataDir]
  assert.equal((await runCommand(enabled)).code, 0)
  const requestedCodes = () =>
    bank.requests.flatMap(({ path }) => /indicadoresEconomicos\/(900\d+)\/series/.exec(path)?.[1] ?? [])
  return { codes, dataDir, words, bank, requestedCodes }
}

type World = Awaited<ReturnType<typeof openWorld>>

/** Starts a sync, and sends a signal at a moment within its next windows. Returns the exit. */
async function interrupt(t: TestContext, world: World, signal: NodeJS.Signals, random: () => number) {
  const program = startProgram(t, world.words, {}, PROGRAM)
  const before = world.requestedCodes().length
  const windows = 1 + Math.floor(random() * MOST_WINDOWS)
  await until(() => world.requestedCodes().length >= before + windows || program.child.exitCode !== null)
  await wait(random() * WINDOW_MS)
  program.child.kill(signal)
  return program.waitForExit()
}

/** Asserts that each indicator has all values of its window and their coverage, or none. Returns those that have. */
async function storedCodes({ codes, dataDir }: World): Promise<string[]> {
  const db = openDatabase(dataDir)
  try {
    assert.deepEqual(await findDatabaseFaults(db, { inPieces: false }), [])
    const covered = await selectIndicatorCoverage(db)
    const codesWithValues: string[] = []
    for (const code of codes) {
      const values = await selectAllIndicatorValues(db, code)
      assert.equal(values.length > 0, covered.has(code), `${code}: values and coverage are one transaction`)
      if (values.length === 0) continue
      const [first, last] = [values[0]?.value_date ?? '', values.at(-1)?.value_date ?? '']
      assert.deepEqual(
        values.map(({ value_date }) => value_date),
        listDays(first, last),
      )
      assert.ok(values.length >= DAYS - 1, `${code}: ${values.length} values`)
      assert.ok(values.every(({ value }) => value === `1${code.slice(-2)}.25`))
      codesWithValues.push(code)
    }
    return codesWithValues
  } finally {
    await db.destroy()
  }
}

async function runRecords({ dataDir }: World) {
  const db = openDatabase(dataDir)
  try {
    return { own: await selectIndicatorRuns(db, 1000), rates: await selectRuns(db, { limit: 1000 }) }
  } finally {
    await db.destroy()
  }
}

test(`${KILLS} kills of a run over indicators leave whole windows, and nothing is requested twice`, async (t) => {
  const { next: random } = createRandom(SEED)
  figure(t, 'seed', SEED)
  const world = await openWorld(t, KILLS * (MOST_WINDOWS + 1) + 10)
  let previous: string[] = []
  let interrupted = 0
  for (let kill = 1; kill <= KILLS; kill += 1) {
    assert.equal(await interrupt(t, world, 'SIGKILL', random), 'SIGKILL', 'the run had not ended')
    const codesWithValues = await storedCodes(world)
    assert.ok(
      previous.every((code) => codesWithValues.includes(code)),
      'what was stored stays',
    )
    assert.ok(
      codesWithValues.length > previous.length ||
        kill === 1 ||
        world.requestedCodes().length > codesWithValues.length,
    )
    previous = codesWithValues
    const { own } = await runRecords(world)
    if (own[0]?.finished_at === null) interrupted += 1
    assert.ok(
      own.slice(1).every(({ finished_at }) => finished_at !== null),
      'one record is open at most',
    )
  }
  const last = await runCommand(world.words)
  assert.equal(last.code, 0, last.err)
  assert.deepEqual(await storedCodes(world), world.codes)
  const requests = world.requestedCodes()
  const wasted = requests.length - new Set(requests).size
  figure(t, 'kills in an open run', interrupted)
  figure(t, 'requests that were made twice', wasted)
  assert.ok(wasted <= KILLS, `${wasted}: only the window of a kill is requested again`)
  assert.ok(interrupted > 0)
  const { own, rates } = await runRecords(world)
  assert.deepEqual([own[0]?.status, own[0]?.message], ['ok', null])
  const dead = own.filter(({ message }) => message === 'interrupted')
  assert.equal(dead.length, interrupted)
  assert.ok(own.every(({ finished_at }) => finished_at !== null))
  assert.ok(
    rates.every(({ status }) => status === 'ok'),
    'the runs of the rates ended before',
  )
})

test('SIGTERM ends a run over indicators between two windows, and loses nothing', async (t) => {
  const { next: random } = createRandom(SEED + 1)
  const world = await openWorld(t, 20)
  const exit = await interrupt(t, world, 'SIGTERM', random)
  assert.notEqual(exit, 'SIGKILL')
  const codesWithValues = await storedCodes(world)
  const answered = new Set(world.requestedCodes())
  assert.ok(
    codesWithValues.length >= answered.size - 1,
    `${codesWithValues.length} of ${answered.size} answered windows`,
  )
  const { own } = await runRecords(world)
  assert.deepEqual([own[0]?.status, own[0]?.message], ['parcial', 'stopped, goes on later'])
  assert.equal(own[0]?.inserted, codesWithValues.length * listDays(addDays(today(), -14), today()).length)
  assert.equal((await runCommand(world.words)).code, 0)
  assert.deepEqual(await storedCodes(world), world.codes)
  const requests = world.requestedCodes()
  assert.ok(requests.length - new Set(requests).size <= 1)
})
