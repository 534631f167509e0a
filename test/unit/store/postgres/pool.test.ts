import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { parseAddress } from '../../../../src/store/postgres/address.ts'
import { openPool } from '../../../../src/store/postgres/pool.ts'

// Messages of a server that requests a password: the method, and then the proof.
const ASKS = ['R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0', 'R\0\0\0\x0c\0\0\0\x0br=0x']

test('a connection that the client itself gives up is closed, and not left to the server', async (t) => {
  const server = createServer((socket) => {
    const asks = ASKS.values()
    socket.on('data', () => socket.write(asks.next().value ?? '', 'latin1'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const accepted = once(server, 'connection')
  const pool = await openPool(parseAddress(`postgres://erp@127.0.0.1:${port}/c`), {
    size: 1,
    answerMs: 1000,
  })
  await assert.rejects(pool.connect(), /password must be a string/)
  const [socket] = (await accepted) as [Socket]
  t.after(() => socket.destroy())
  if (!socket.destroyed) await once(socket, 'close')
  await pool.end()
})
