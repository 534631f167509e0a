// Guard of requests for the page or a session. The host must be this server, and no website may read the answer.

import type { H3Event } from 'h3'
import { nodeContext } from '../endpoint/answers/send.ts'
import { type HostNames, serverOrigin } from '../listener/own-origin.ts'

/** Returns the guard of an `Api` for browsers. @throws AppError `misdirected` for a name that is not this server's */
export function ownHostGuard(names: HostNames): (event: H3Event) => void {
  return (event) => {
    event.context.cors = undefined
    serverOrigin(nodeContext(event).req, names)
  }
}
