// The time of a database that nodes share, on a machine whose own clock is set while the program runs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSharedClock } from '../../../../src/store/postgres/clock.ts'

const HOUR_MS = 3_600_000

/** A machine that polls a database; both have the same time at first. */
function bench() {
  const at = { ticks: 500, machine: 1_000_000, database: 1_000_000 }
  const clock = createSharedClock(
    () => at.machine,
    () => at.ticks,
  )
  const pass = (ms: number) => {
    at.ticks += ms
    at.machine += ms
    at.database += ms
  }
  const poll = (trip = 2) => {
    const sendTime = clock.ticks()
    pass(trip / 2)
    const serverTime = new Date(at.database)
    pass(trip / 2)
    clock.compare(sendTime, clock.ticks(), serverTime)
  }
  return { at, clock, pass, poll, off: () => clock.read().getTime() - at.database }
}

test('before its first poll a clock is that of the machine', () => {
  const { at, clock } = bench()
  assert.deepEqual([clock.read().getTime(), clock.offsetMs()], [at.machine, 0])
})

test('a clock of the machine that is set changes nothing but the offset', () => {
  const { at, clock, pass, poll, off } = bench()
  poll()
  for (const step of [HOUR_MS, -2 * HOUR_MS]) {
    at.machine += step
    assert.equal(off(), 0)
    pass(250)
    poll()
    assert.deepEqual([off(), clock.offsetMs()], [0, at.database - at.machine])
  }
})

test('a machine that slept has the time of the database after the next poll, however slow', () => {
  const { at, clock, poll, off } = bench()
  poll()
  at.machine += HOUR_MS // the ticks did not advance
  at.database += HOUR_MS
  poll(200)
  assert.deepEqual([off(), clock.offsetMs()], [0, 0])
})

test('the time goes back by a second a poll after a move to another server', () => {
  const { at, pass, poll, off } = bench()
  poll()
  at.database -= 2500
  const steps = [1, 2, 3, 4].map(() => {
    pass(250)
    poll()
    return off()
  })
  assert.deepEqual(steps, [1500, 500, 0, 0])
})

test('the fastest of consistent polls counts', () => {
  const { at, clock, poll, off } = bench()
  poll(2)
  const sendTime = clock.ticks()
  at.ticks += 80 // the whole delay is on the way back
  const serverTime = new Date(at.database)
  at.machine += 80
  at.database += 80
  clock.compare(sendTime, clock.ticks(), serverTime)
  assert.equal(off(), 0)
})
