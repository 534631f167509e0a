import type { H3Event } from 'h3'
import { nodeOf } from '../api/send.ts'
import type { Departures } from './departures.ts'

/** Notes for the log how long a client waits, and notices when it goes. */
export function watchWait(event: H3Event, departures: Departures, gone: () => void): Disposable {
  const begun = performance.now()
  let ended: number | undefined
  event.context.waitedMs = () => (ended ?? performance.now()) - begun
  const watched = departures.watch(nodeOf(event).req.socket, gone)
  return {
    [Symbol.dispose]() {
      ended = performance.now()
      watched[Symbol.dispose]()
    },
  }
}
