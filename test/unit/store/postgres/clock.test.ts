// The time of a database that nodes share, on a machine whose own clock is set while the program runs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSharedClock } from '../../../src/store/postgres/clock.ts'

const HOUR_MS = 3_600_000

/** A machine and a database that are asked by it; both have the same time at first. */
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
  const look = (trip = 2) => {
    const sentAt = clock.ticks()
    pass(trip / 2)
    const told = new Date(at.database)
    pass(trip / 2)
    clock.compare(sentAt, clock.ticks(), told)
  }
  return { at, clock, pass, look, off: () => clock.read().getTime() - at.database }
}

test('before its first look a clock is that of the machine', () => {
  const { at, clock } = bench()
  assert.deepEqual([clock.read().getTime(), clock.offsetMs()], [at.machine, 0])
})

test('a clock of the machine that is set changes nothing but the offset', () => {
  const { at, clock, pass, look, off } = bench()
  look()
  for (const step of [HOUR_MS, -2 * HOUR_MS]) {
    at.machine += step
    assert.equal(off(), 0)
    pass(250)
    look()
    assert.deepEqual([off(), clock.offsetMs()], [0, at.database - at.machine])
  }
})

test('a machine that slept has the time of the database with the next look, however slow that is', () => {
  const { at, clock, look, off } = bench()
  look()
  at.machine += HOUR_MS // and its ticks stood still
  at.database += HOUR_MS
  look(200)
  assert.deepEqual([off(), clock.offsetMs()], [0, 0])
})

test('the time is set back by a second a look, for a database that is another server', () => {
  const { at, pass, look, off } = bench()
  look()
  at.database -= 2500
  const steps = [1, 2, 3, 4].map(() => {
    pass(250)
    look()
    return off()
  })
  assert.deepEqual(steps, [1500, 500, 0, 0])
})

test('of looks that agree the fastest counts', () => {
  const { at, clock, look, off } = bench()
  look(2)
  const sentAt = clock.ticks()
  at.ticks += 80 // all of it on the way back
  const told = new Date(at.database)
  at.machine += 80
  at.database += 80
  clock.compare(sentAt, clock.ticks(), told)
  assert.equal(off(), 0)
})
