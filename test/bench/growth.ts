// The same reads, each requested for the first time, over ten times the history and by ten times the clients. The
// cost of a request is the time between two answers of a server that is never idle. The figure is that cost over the
// cost with the history since 1983 and 32 clients.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { type Figure, median } from './figure.ts'
import type { LoadOrder } from './load.ts'
import { answersPerSecond, startProgram } from './process.ts'

// Many short rounds in turn: other load of the machine affects a few of them, not the median.
const ROUNDS = 15
const ROUND_MS = 400
const WARM_MS = 2000
const CLIENTS = 32
const TIMES = 10

const READS: { name: string; paths: string[] }[] = [
  { name: '/rates/latest', paths: ['/api/v1/rates/latest?on={day}'] },
  {
    name: '/convert JPY to CRC',
    paths: ['/api/v1/convert?amount={n}&from=JPY&to=CRC&on={day}'],
  },
  { name: '/rates, all 47', paths: ['/api/v1/rates?on={day}'] },
  {
    name: '/history of a year',
    paths: ['/api/v1/series/2/history?from={day}&to={year later}'],
  },
]

/** `dataDir` has the history since 1983. */
export async function measureGrowth(dataDir: string, dir: string, key: string): Promise<Figure[]> {
  const longDir = join(dir, 'long')
  cpSync(dataDir, longDir, { recursive: true })
  lengthen(join(longDir, 'cambista.db'))
  const short = await startProgram(dataDir)
  const long = await startProgram(longDir)
  const figures: Figure[] = []
  for (const { name, paths } of READS) {
    const order: LoadOrder = {
      port: short.port,
      paths,
      headers: { 'X-API-Key': key },
      connections: CLIENTS,

      ms: ROUND_MS,
    }
    const grown = { ...order, port: long.port, connections: CLIENTS * TIMES }
    for (const one of [order, grown]) await answersPerSecond({ ...one, ms: WARM_MS }) // reads the columns, warms the code
    const costs = { short: [] as number[], long: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      costs.short.push(1e6 / (await answersPerSecond(order)))
      costs.long.push(1e6 / (await answersPerSecond(grown)))
    }
    figures.push({
      work: `${name}, 10 times the history and clients (limit: today's)`,
      ours: `${median(costs.long).toFixed(0)} µs`,
      limit: `${median(costs.short).toFixed(0)} µs`,
      measured: median(costs.long.map((cost, round) => cost / (costs.short[round] ?? 0))),
      unit: ' times',
      must: { atMost: 1.3 },
    })
  }
  await Promise.all([short.stop(), long.stop()])
  return figures
}

/** Adds nine more histories before 1983, of the same values. Answers of later days do not change. */
function lengthen(file: string): void {
  const sqlite = new Sqlite(file)
  sqlite.pragma('synchronous = OFF')
  sqlite.pragma('cache_size = -400000')
  const span = 'select cast(julianday(max(rate_date)) - julianday(min(rate_date)) as integer) + 1 from rates'
  const length = sqlite.prepare(span).pluck().get()
  sqlite
    .prepare(
      `insert into rates
       select series_id, date(rate_date, '-' || (times.value * ?) || ' days') as day, rates.value, rounded_to, stored_at
       from rates, json_each(?) as times order by series_id, day`,
    )
    .run(length, JSON.stringify(Array.from({ length: TIMES - 1 }, (_, at) => at + 1)))
  sqlite.pragma('wal_checkpoint(TRUNCATE)')
  sqlite.close()
}
