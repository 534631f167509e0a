// Turns of the event loop, to show that nothing happens: their number does not depend on the machine.

import { setImmediate } from 'node:timers/promises'

/** Waits for turns of the event loop. Work that is not blocked goes on in them. */
export async function passTurns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}
