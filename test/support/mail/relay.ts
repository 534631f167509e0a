// A relay between a server and dovecot that stops at a point of a round.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/**
 * `download`: the first megabyte of a mail has passed. `move`: the move of a mail is requested, and dovecot does not
 * receive it. `moved`: dovecot has moved a mail, and its answer does not pass.
 */
export type StopPoint = 'download' | 'move' | 'moved'

export type Relay = {
  port: number
  /** Stops at the next such point, calls `act` and relays nothing more on that connection. */
  stopAt(point: StopPoint, act: () => void): void
  /** Stops no more. */
  pass(): void
}

type Stop = { point: StopPoint; act: () => void }

const MEGABYTE = 2 ** 20
const MOVE = / UID (MOVE|COPY) /

/** Starts a relay to a port without encryption. */
export async function startRelay(t: Pick<TestContext, 'after'>, port: number): Promise<Relay> {
  let stop: Stop | undefined
  const take = (...points: StopPoint[]): boolean => {
    if (!stop || !points.includes(stop.point)) return false
    const { act } = stop
    stop = undefined
    act()
    return true
  }
  const listener = createServer((client) => relay(client, connect(port, '127.0.0.1'), take))
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => listener.close())
  return {
    port: (listener.address() as AddressInfo).port,
    stopAt(point, act) {
      stop = { point, act }
    },
    pass() {
      stop = undefined
    },
  }
}

function relay(client: Socket, server: Socket, take: (...points: StopPoint[]) => boolean): void {
  let received = 0
  let isMoving = false
  let isStopped = false
  client.on('data', (chunk) => {
    isMoving = MOVE.test(chunk.toString('latin1'))
    if (isMoving && take('move')) isStopped = true
    if (!isStopped) server.write(chunk)
  })
  server.on('data', (chunk) => {
    received += chunk.length
    if ((isMoving && take('moved')) || (received > MEGABYTE && take('download'))) isStopped = true
    if (!isStopped) client.write(chunk)
  })
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const)
    one.on('error', () => other.destroy()).on('close', () => other.destroy())
}
