// Sends bytes on a socket that no HTTP library would send, and parses the answers.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'

export type RawAnswer = { status: number; head: string; body: Buffer }

const PATIENCE_MS = 20_000
const WITHOUT_BODY = /^HTTP\/1\.1 (1\d\d|204|304) /

/** Sends the pieces in order, half-closes the socket, and returns the answers once the server closes. */
export async function exchangeRaw(port: number, ...pieces: (string | Buffer)[]): Promise<RawAnswer[]> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true })
  const received: Buffer[] = []
  const closing = new Promise<void>((resolve, reject) => {
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('the server neither answers nor closes')))
    socket.on('data', (piece: Buffer) => received.push(piece))
    socket.on('end', () => socket.destroy())
    socket.on('close', () => resolve())
    // A server that rejects a request may reset the connection; its answer arrived before.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      /^(ECONNRESET|EPIPE)$/.test(error.code ?? '') ? resolve() : reject(error),
    )
  })
  for (const piece of pieces) {
    socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
    if (pieces.length > 1) await setImmediate()
  }
  socket.end()
  await closing
  return parseAnswers(Buffer.concat(received))
}

/** Parses the answers of a closed connection. Each must be complete, with no bytes between them. */
export function parseAnswers(received: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let at = 0; at < received.length; ) {
    const end = received.indexOf('\r\n\r\n', at)
    assert.ok(end > 0, `bytes that are no answer: ${received.toString('latin1', at, at + 200)}`)
    const head = received.toString('latin1', at, end)
    assert.match(head, /^HTTP\/1\.1 \d{3} /)
    const length = /^content-length: (\d+)$/im.exec(head)?.[1]
    assert.ok(length !== undefined || WITHOUT_BODY.test(head), `no length: ${head}`)
    at = end + 4 + Number(length ?? 0)
    assert.ok(at <= received.length, `an answer that is cut: ${head}`)
    answers.push({ status: Number(head.slice(9, 12)), head, body: received.subarray(end + 4, at) })
  }
  return answers
}
