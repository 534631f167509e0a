// An export of all values: its speed, and the server's memory for it beyond the columns, which are loaded before.

import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Figure, median } from '../figure.ts'
import { startProgram } from '../process.ts'
import { MB } from '../transfer.ts'

const ROUNDS = 7
const WARM = 3
const SETTLED_MS = 2000

/** `dataDir` has the history since 1983. */
export async function measureExport(dataDir: string, key: string): Promise<Figure[]> {
  const server = await startProgram(dataDir)
  const rates = await fetch(`http://127.0.0.1:${server.port}/api/v1/rates?on=2001-05-06`, {
    headers: { 'X-API-Key': key },
  })
  await rates.arrayBuffer() // every column is read
  await wait(SETTLED_MS)
  const before = server.memory()
  server.peak()
  const first = await take(server.port, key)
  for (let round = 1; round < WARM; round += 1) await take(server.port, key)
  const speeds: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const { ms, bytes } = await take(server.port, key)
    speeds.push(bytes / MB / (ms / 1000))
  }
  const most = server.peak()
  await server.stop()
  const speed = median(speeds)
  const firstSpeed = first.bytes / MB / (first.ms / 1000)
  return [
    {
      work: `export, ${(first.bytes / MB).toFixed(0)} MB of CSV, the first ${firstSpeed.toFixed(0)} MB/s (limit: 60 MB/s)`,
      ...{ ours: `${speed.toFixed(0)} MB/s`, limit: '60 MB/s', measured: speed / 60, unit: '' },
      must: { atLeast: 1 },
    },
    {
      work: 'most memory of it (limit: with all columns)',
      ...{
        ours: `${most.toFixed(0)} MB`,
        limit: `${before.toFixed(0)} MB`,
        measured: most - before,
        unit: ' MB',
      },
      must: { atMost: 32 },
    },
  ]
}

/** Reads an export into one buffer. */
function take(port: number, key: string): Promise<{ ms: number; bytes: number }> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    let bytes = 0
    let end = ''
    const callback = (length: number, buffer: Uint8Array) => {
      bytes += length
      end = (end + Buffer.from(buffer.subarray(Math.max(0, length - 200), length)).toString('latin1')).slice(
        -200,
      )
      return true
    }
    const socket = connect({
      port,
      host: '127.0.0.1',
      onread: { buffer: Buffer.alloc(256 * 1024), callback },
    })
    socket.write(
      `GET /api/v1/export.csv HTTP/1.1\r\nHost: bench\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`,
    )
    socket.on('error', reject)
    socket.on('close', () => {
      if (!/[0-9a-f]{64}/.test(end))
        return reject(new Error(`the export has no end after ${bytes} bytes: ${end}`))
      resolve({ ms: performance.now() - began, bytes })
    })
  })
}
