// Turns of a page that is rendered without a browser, to show that nothing happens.

import { passTurns } from '../../turns.ts'

const PREACT = 'preact' as string // without types of a browser
const { options } = await import(`${PREACT}`)

// Rendering and effects wait for a turn instead of a frame, so that `settle` covers them.
options.debounceRendering = setImmediate
options.requestAnimationFrame = setImmediate

/** Waits until the answers that have arrived are rendered, and their requests are sent. */
export function settle(): Promise<void> {
  return passTurns()
}
