// Duration of reading the rates of all series as columns, as at the start of a node. Also that of writing many new
// values in portions, as in a sync. Both by the program's own functions, over either engine.

import { openRateCache } from '../../../src/domain/rates/rate-cache.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { atomically, type Engine } from '../../../src/store/engine.ts'
import { openPostgres } from '../../../src/store/postgres/open-postgres.ts'
import { upsertRates } from '../../../src/store/rates/rates.ts'
import { openSqliteEngine } from '../../../src/store/sqlite/sqlite-engine.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { addDays } from '../../../src/values/dates.ts'
import type { Figure } from '../figure.ts'
import { besides } from './nodes.ts'

const ROUNDS = 5
const VALUES = 100_000
const PORTION = 4000
const SERIES = 10

export async function measureColumns(dataDir: string, url: string): Promise<Figure[]> {
  const rounds = await inTurn(dataDir, url, async ({ longReads }) => async () => {
    const { series, columns } = (await openRateCache(longReads, [bccr])).snapshot()
    await columns(series)
  })
  const work = 'all columns read from PostgreSQL (limit: from SQLite)'
  return [besides({ work, must: { atMost: 1.5 }, shown: formatMs }, rounds)]
}

export async function measureWrites(dataDir: string, url: string): Promise<Figure[]> {
  const rounds = await inTurn(dataDir, url, async ({ db, clock }, round) => {
    const ids = await newSeries(db, round)
    const rates = ids.flatMap((series_id) =>
      Array.from({ length: VALUES / SERIES }, (_, at) => {
        return { series_id, rate_date: addDays('1984-01-01', at), value: `5${at}.07`, rounded_to: null }
      }),
    )
    return async () => {
      for (let at = 0; at < rates.length; at += PORTION) {
        const portion = rates.slice(at, at + PORTION)
        await atomically(db, (trx) => upsertRates(trx, portion, clock().getTime()))
      }
    }
  })
  const work = `${VALUES.toLocaleString('en')} values written to PostgreSQL (limit: to SQLite)`
  return [besides({ work, must: { atMost: 3.5 }, shown: formatMs }, rounds)]
}

/** Returns the milliseconds over each engine; the first round warms up. The preparation is not counted. */
async function inTurn(
  dataDir: string,
  url: string,
  prepare: (engine: Engine, round: number) => Promise<() => Promise<void>>,
): Promise<{ node: number; limit: number }[]> {
  await using engines = new AsyncDisposableStack()
  const open = (engine: Engine) => engines.adopt(engine, (one) => one.close())
  const sqlite = open(await openSqliteEngine(dataDir))
  const postgres = open(await openPostgres(url))
  const rounds = []
  for (let round = 0; round <= ROUNDS; round++) {
    const of = async (engine: Engine) => {
      const work = await prepare(engine, round)
      const start = performance.now()
      await work()
      return performance.now() - start
    }
    rounds.push({ limit: await of(sqlite), node: await of(postgres) })
  }
  return rounds.slice(1)
}

async function newSeries(db: WriteDb, round: number): Promise<number[]> {
  const provider = { code: `bench${round}`, name: 'Bench', country: 'CR', website: null }
  const { id } = await db.insertInto('providers').values(provider).returning('id').executeTakeFirstOrThrow()
  const series = Array.from({ length: SERIES }, (_, at) => ({
    provider_id: id,
    external_code: String(at),
    name: `Series ${at}`,
    base_currency: `X0${at}`,
    quote_currency: 'CRC',
    rate_type: 'venta' as const,
    unit: null,
    periodicity: null,
  }))
  const rows = await db.insertInto('series').values(series).returning('id').execute()
  return rows.map((row) => row.id)
}

function formatMs(ms: number): string {
  return `${ms.toFixed(0)} ms`
}
