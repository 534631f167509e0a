// What every request passes that is for the page or for a session: it names this server, and no website may read the answer.

import type { H3Event } from 'h3'
import { nodeOf } from '../api/send.ts'
import { type OwnNames, ownOriginOf } from '../listener/own-origin.ts'

/** The guard of an `Api` whose paths browsers open. @throws AppError `misdirected` for a name that is not this server's */
export function ownHostGuard(names: OwnNames): (event: H3Event) => void {
  return (event) => {
    event.context.cors = undefined
    ownOriginOf(nodeOf(event).req, names)
  }
}
