// Histories of pairs, each requested for the first time: exact monthly means of 40 years. The pairs are crosses
// over the dollar, with divisions.

import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { addDays } from '../../../src/values/dates.ts'
import { type Figure, median } from '../figure.ts'
import { startProgram } from '../process.ts'

const QUOTES = [
  'EUR',
  'GBP',
  'JPY',
  'CHF',
  'CAD',
  'AUD',
  'SEK',
  'NOK',
  'DKK',
  'MXN',
  'BRL',
  'COP',
  'KRW',
  'CNY',
]
const YEARS = 'from=1983-01-01&to=2022-12-31'
const LIMIT_MS = 20
const READERS = 50
const PROBED_MS = 4000

/** `dataDir` has the history since 1983. */
export async function measureHistories(dataDir: string, key: string): Promise<Figure[]> {
  const server = await startProgram(dataDir)
  const ask = async (query: string) => {
    const began = performance.now()
    const url = `http://127.0.0.1:${server.port}/api/v1/history?${query}`
    const response = await fetch(url, { headers: { 'X-API-Key': key } })
    const { count } = (await response.json()) as { count: number }
    if (count === 0) throw new Error(`${query} has no points`)
    return performance.now() - began
  }
  const timed = async (what: string) => {
    const times: number[] = []
    for (const quote of QUOTES) times.push(await ask(`base=CRC&quote=${quote}&${YEARS}&${what}`))
    return times
  }
  await timed('every=year&stat=low') // the columns are read
  const means = await timed('every=month&stat=mean')
  const days = await timed('every=day')
  const slowest = await probedBesideReaders(server.port, key)
  await server.stop()
  return [
    historyFigure('monthly means of 40 years of a cross, never asked before', means, { atMost: LIMIT_MS }),
    historyFigure('each day of 40 years of a cross, never asked before', days),
    {
      work: `slowest /healthz beside ${READERS} clients that take 40 years of days as NDJSON, and do not read (limit: 100 ms)`,
      ...{ ours: `${slowest.toFixed(1)} ms`, limit: '100 ms', measured: slowest / 100, unit: '' },
      must: { atMost: 1 },
    },
  ]
}

/** Returns the longest wait of a probe beside clients that do not read, in milliseconds. */
async function probedBesideReaders(port: number, key: string): Promise<number> {
  const sockets = Array.from({ length: READERS }, (_, at) => {
    const from = addDays('1983-02-01', at) // a separate answer each
    const socket = connect(port, '127.0.0.1', () => {
      const path = `/api/v1/history.ndjson?base=CRC&quote=EUR&from=${from}`
      socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nX-API-Key: ${key}\r\n\r\n`)
    })
    return socket
  })
  let slowest = 0
  for (const end = performance.now() + PROBED_MS; performance.now() < end; await wait(10)) {
    const began = performance.now()
    await (await fetch(`http://127.0.0.1:${port}/healthz`)).arrayBuffer()
    slowest = Math.max(slowest, performance.now() - began)
  }
  for (const socket of sockets) socket.destroy()
  return slowest
}

function historyFigure(work: string, times: readonly number[], must?: Figure['must']): Figure {
  const measured = median(times)
  const ours = `${measured.toFixed(1)} ms, at most ${Math.max(...times).toFixed(1)} ms`
  return { work, ours, limit: must ? `${LIMIT_MS} ms` : 'none', measured, unit: ' ms', must }
}
