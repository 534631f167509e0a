// Time from the start of the executable to its first 200, on a database with the whole history. The limit is the same
// runtime with an empty script.

import { type Figure, median } from './figure.ts'
import { emptyRuntimeMs, startProgram } from './process.ts'

const ROUNDS = 11

export async function measureStart(dataDir: string): Promise<Figure[]> {
  const ours: number[] = []
  const empty: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    empty.push(await emptyRuntimeMs())
    const server = await startProgram(dataDir)
    ours.push(server.startMs)
    await server.stop()
  }
  return [
    {
      work: 'start, to the first 200 (limit: `node -e 0`)',
      ours: `${median(ours).toFixed(0)} ms`,
      limit: `${median(empty).toFixed(0)} ms`,
      measured: median(ours.map((ms, round) => ms / (empty[round] ?? 0))),
      unit: ' times',
      must: { atMost: 5 },
    },
  ]
}
