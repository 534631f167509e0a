// Sources of rates on this machine that answer from captured values, by the days of a request.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'

export type ReplayRequest = { method: string; url: URL; body: string; headers: IncomingMessage['headers'] }
export type ReplayReply = { status?: number; headers?: Record<string, string>; body: string }

export type Replay = {
  url: string
  requests: ReplayRequest[]
  /** Answers in place of the captured values. `silent`: never; `trickle`: those, a byte a second. */
  fault: ((request: ReplayRequest) => ReplayReply | 'reset' | 'silent' | 'trickle' | undefined) | undefined
  /** Changes the body of each answer, as a source that corrects a value. */
  correct: ((body: string) => string) | undefined
}

/** Starts a source. `today` is the day of its `Date` header, at noon. */
export async function startReplay(
  t: TestContext,
  now: () => Date,
  answer: (request: ReplayRequest) => ReplayReply,
): Promise<Replay> {
  const replay: Replay = { url: '', requests: [], fault: undefined, correct: undefined }
  const server = createServer(async (incoming, response) => {
    let body = ''
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk
    const { method = '', headers } = incoming
    const request = { method, url: new URL(incoming.url ?? '/', replay.url), body, headers }
    replay.requests.push(request)
    const fault = replay.fault?.(request)
    if (fault === 'silent') return
    if (fault === 'reset') return void response.destroy()
    const reply = fault === 'trickle' || fault === undefined ? answer(request) : fault
    response.writeHead(reply.status ?? 200, { Date: now().toUTCString(), ...reply.headers })
    for (const byte of fault === 'trickle' ? Buffer.from(reply.body) : []) {
      if (response.destroyed) return
      response.write(Buffer.of(byte))
      await wait(1000, undefined, { ref: false })
    }
    response.end(replay.correct?.(reply.body) ?? reply.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  replay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return replay
}
