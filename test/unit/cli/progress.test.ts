import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { syncLine } from '../../../src/cli/commands/sync.ts'
import { createProgress, durationText } from '../../../src/cli/progress-line.ts'
import { startBank } from '../../../src/demo/bank.ts'
import { run } from '../../../src/main.ts'
import { addDays, currentDay } from '../../../src/values/dates.ts'
import { temporaryDirectory } from '../../support/app.ts'
import { TEST_PROVIDERS } from '../../support/providers.ts'

function openTerminal(interactive: boolean) {
  const printed: string[] = []
  const { signal } = new AbortController()
  const terminal = {
    env: {},
    out: () => {},
    err: (text: string) => void printed.push(text),
    providers: TEST_PROVIDERS,
    interactive,
    stop: signal,
  }
  return { terminal, printed }
}

test('progress on a terminal overwrites one line at most every 200 ms and removes it at the end', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const { terminal, printed } = openTerminal(true)
  const line = createProgress(terminal, { plainEveryMs: 10_000 })
  line.show('1')
  line.show('too soon')
  t.mock.timers.tick(200)
  line.show('2')
  line.clear()
  assert.deepEqual(printed, ['\r\x1b[2K1', '\r\x1b[2K2', '\r\x1b[2K'])
})

test('progress in a pipe prints a line every plainEveryMs, or none without it', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const { terminal, printed } = openTerminal(false)
  const lines = [createProgress(terminal, { plainEveryMs: 10_000 }), createProgress(terminal)]
  for (let second = 1; second <= 25; second++) {
    t.mock.timers.tick(1000)
    for (const line of lines) line.show(String(second))
  }
  for (const line of lines) line.clear()
  assert.deepEqual(printed, ['10\n', '20\n'])
})

test('durationText rounds up to seconds, minutes or hours', () => {
  const texts = [0, 1, 119_000, 119_001, 3_540_001, 3_600_001, 86_400_000].map(durationText)
  assert.deepEqual(texts, ['0 s', '1 s', '119 s', '2 min', '1 h 0 min', '1 h 1 min', '24 h 0 min'])
})

test('syncLine has percent, series, days and the time left', () => {
  const counts = { inserted: 1, updated: 0, unchanged: 0 }
  const window = { from: '1998-03-01', to: '1999-03-01' }
  const progress = {
    ...counts,
    window,
    group: '318',
    yearsRead: 27,
    requests: 37,
    requestsLeft: 63,
    msLeft: 129_000,
  }
  assert.equal(syncLine(progress), '37 %  318  1998-03-01 to 1999-03-01  3 min left')
  assert.equal(syncLine({ ...progress, requestsLeft: 0, msLeft: 0 }), '100 %  318  1998-03-01 to 1999-03-01')
})

/** Runs a sync of `days` with 2.5 s for each answer of the bank. Returns the lines on stderr. */
async function printedBySync(t: TestContext, { interactive, days }: { interactive: boolean; days: number }) {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-03-24T12:00:00Z') })
  const today = currentDay(() => new Date())
  const bank = await startBank({
    today: () => today,
    token: 'secret',
    faults: () => {
      t.mock.timers.tick(2500)
      return undefined
    },
  })
  t.after(() => bank.close())
  const { terminal, printed } = openTerminal(interactive)
  const dataDir = join(temporaryDirectory(t), 'data')
  const flags = ['--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0']
  const env = { CAMBISTA_BCCR_TOKEN: 'secret' }
  const words = ['sync', ...flags, '--backfill-from', addDays(today, -days)]
  assert.equal(await run(words, { ...terminal, env }), 0)
  return printed.filter((text) => !text.startsWith('data directory'))
}

test('`sync` of 1500 days in a pipe prints a line every ten seconds', async (t) => {
  const printed = await printedBySync(t, { interactive: false, days: 1500 })
  assert.ok(printed.length >= 4 && printed.length <= 8, `${printed.length} lines`)
  for (const line of printed) {
    assert.match(line, /^\d+ % {2}(317\/318|520) {2}\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d( {2}\d+ s left)?\n$/)
  }
})

test('`sync` of 10 days prints nothing in a pipe, and on a terminal a line that it removes', async (t) => {
  assert.deepEqual(await printedBySync(t, { interactive: false, days: 10 }), [])
  t.mock.timers.reset()
  const printed = await printedBySync(t, { interactive: true, days: 10 })
  assert.equal(printed[0]?.slice(0, 5), '\r\x1b[2K')
  assert.match(printed[0]?.slice(5) ?? '', /^66 % {2}317\/318 {2}.* s left$/)
  assert.equal(printed.at(-1), '\r\x1b[2K')
})
