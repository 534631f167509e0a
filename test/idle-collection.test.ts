import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { collectWhenIdle } from '../src/idle-collection.ts'
import { until } from './support/terminal.ts'

const LOOK_EVERY_MS = 100

/** Something that only a collection takes away, and whether it has. */
function garbage(): () => boolean {
  const left = new WeakRef({})
  return () => left.deref() === undefined
}

function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('what a rush has left is collected once nobody asks any more', async () => {
  using _ = collectWhenIdle(LOOK_EVERY_MS)
  const isGone = garbage()
  work(3 * LOOK_EVERY_MS)
  await until(isGone)
})

test('without a rush nothing is collected, nor after the end', async () => {
  const idle = collectWhenIdle(LOOK_EVERY_MS)
  const isGone = garbage()
  await wait(5 * LOOK_EVERY_MS)
  assert.equal(isGone(), false)
  work(3 * LOOK_EVERY_MS)
  idle[Symbol.dispose]()
  await wait(5 * LOOK_EVERY_MS)
  assert.equal(isGone(), false)
})
