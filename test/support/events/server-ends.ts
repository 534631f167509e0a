// Server ends of the connections within this process: a test awaits what a server has read, instead of a pause.

import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { until } from '../terminal.ts'

const ends = new Map<number, Socket>() // by the port of the client

subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket }
  const { remotePort = 0 } = socket
  ends.set(remotePort, socket)
  socket.once('close', () => ends.delete(remotePort))
})

/** Waits for the server end of an open connection. */
export async function serverEnd(client: Socket): Promise<Socket> {
  let end: Socket | undefined
  await until(() => {
    end = ends.get(client.localPort ?? -1)
    return end !== undefined
  })
  return end as Socket
}

/** Waits until the server has read all that a client wrote, without TLS. */
export async function untilRead(client: Socket): Promise<void> {
  const end = await serverEnd(client)
  await until(() => end.bytesRead === client.bytesWritten)
}
