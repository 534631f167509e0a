// Turns of the event loop, to show that nothing happens: their number does not depend on the machine.

import { setImmediate } from 'node:timers/promises'

/** Waits for so many turns that work which is not blocked would have gone on. */
export async function passTurns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}
