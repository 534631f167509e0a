import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countRequests, msLeft, yearsRead } from '../../../src/sync/progress.ts'

const TOMORROW = '2026-03-25'
test('requests are counted by windows, years by days', () => {
  const window = { from: '2025-01-01', to: '2026-01-01' } // 366 days
  assert.equal(countRequests([], 366), 0)
  assert.equal(countRequests([window], 366), 1)
  assert.equal(countRequests([window], 365), 2)
  assert.equal(countRequests([window, window], 92), 8)
  assert.equal(yearsRead('2016-03-26', [], TOMORROW), 10)
  assert.equal(yearsRead('2016-03-26', [window], TOMORROW), 9)
  assert.equal(yearsRead('2026-03-01', [window], TOMORROW), 0)
})

test('each group goes on at its own pace, one without any at that of all', () => {
  const soFar = new Map([
    ['317', { requests: 10, ms: 20_000 }],
    ['318', { requests: 10, ms: 0 }],
  ])
  assert.equal(msLeft(new Map([['317', 5]]), soFar, 1), 10_000)
  assert.equal(msLeft(new Map([['318', 5]]), soFar, 1), 0)
  assert.equal(msLeft(new Map([['520', 5]]), soFar, 1), 5000)
  assert.equal(msLeft(new Map([['317', 3]]), new Map(), 700), 2100, 'no answer yet')
})
