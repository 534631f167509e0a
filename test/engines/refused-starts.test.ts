// A start whose server or pooler refuses the session fails at once. The start waits for a silent server.

import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createWaiting } from '../../src/http/waiting.ts'
import { errorReason } from '../../src/runtime/errors.ts'
import { createLog } from '../../src/runtime/log.ts'
import { openPostgres } from '../../src/store/postgres/open-postgres.ts'
import { createPostgresDatabase } from '../support/postgres/server.ts'

const REFUSED: [code: string, message: string][] = [
  ['08P01', 'unsupported startup parameter: options'], // PgBouncer 1.18, as the next three
  ['08P01', 'SASL authentication failed'],
  ['08P01', 'no such database: cambista'],
  ['08P01', 'server login failed: FATAL password authentication failed for user "cambista"'],
  ['28P01', 'password authentication failed for user "cambista"'],
  ['28000', 'no pg_hba.conf entry for host "10.0.0.11"'],
  ['3D000', 'database "cambista" does not exist'],
  ['42704', 'unrecognized configuration parameter "search_pat"'],
]
const NOT_YET: [code: string, message: string][] = [
  ['57P03', 'the database system is starting up'],
  ['53300', 'sorry, too many clients already'],
  ['08P01', 'query_wait_timeout'], // PgBouncer 1.18, as the next
  ['08P01', 'server login failed: FATAL the database system is starting up'],
]

for (const [code, message] of REFUSED) {
  test(`a start that is refused with "${code} ${message}" is an error at once`, async (t) => {
    const { failure, attempts } = await start(t, await startServer(t, code, message))
    assert.equal(attempts, 1)
    assert.match(failure, /^cannot open the database 127\.0\.0\.1\/cambista: /)
    assert.doesNotMatch(failure, /user "/, 'its user is not in the message')
  })
}

for (const [code, message] of NOT_YET) {
  test(`a start waits after "${code} ${message}"`, async (t) => {
    const { failure, attempts } = await start(t, await startServer(t, code, message))
    assert.ok(attempts > 1, failure)
  })
}

test('a start waits for a port that nothing listens on, and not for a missing database of a real server', async (t) => {
  const { url, close } = await startServer(t, '57P03', 'unused')
  await close()
  assert.ok((await start(t, { url })).attempts > 1)
  const missing = (await createPostgresDatabase(t)).replace(/\/d\w+\?/, '/missing?')
  assert.equal((await start(t, { url: missing })).attempts, 1)
})

/** Starts a server's database as `serve` does, until the second attempt. A stall of the machine changes nothing. */
async function start(t: TestContext, { url }: { url: string }) {
  const log = createLog({ level: 'error', format: 'text', write: () => {} })
  const stop = new AbortController()
  const waiting = createWaiting({ host: '127.0.0.1', port: 0, log, stop: stop.signal })
  t.after(() => waiting.close())
  let attempts = 0
  const opening = waiting.until(() => {
    attempts += 1
    if (attempts === 2) stop.abort()
    return openPostgres(url)
  })
  const failure = await opening.then(
    () => assert.fail('it opened'),
    (error: unknown) => errorReason(error),
  )
  return { failure, attempts }
}

/** A server that answers each connection with this error, as a fatal one before the session. */
async function startServer(t: TestContext, code: string, message: string) {
  const sockets = new Set<Socket>()
  const listener = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}) // the client ends it
    socket.once('data', () => socket.end(errorMessage(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)))
  })
  const listening = Promise.withResolvers<void>()
  listener.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const close = () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  }
  t.after(close)
  const address = listener.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { url: `postgres://cambista:x@127.0.0.1:${port}/cambista`, close }
}

function errorMessage(fields: string): Buffer {
  const frame = Buffer.alloc(5 + fields.length)
  frame.write('E', 0, 'latin1')
  frame.writeUInt32BE(4 + fields.length, 1)
  frame.write(fields, 5, 'latin1')
  return frame
}
