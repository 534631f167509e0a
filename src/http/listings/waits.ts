import type { H3Event } from 'h3'
import { nodeContext } from '../endpoint/answers/send.ts'
import type { Disconnects } from './disconnects.ts'

/** Measures for the log how long a client waits, and detects its disconnect. */
export function trackWait(event: H3Event, disconnects: Disconnects, onDisconnect: () => void): Disposable {
  const startTime = performance.now()
  let endTime: number | undefined
  event.context.waitedMs = () => (endTime ?? performance.now()) - startTime
  const listener = disconnects.watch(nodeContext(event).req.socket, onDisconnect)
  return {
    [Symbol.dispose]() {
      endTime = performance.now()
      listener[Symbol.dispose]()
    },
  }
}
