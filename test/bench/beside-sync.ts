// /rates/latest while the first sync, of the whole history, runs in the same server, beside the same requests to the
// same server while the bank has not answered yet. The bank has no latency, so that the sync takes whatever the machine
// can give: with a second between two requests, as the bank is asked, it takes a hundredth of that.

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

/** `dataDir` has the whole history, which the bank has been asked for before. */
export async function measureBesideSync(
  bank: Bank,
  dataDir: string,
  dir: string,
  key: string,
): Promise<Figure[]> {
  const newDir = join(dir, 'beside')
  const hold = join(bank.folder, 'hold')
  const seen = { quiet: [] as Latencies[], beside: [] as Latencies[] }
  let values = 0
  for (let round = 0; round < ROUNDS; round++) {
    cpSync(dataDir, newDir, { recursive: true })
    forgetHistory(join(newDir, 'cambista.db'))
    writeFileSync(hold, '')
    const server = await startSyncing(bank, newDir)
    const order = { port: server.port, path: LATEST, headers: { 'X-API-Key': key } }
    await latencies(order, wait(WARM_MS))
    seen.quiet.push(await latencies(order, wait(QUIET_MS)))
    rmSync(hold)
    seen.beside.push(
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
  const [beside, quiet] = [seen.beside, seen.quiet].map((all) => median(all.map(({ p99 }) => p99)))
  const longest = median(seen.beside.map((one) => one.longest))
  const shown = (ms = Number.NaN) => `${ms.toFixed(1)} ms`
  return [
    {
      work: `latest beside a sync of ${values.toLocaleString('en')} values, p99 (limit: without the sync)`,
      ours: shown(beside),
      limit: shown(quiet),
      measured: median(seen.beside.map(({ p99 }, round) => p99 / (seen.quiet[round]?.p99 ?? 0))),
      unit: ' times',
      must: { atMost: 3 },
    },
    {
      work: 'the longest of them',
      ours: shown(longest),
      limit: shown(MOST_MS),
      measured: longest / MOST_MS,
      unit: ' times',
      must: { atMost: 1 },
    },
  ]
}

/** Leaves the last days' rates, so that there is an answer from the start, and nothing that says they are known. */
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

/** How long answers take until something has happened. */
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
