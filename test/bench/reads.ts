// Reads beside a bare node:http server that returns a constant of the same size: how much of its answers a
// second are left. In turn, several times, so that a machine whose speed drifts does not decide.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { addDays } from '../../src/dates.ts'
import type { LoadOrder, LoadResult } from './load.ts'

const run = promisify(execFile)
const ROUNDS = 3
const HERE = import.meta.dirname

export type Read = {
  name: string
  paths: string[]
  least: number
  aim: number
  headers?: Record<string, string>
}
export type ReadFigure = {
  name: string
  ours: number
  bare: number
  ratio: number
  least: number
  aim: number
}

const days = Array.from({ length: 997 }, (_, at) => addDays('1984-01-01', (at * 7919) % 15_000))
const latest = '/api/v1/rates/latest'

export const READS: Read[] = [
  { name: 'latest, one URL', paths: [latest], least: 0.55, aim: 0.75 },
  { name: 'latest, random days', paths: days.map((day) => `${latest}?on=${day}`), least: 0.5, aim: 0.7 },
  {
    name: 'convert JPY to CRC, random days',
    paths: days.map((day) => `/api/v1/convert?amount=15000&from=JPY&to=CRC&on=${day}`),
    least: 0.45,
    aim: 0.6,
  },
  {
    name: 'all 47, random days',
    paths: days.map((day) => `/api/v1/rates?on=${day}`),
    least: 0.12,
    aim: 0.25,
  },
  {
    name: 'history of 15,800 points',
    paths: ['/api/v1/series/2/history?from=1983-01-01'],
    least: 0.1,
    aim: 0.5,
  },
]

/** Measures every read against the server at `url`. */
export async function measureReads(url: string, key: string): Promise<ReadFigure[]> {
  const port = Number(new URL(url).port)
  const headers = { 'X-API-Key': key }
  const figures: ReadFigure[] = []
  for (const read of READS) {
    const answer = await fetch(url + read.paths[0], {
      headers: { ...headers, 'accept-encoding': 'identity' },
    })
    const size = (await answer.arrayBuffer()).byteLength
    figures.push(await beside(read, { port, paths: read.paths, headers }, size))
  }
  const { headers: tagged } = await fetch(url + latest, { headers })
  const held = { ...headers, 'If-None-Match': tagged.get('etag') ?? '' }
  const unchanged = { name: '304', paths: [latest], least: 0.6, aim: 0.6 }
  figures.push(await beside(unchanged, { port, paths: [latest], headers: held }, 114))
  return figures
}

async function beside(read: Read, order: LoadOrder, size: number): Promise<ReadFigure> {
  const bare = await startProcess([join(HERE, 'peers.ts'), String(size)])
  const barePort = Number(await bare.line)
  const ratios: number[] = []
  const seen = { ours: 0, bare: 0 }
  await load({ ...order, ms: 500 }) // warm
  for (let round = 0; round < ROUNDS; round += 1) {
    const limit = await load({ port: barePort, paths: ['/'], headers: order.headers ?? {} })
    const ours = await load(order)
    ratios.push(ours.perSecond / limit.perSecond)
    seen.ours = Math.max(seen.ours, ours.perSecond)
    seen.bare = Math.max(seen.bare, limit.perSecond)
  }
  bare.child.kill()
  const ratio = ratios.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
  return { name: read.name, ...seen, ratio, least: read.least, aim: read.aim }
}

async function load(order: LoadOrder): Promise<LoadResult> {
  const { stdout } = await run(process.execPath, [join(HERE, 'load.ts'), JSON.stringify(order)])
  const result = JSON.parse(stdout) as LoadResult
  const other = Object.keys(result.statuses).filter((status) => status !== '200' && status !== '304')
  if (other.length > 0) throw new Error(`${order.paths[0]} was answered with ${other.join(', ')}`)
  return result
}

/** Starts a script of ours; `line` is the first that it prints. */
export async function startProcess(words: string[]): Promise<{ child: ChildProcess; line: Promise<string> }> {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = once(child.stdout ?? child, 'data').then(([data]) => String(data).trim())
  return { child, line }
}
