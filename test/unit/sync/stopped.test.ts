// Syncs in separate processes against the fake bank: stopped, two at once. The clock of the program runs here, so the
// clock of the bank does too. test/faults/disks/power-cuts.test.ts has killed syncs.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Bank, type BankOptions, startBank } from '../../../src/demo/bank.ts'
import { selectRuns } from '../../../src/store/rates/sync-runs.ts'
import { addDays, currentDay } from '../../../src/values/dates.ts'
import { checkComplete } from '../../support/completeness.ts'
import { startProgram } from '../../support/program.ts'
import { ofSqlite, temporaryDatabase, temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

const today = () => currentDay(() => new Date())
const FLOOR = addDays(today(), -900)

async function openBank(t: TestContext, options: Partial<BankOptions> = {}): Promise<Bank> {
  const bank = await startBank({ token: 'test-token', today, ...options })
  t.after(() => bank.close())
  return bank
}

function startSync(t: TestContext, bank: Bank, dataDir: string) {
  const flags = ['--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0', '--backfill-from', FLOOR]
  return startProgram(t, ['sync', ...flags], { CAMBISTA_BCCR_TOKEN: 'test-token' })
}

function waitForRequests(bank: Bank, count: number): Promise<void> {
  return until(() => bank.requests.length >= count)
}

test(
  '`sync` is refused while another sync runs, and SIGTERM closes the record of the first',
  ofSqlite,
  async (t) => {
    const dataDir = temporaryDirectory(t)
    const bank = await openBank(t, { faults: ({ path }) => (path.includes('/318/') ? 'hang' : undefined) })
    const first = startSync(t, bank, dataDir)
    await waitForRequests(bank, 2)

    const second = startSync(t, bank, dataDir)
    assert.deepEqual([await second.waitForExit(), second.printed.out], [1, ''])
    assert.match(second.printed.err, new RegExp(`^cambista: a sync is already running on ${dataDir}$`, 'm'))

    first.child.kill('SIGTERM')
    assert.equal(await first.waitForExit(), 3)
    assert.match(first.printed.out, /^run 1: parcial, .*\n {2}interrupted: the program was stopped\n$/)
    const db = temporaryDatabase(t, dataDir)
    assert.equal((await selectRuns(db, { limit: 9 })).length, 1)
    await checkComplete(db)
  },
)
