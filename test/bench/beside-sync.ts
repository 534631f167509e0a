// /rates/latest during the first sync of the whole history, beside the same requests before the
// bank has answered. The bank has no latency, so that the sync takes all of the machine. With the real pace of one
// request a second it takes a hundredth of that.

import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { type Figure, median } from './figure.ts'
import type { Latencies, LatencyOrder } from './latency.ts'
import { PROGRAM, type Running, script, startScript, startServer } from './process.ts'
import type { Bank } from './sync.ts'

const ROUNDS = 3
const WARM_MS = 1500
const QUIET_MS = 3000
const LOOK_EVERY_MS = 20
const MOST_MS = 100
const LATEST = '/api/v1/rates/latest'

/** `dataDir` has the whole history, whose answers the bank has stored. */
export async function measureBesideSync(
  bank: Bank,
  dataDir: string,
  dir: string,
  key: string,
): Promise<Figure[]> {
  const newDir = join(dir, 'beside')
  const hold = join(bank.folder, 'hold')
  const durations = { quiet: [] as Latencies[], beside: [] as Latencies[] }
  let values = 0
  for (let round = 0; round < ROUNDS; round++) {
    cpSync(dataDir, newDir, { recursive: true })
    forgetHistory(join(newDir, 'cambista.db'))
    writeFileSync(hold, '')
    const server = await startSyncing(bank, newDir)
    const order = { port: server.port, path: LATEST, headers: { 'X-API-Key': key } }
    await latencies(order, wait(WARM_MS))
    durations.quiet.push(await latencies(order, wait(QUIET_MS)))
    rmSync(hold)
    durations.beside.push(
      await latencies(
        order,
        endOfRun(order).then((run) => {
          values = run.inserted
        }),
      ),
    )
    await server.stop()
    rmSync(newDir, { recursive: true })
  }
  const [beside, quiet] = [durations.beside, durations.quiet].map((all) => median(all.map(({ p99 }) => p99)))
  const longest = median(durations.beside.map((one) => one.longest))
  const formatMs = (ms = Number.NaN) => `${ms.toFixed(1)} ms`
  return [
    {
      work: `latest beside a sync of ${values.toLocaleString('en')} values, p99 (limit: without the sync)`,
      ours: formatMs(beside),
      limit: formatMs(quiet),
      measured: median(durations.beside.map(({ p99 }, round) => p99 / (durations.quiet[round]?.p99 ?? 0))),
      unit: ' times',
      must: { atMost: 3 },
    },
    {
      work: 'the longest of them',
      ours: formatMs(longest),
      limit: formatMs(MOST_MS),
      measured: longest / MOST_MS,
      unit: ' times',
      must: { atMost: 1 },
    },
  ]
}

/** Deletes all coverage, and all rates but those of the last days, which answer from the start. */
function forgetHistory(file: string): void {
  const sqlite = new Sqlite(file)
  sqlite.exec(`
    delete from rates where rate_date < (select date(max(rate_date), '-3 days') from rates);
    delete from coverage;
    delete from rate_revisions;
    delete from sync_runs;
    vacuum;
  `)
  sqlite.pragma('wal_checkpoint(TRUNCATE)')
  sqlite.close()
}

function startSyncing(bank: Bank, dataDir: string): Promise<Running> {
  const words = ['serve', '--data-dir', dataDir, '--min-free', '0', '--log-level', 'warn']
  const source = ['--bccr-url', bank.url, '--bccr-pace', '0']
  return startServer((port) => [PROGRAM, ...words, ...source, '--port', port], '/readyz', {
    CAMBISTA_BCCR_TOKEN: 'bench',
  })
}

/** Returns the durations of answers until an event. */
async function latencies(order: LatencyOrder, until: Promise<void>): Promise<Latencies> {
  const load = startScript(script('latency.ts', JSON.stringify(order)))
  await until
  return JSON.parse(await load.stop()) as Latencies
}

async function endOfRun({ port, headers = {} }: LatencyOrder): Promise<{ inserted: number }> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/sync/runs?limit=1`, { headers })
    const [run] = (await answer.json()) as { status: string; finished_at: string | null; inserted: number }[]
    if (run?.finished_at && run.status !== 'ok') throw new Error(`the sync was ${run.status}`)
    if (run?.finished_at) return run
    await wait(LOOK_EVERY_MS)
  }
}
