// Uploads of 100 MB to a node with the fake bucket. Duration over that of a node with a shared folder, and growth
// of memory, with one upload and with 16 at once.

import { setTimeout as wait } from 'node:timers/promises'
import type { Figure } from '../figure.ts'
import type { Running } from '../process.ts'
import { haveMemoryAtHand, MB, upload } from '../transfer.ts'
import { besides } from './nodes.ts'

const ROUNDS = 5
const SIZE = 100 * MB
const AT_ONCE = 16
const SETTLED_MS = 2000

type Starts = { startFolder(): Promise<Running>; startBucket(): Promise<Running>; dir: string }

export async function measureContents({ startFolder, startBucket, dir }: Starts): Promise<Figure[]> {
  const [folder, bucket] = [await startFolder(), await startBucket()]
  const one = await measureMemory(bucket, 1)
  const rounds = []
  for (let round = 0; round <= ROUNDS; round++) {
    haveMemoryAtHand(dir, 2 * SIZE)
    rounds.push({
      limit: (await upload(folder.port, SIZE, `folder ${round}`)).ms,
      node: (await upload(bucket.port, SIZE, `bucket ${round}`)).ms,
    })
  }
  await Promise.all([folder.stop(), bucket.stop()])
  const fresh = await startBucket()
  const many = await measureMemory(fresh, AT_ONCE)
  await fresh.stop()
  const work = '100 MB into the stand-in for a bucket (limit: a shared folder)'
  const formatMs = (ms: number) => `${ms.toFixed(0)} ms`
  return [
    besides({ work, must: { atMost: 3.5 }, shown: formatMs }, rounds.slice(1)),
    figureOfMemory('memory of 100 MB into it (limit: idle)', one, 110),
    figureOfMemory(`memory of ${AT_ONCE} times 100 MB at once (limit: idle)`, many, 350),
  ]
}

type Memory = { most: number; idle: number }

async function measureMemory(node: Running, atOnce: number): Promise<Memory> {
  await wait(SETTLED_MS)
  const idle = node.memory()
  node.peak() // discards the peak of the start
  await Promise.all(Array.from({ length: atOnce }, (_, at) => upload(node.port, SIZE, `${atOnce} ${at}`)))
  return { most: node.peak(), idle }
}

function figureOfMemory(work: string, { most, idle }: Memory, atMost: number): Figure {
  const formatMegabytes = (megabytes: number) => `${megabytes.toFixed(0)} MB`
  return {
    ...{ work, ours: formatMegabytes(most), limit: formatMegabytes(idle) },
    ...{ measured: most - idle, unit: ' MB', must: { atMost } },
  }
}
