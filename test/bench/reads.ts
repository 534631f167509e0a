// Answers a second of reads, over those of a bare node:http server that returns as many constant bytes.
// In turn, several times, so that a machine whose speed drifts does not decide.

import { addDays } from '../../src/values/dates.ts'
import { type Figure, median } from './figure.ts'
import type { LoadOrder } from './load.ts'
import { answersPerSecond, loadAnswers, type Running, script, startProgram, startServer } from './process.ts'

const ROUNDS = 9
const ROUND_MS = 700

type Read = {
  name: string
  paths: string[]
  must?: Figure['must']
}

const LATEST = '/api/v1/rates/latest'
const days = Array.from({ length: 997 }, (_, at) => addDays('1984-01-01', (at * 7919) % 15_000))
const latestOfDays = days.map((day) => `${LATEST}?on=${day}`)
const conversions = days.map((day) => `/api/v1/convert?amount=15000&from=JPY&to=CRC&on=${day}`)
const all47 = days.map((day) => `/api/v1/rates?on=${day}`)

function asmx(from: string, to: string): string {
  const folder = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/ObtenerIndicadoresEconomicosXML'
  return `${folder}?Indicador=318&FechaInicio=${from}&FechaFinal=${to}&Nombre=N&SubNiveles=N&CorreoElectronico=a@b.cr&Token=`
}

const READS: Read[] = [
  { name: 'latest, one URL', paths: [LATEST], must: { atLeast: 0.55, aim: 0.75 } },
  { name: 'latest, random days', paths: latestOfDays, must: { atLeast: 0.5, aim: 0.7 } },
  { name: 'convert JPY to CRC, random days', paths: conversions, must: { atLeast: 0.45, aim: 0.6 } },
  { name: 'all 47, random days', paths: all47, must: { atLeast: 0.12, aim: 0.25 } },
  {
    name: 'convert, never asked before',
    paths: ['/api/v1/convert?amount={n}&from=JPY&to=CRC&on={day}'],
  },
  { name: 'all 47, long forgotten', paths: ['/api/v1/rates?on={day}'] },
  { name: 'Frankfurter latest', paths: ['/v1/latest?base=USD&symbols=CRC'], must: { atLeast: 0.5 } },
  { name: 'Hacienda', paths: ['/indicadores/tc'], must: { atLeast: 0.5 } },
  {
    name: "the bank's old service, a day",
    paths: [asmx('15/11/2015', '15/11/2015')],
    must: { atLeast: 0.4 },
  },
  { name: "the bank's old service, a year", paths: [asmx('1/1/2015', '31/12/2015')], must: { atLeast: 0.5 } },
  {
    name: 'history of 15,800 points',
    paths: ['/api/v1/series/2/history?from=1983-01-01'],
    must: { atLeast: 0.1, aim: 0.5 },
  },
]

/** `dataDir` has the history since 1983. */
export async function measureReads(dataDir: string, key: string): Promise<Figure[]> {
  const server = await startProgram(dataDir)
  const { port } = server
  const headers = { 'X-API-Key': key }
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers })
  const figures: Figure[] = []
  for (const read of READS) {
    const size = (
      await (
        await ask((read.paths[0] ?? '').replace('{n}', '1000000').replace('{day}', '2015-05-05'))
      ).arrayBuffer()
    ).byteLength
    figures.push(await beside(read, server, headers, size))
  }
  const etag = (await ask(LATEST)).headers.get('etag') ?? ''
  const unchanged: Read = { name: '304', paths: [LATEST], must: { atLeast: 0.6 } }
  figures.push(await beside(unchanged, server, { ...headers, 'If-None-Match': etag }, 114))
  await server.stop()
  return figures
}

async function beside(
  { name, paths, must }: Read,
  server: Running,
  headers: Record<string, string>,
  size: number,
): Promise<Figure> {
  const bare = await startServer((port) => script('peers.ts', String(size), port))
  const order: LoadOrder = { port: server.port, headers, paths, ms: ROUND_MS }
  const bareOrder: LoadOrder = { ...order, port: bare.port, paths: ['/'] }
  for (const one of [order, bareOrder]) await answersPerSecond(one) // warm
  const speeds = { ours: [] as number[], bare: [] as number[] }
  const costs = { ours: [] as number[], bare: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    const sides = [
      ['bare', bare, bareOrder],
      ['ours', server, order],
    ] as const
    for (const [side, running, load] of round % 2 ? sides.toReversed() : sides) {
      const before = running.processorMs()
      const { requests, perSecond } = await loadAnswers(load)
      costs[side].push((running.processorMs() - before) / requests)
      speeds[side].push(perSecond)
    }
  }
  await bare.stop()
  return {
    work: `${name} (limit: bare node:http)`,
    ours: `${median(speeds.ours).toFixed(0)}/s`,
    limit: `${median(speeds.bare).toFixed(0)}/s`,
    measured: median(speeds.ours.map((ours, round) => ours / (speeds.bare[round] ?? 0))),
    processor: median(costs.ours.map((ours, round) => (costs.bare[round] ?? 0) / ours)),
    unit: '',
    must,
  }
}
