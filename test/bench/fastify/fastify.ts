// `/rates/latest` beside the usual choice of a developer (server.ts), on the same database.

import { join } from 'node:path'
import { addDays } from '../../../src/values/dates.ts'
import { type Figure, median } from '../figure.ts'
import { answersPerSecond, script, startProgram, startServer } from '../process.ts'

const ROUNDS = 3
const PATH = '/api/v1/rates/latest'
const READS: [string, string[]][] = [
  ['one URL', [PATH]],
  [
    'random days',
    Array.from({ length: 997 }, (_, at) => `${PATH}?on=${addDays('1984-01-01', (at * 7919) % 15_000)}`),
  ],
]

export async function measureBesideFastify(dataDir: string, key: string): Promise<Figure[]> {
  const ours = await startProgram(dataDir)
  const theirs = await startServer((port) => script('fastify/server.ts', port, join(dataDir, 'cambista.db')))
  const headers = { 'X-API-Key': key }
  await compareAnswers([ours.port, theirs.port], headers)
  const figures: Figure[] = []
  for (const [name, paths] of READS) {
    const rates = { ours: [] as number[], theirs: [] as number[] }
    for (const { port } of [ours, theirs]) await answersPerSecond({ port, paths, headers, ms: 500 }) // warm
    for (let round = 0; round < ROUNDS; round++) {
      rates.theirs.push(await answersPerSecond({ port: theirs.port, paths, headers }))
      rates.ours.push(await answersPerSecond({ port: ours.port, paths, headers }))
    }
    figures.push({
      work: `latest, ${name} (peer: Fastify, better-sqlite3)`,
      ours: `${median(rates.ours).toFixed(0)}/s`,
      limit: `${median(rates.theirs).toFixed(0)}/s`,
      measured: median(rates.ours.map((rate, round) => rate / (rates.theirs[round] ?? 0))),
      unit: ' times',
    })
  }
  await Promise.all([ours.stop(), theirs.stop()])
  return figures
}

/** Checks that both give the same answer. */
async function compareAnswers(ports: number[], headers: Record<string, string>): Promise<void> {
  const answers = ports.map((port) => fetch(`http://127.0.0.1:${port}${PATH}?on=2001-05-06`, { headers }))
  const [ours, theirs] = await Promise.all(answers.map(async (answer) => (await answer).json()))
  if (JSON.stringify(ours) !== JSON.stringify(theirs)) {
    throw new Error(`other answers: ${JSON.stringify(ours)}, ${JSON.stringify(theirs)}`)
  }
}
