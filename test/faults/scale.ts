// Number of faults: few in `npm run test:faults`, many in `npm run test:long`. A test that draws its faults from the
// seed (test/support/seed.ts) prints it as a figure. A run repeats as far as timing allows it.

import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** True in the long version. */
export const LONG = process.env.CAMBISTA_TORTURE === 'long'

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
