// Syncs in processes of their own against the stand-in bank: killed in the middle, stopped, two at once. The
// program's own clock runs here, so that the bank's does too.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { addDays, todayIn } from '../../src/dates.ts'
import { type Bank, type BankOptions, startBank } from '../../src/demo/bank.ts'
import { inventedValue } from '../../src/demo/invented-rates.ts'
import { selectCoverage } from '../../src/store/feeds.ts'
import { selectRatesOfSeries } from '../../src/store/rates.ts'
import { selectSeries } from '../../src/store/series.ts'
import { selectRuns } from '../../src/store/sync-runs.ts'
import type { Db } from '../../src/store/tables.ts'
import { temporaryDatabase, temporaryDirectory } from '../support/ground.ts'
import { daysFrom } from '../support/paper-bank.ts'
import { randomOf } from '../support/random-bank.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/cambista.ts')
const today = () => todayIn(() => new Date())
const FLOOR = addDays(today(), -900)

async function openBank(t: TestContext, options: Partial<BankOptions> = {}): Promise<Bank> {
  const bank = await startBank({ token: 'test-token', today, ...options })
  t.after(() => bank.close())
  return bank
}

function startSync(t: TestContext, bank: Bank, dataDir: string) {
  const flags = ['--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0', '--backfill-from', FLOOR]
  const child = spawn(process.execPath, [PROGRAM, 'sync', ...flags], {
    env: { ...process.env, CAMBISTA_BCCR_TOKEN: 'test-token' },
  })
  t.after(() => child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.on('data', (text) => {
    out += text
  })
  child.stderr.on('data', (text) => {
    err += text
  })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }))
  return { child, ended }
}

async function asked(bank: Bank, count: number): Promise<void> {
  while (bank.requests.length < count) await wait(5)
}

/** Every stored value lies in what is covered, and what is covered is stored, to the day. */
async function checkWhole(db: Db): Promise<number> {
  const coverage = await selectCoverage(db)
  let count = 0
  for (const { id, external_code: code } of await selectSeries(db)) {
    const stored = new Map((await selectRatesOfSeries(db, id)).map((row) => [row.rate_date, row.value]))
    const { from, to } = coverage.get(id) ?? { from: '9', to: '0' }
    const expected = daysFrom(from, to).filter((day) => inventedValue(code, day) !== undefined)
    assert.deepEqual([...stored.keys()], expected, `${code} from ${from} to ${to}`)
    for (const [day, value] of stored) assert.equal(value, inventedValue(code, day), `${code} on ${day}`)
    count += stored.size
  }
  return count
}

test('a sync that is killed leaves whole chunks, and the next ones go on where it stood', async (t) => {
  const random = randomOf(7)
  const dataDir = temporaryDirectory(t)
  const bank = await openBank(t)
  const db = temporaryDatabase(t, dataDir)
  let before = 0
  for (const requests of [1, 3, 5, 4]) {
    bank.requests.length = 0
    const { child, ended } = startSync(t, bank, dataDir)
    await asked(bank, requests)
    await wait(random.int(0, 15))
    child.kill('SIGKILL')
    assert.equal((await ended).code, null)
    const [open, ...others] = await selectRuns(db, { limit: 9 })
    assert.deepEqual([open?.status, open?.message, open?.finished_at], ['error', 'in progress', null])
    for (const run of others) assert.deepEqual([run.status, run.message], ['error', 'interrupted'])
    const count = await checkWhole(db)
    assert.ok(count >= before)
    before = count
  }

  const { code, out } = await startSync(t, bank, dataDir).ended
  assert.equal(code, 0, out)
  const [last, ...dead] = await selectRuns(db, { limit: 9 })
  assert.equal(last?.status, 'ok')
  assert.equal(dead.length, 4)
  for (const run of dead) assert.ok(run.message === 'interrupted' && run.finished_at !== null)
  assert.ok((await checkWhole(db)) > before)
  for (const { first_data_date } of await selectSeries(db)) {
    assert.ok(first_data_date !== null && first_data_date <= addDays(FLOOR, 3))
  }
})

test('of two syncs at once the second is refused with a clear line, and SIGTERM ends the first in order', async (t) => {
  const dataDir = temporaryDirectory(t)
  const bank = await openBank(t, { faults: ({ path }) => (path.includes('/318/') ? 'hang' : undefined) })
  const first = startSync(t, bank, dataDir)
  await asked(bank, 2)

  const second = await startSync(t, bank, dataDir).ended
  assert.deepEqual([second.code, second.out], [1, ''])
  assert.match(second.err, new RegExp(`^cambista: a sync is already running on ${dataDir}$`, 'm'))

  first.child.kill('SIGTERM')
  const { code, out } = await first.ended
  assert.equal(code, 3)
  assert.match(out, /^run 1: parcial, .*\n {2}interrupted: the program was stopped\n$/)
  const db = temporaryDatabase(t, dataDir)
  assert.equal((await selectRuns(db, { limit: 9 })).length, 1)
  await checkWhole(db)
})
