// The first sync of the whole history, from a bank without latency. The limit is a plain script that parses the
// same bodies and inserts each value (plain-sync.ts). Also the sync of a day without new values. Each is a process of its
// own, measured with its start.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Figure, median } from './figure.ts'
import { PROGRAM, runToEnd, script, startPrinting } from './process.ts'

const ROUNDS = 3
const ENV = { CAMBISTA_BCCR_TOKEN: 'bench' }

export type Bank = { url: string; folder: string; stop(): void }

/** The bank, which stores its answers in a folder on the first request. */
export async function startReplayBank(dir: string): Promise<Bank> {
  const folder = join(dir, 'bank')
  mkdirSync(folder)
  const { line, stop } = await startPrinting(script('replay-bank.ts', folder))
  return { url: line, folder, stop }
}

/** Syncs everything into a data directory. */
export async function syncHistory(bank: Bank, dataDir: string, program = PROGRAM): Promise<void> {
  await runToEnd([program, 'sync', '--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0'], ENV)
}

/** The bank has stored all its answers before. */
export async function measureSync(bank: Bank, dir: string): Promise<Figure[]> {
  const dataDir = join(dir, 'sync')
  const plainFile = join(dir, 'plain.db')
  const times = { ours: [] as number[], plain: [] as number[], again: [] as number[] }
  let values = 0
  for (let round = 0; round < ROUNDS; round++) {
    const plain = () => runToEnd(script('plain-sync.ts', bank.folder, plainFile))
    times.plain.push(
      await timed(async () => {
        values = Number(await plain())
      }),
    )
    times.ours.push(await timed(() => syncHistory(bank, dataDir)))
    times.again.push(await timed(() => syncHistory(bank, dataDir)))
    rmSync(dataDir, { recursive: true })
    rmSync(plainFile)
  }
  const formatSeconds = (ms: number[]) => `${(median(ms) / 1000).toFixed(2)} s`
  const share = (ms: number[]) => median(times.plain.map((least, round) => least / (ms[round] ?? 0)))
  const limit = formatSeconds(times.plain)
  return [
    {
      work: `sync of ${values.toLocaleString('en')} values (limit: plain script)`,
      ours: formatSeconds(times.ours),
      limit,
      measured: share(times.ours),
      unit: '',
      must: { atLeast: 0.4 },
    },
    {
      work: 'sync again, with nothing new',
      ours: formatSeconds(times.again),
      limit,
      measured: share(times.again),
      unit: '',
    },
  ]
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
