// How many faults there are: few in `npm run test:faults`, many in `npm run test:long`. A run is repeated,
// as far as time allows it, by its seed: CAMBISTA_SEED=17 node --test test/faults/NAME.test.ts

import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Whether this is the long version. */
export const LONG = process.env.CAMBISTA_TORTURE === 'long'

/** What a run's chance begins with; the test that uses it prints it as a figure. */
export const SEED = Number(process.env.CAMBISTA_SEED ?? Date.now() % 1_000_000)

/** The command that is tortured: the built executable in the long version, else the sources. */
export const PROGRAM: readonly [string, ...string[]] = LONG
  ? [join(import.meta.dirname, '../../dist/cambista')]
  : [process.execPath, join(import.meta.dirname, '../support/cambista.ts')]

/** How often, or how many. */
export function scaled(amounts: { short: number; long: number }): number {
  return LONG ? amounts.long : amounts.short
}

/** Notes a figure under the test: what was done, and how much of it. */
export function figure(t: TestContext, what: string, value: number | string): void {
  t.diagnostic(`${what}: ${value}`)
}
