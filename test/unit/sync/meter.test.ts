// Progress of a run, with a bank in memory.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FetchFailure } from '../../../src/providers/provider.ts'
import type { HistoryProgress, RunProgress } from '../../../src/sync/progress.ts'
import { type SyncRequest, syncAll } from '../../../src/sync/run.ts'
import { openDesk } from '../../support/rates/memory-bank.ts'

const FLOOR = '2016-03-26' // ten years

/** Opens a desk whose runs collect their progress after each stored answer. */
async function openWatchedDesk(t: TestContext) {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  let history: (() => HistoryProgress) | undefined
  desk.deps.onHistory = (progress) => {
    history = progress
  }
  return {
    ...desk,
    history: () => history?.(),
    async watch(range?: SyncRequest['range']) {
      const reports: RunProgress[] = []
      const { signal } = new AbortController()
      const request = {
        trigger: 'cli',
        range,
        signal,
        progress: (one: RunProgress) => reports.push(one),
      } as const
      await syncAll(desk.deps, [desk.bank.provider], request)
      return reports
    },
  }
}

test('a first history counts down to nothing left', async (t) => {
  const { watch, bank } = await openWatchedDesk(t)
  const began = performance.now()
  const reports = await watch()
  const elapsed = performance.now() - began
  const [first, ...others] = reports
  // The newest days take a request for each group. Below them are 9.96 years: 10 windows of a year, and 40 of a
  // quarter.
  assert.deepEqual([first?.group, first?.requests, first?.requestsLeft], ['317/318', 2, 10 + 10 + 41])
  let before = first?.requestsLeft ?? 0
  for (const { requestsLeft } of others) {
    assert.ok(requestsLeft <= before, `${requestsLeft} after ${before}`)
    before = requestsLeft
  }
  const last = reports.at(-1)
  assert.deepEqual([last?.group, last?.requestsLeft, last?.yearsRead], ['520', 0, 10])
  assert.equal(last?.requests, bank.asked.length)
  for (const { msLeft, requestsLeft } of reports)
    assert.ok(msLeft >= 0 && msLeft <= elapsed * requestsLeft, `${msLeft} ms`)
})

test('progress of an interrupted history resumes where it was', async (t) => {
  const { watch, bank } = await openWatchedDesk(t)
  bank.fault = ({ table, window }) => {
    if (table === '520' && window.from < '2021-03-26') throw new FetchFailure('HTTP 500')
    return undefined
  }
  await watch()
  bank.fault = undefined
  const reports = await watch()
  assert.deepEqual([reports[0]?.requests, reports[0]?.requestsLeft], [2, 1 + 21])
  const tableProgress = reports.find(({ group }) => group === '520')
  assert.ok(
    tableProgress && tableProgress.yearsRead >= 4.7 && tableProgress.yearsRead <= 5,
    `${tableProgress?.yearsRead}`,
  )
})

test('progress does not count the requests of a failed group', async (t) => {
  const { watch, bank } = await openWatchedDesk(t)
  bank.fault = ({ indicator }) => {
    if (indicator) throw new FetchFailure('HTTP 500')
    return undefined
  }
  const reports = await watch()
  assert.equal(reports[0]?.group, '520')
  assert.equal(reports.at(-1)?.requestsLeft, 0)
})

test('a daily run has one request for each group, a run over a range those of the range', async (t) => {
  const { watch, sync } = await openWatchedDesk(t)
  await sync()
  const daily = await watch()
  assert.deepEqual(
    daily.map(({ group, requests, requestsLeft }) => [group, requests, requestsLeft]),
    [
      ['317/318', 2, 1],
      ['520', 3, 0],
    ],
  )
  const ranged = await watch({ from: '2020-01-01', to: '2020-12-31' })
  assert.deepEqual(
    ranged.map(({ group, requestsLeft }) => [group, requestsLeft]),
    [
      ['317/318', 4],
      ['520', 3],
      ['520', 2],
      ['520', 1],
      ['520', 0],
    ],
  )
})

test('`onHistory` has the progress of a history, and the log has a line every 30 seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { watch, bank, history, deps, logged } = await openWatchedDesk(t)
  const histories: (HistoryProgress | undefined)[] = []
  bank.fault = () => {
    histories.push(history())
    t.mock.timers.tick(10_000)
    return undefined
  }
  await watch()
  assert.equal(history(), undefined, 'it has ended')
  assert.ok(histories.every((one) => one && one.doneAt >= deps.clock() && one.yearsRead <= 10))
  assert.deepEqual([histories[0]?.requestsLeft, histories[0]?.yearsRead], [1 + 1 + 1 + 10 + 10 + 40, 0])
  deps.log.flush()
  const lines = logged.flatMap((some) => some.trim().split('\n')).map((line) => JSON.parse(line))
  const progressLines = lines.filter(({ event }) => event === 'reading history')
  assert.equal(progressLines.length, Math.floor(bank.asked.length / 3))
  const { time, doneAt, ...first } = progressLines[0]
  assert.match(doneAt, /^2026-03-24T12:0\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(first, {
    level: 'info',
    event: 'reading history',
    run: 1,
    provider: 'bccr',
    trigger: 'cli',
    group: '520',
    yearsRead: 0,
    requestsLeft: 1 + 10 + 10 + 40,
  })
})

test('`onHistory` is not called for a daily run or a run over a range', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { watch, sync, bank, history, deps, logged } = await openWatchedDesk(t)
  await sync()
  bank.fault = () => {
    assert.equal(history(), undefined)
    t.mock.timers.tick(30_000)
    return undefined
  }
  await watch()
  await watch({ from: '2020-01-01', to: '2020-12-31' })
  deps.log.flush()
  assert.doesNotMatch(logged.join(''), /reading history/)
})
