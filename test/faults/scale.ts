// Number of faults: few in `npm run test:faults`, many in `npm run test:long`. To repeat a run, as far as timing
// allows it, pass its seed: CAMBISTA_SEED=17 node --test test/faults/NAME.test.ts

import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** True in the long version. */
export const LONG = process.env.CAMBISTA_TORTURE === 'long'

/** Seed of a run's random numbers; the test that uses it prints it as a figure. */
export const SEED = Number(process.env.CAMBISTA_SEED ?? Date.now() % 1_000_000)

/** The program under test: the built executable in the long version, else the sources. */
export const PROGRAM: readonly [string, ...string[]] = LONG
  ? [join(import.meta.dirname, '../../dist/cambista')]
  : [process.execPath, join(import.meta.dirname, '../support/cambista.ts')]

/** A count for the short or the long version. */
export function scaled(amounts: { short: number; long: number }): number {
  return LONG ? amounts.long : amounts.short
}

/** Prints a figure under the test: its name and its value. */
export function figure(t: TestContext, name: string, value: number | string): void {
  t.diagnostic(`${name}: ${value}`)
}
