import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { type Column, columnValue } from '../../../../src/domain/rates/column.ts'
import { openRateCache, type RateCache } from '../../../../src/domain/rates/rate-cache.ts'
import { raiseRevision, selectMeta } from '../../../../src/store/meta.ts'
import { markSeriesChanged, upsertRates } from '../../../../src/store/rates/rates.ts'
import { selectSeries } from '../../../../src/store/rates/series.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../../src/sync/catalogue.ts'
import { dayNumber } from '../../../../src/values/dates.ts'
import { createMemoryBank } from '../../../support/rates/memory-bank.ts'
import { fixedClock, ofSqlite, temporaryDatabase } from '../../../support/temporary.ts'

async function store(db: WriteDb, seriesId: number, rates: Record<string, string>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const rows = Object.entries(rates).map(([rate_date, value]) => ({
      series_id: seriesId,
      rate_date,
      value,
      rounded_to: null,
    }))
    await upsertRates(trx, rows, 0)
    await markSeriesChanged(trx, [seriesId], await raiseRevision(trx))
  })
}

async function readColumn(cache: RateCache, seriesId: number) {
  const snapshot = cache.snapshot()
  const [column] = await snapshot.columns(snapshot.series.filter(({ id }) => id === seriesId))
  if (!column) throw new Error(`no column of ${seriesId}`)
  return column
}

async function open(t: Parameters<typeof temporaryDatabase>[0]) {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
  await store(db, 1, { '2026-03-24': '500', '2026-03-23': '499.5' })
  await store(db, 2, { '2026-03-24': '505' })
  return { db, cache: await openRateCache(db, []) }
}

const columnValues = (column: Column) => Array.from(column.days, (_, at) => columnValue(column, at))

test('a column is a series by day, with the digits as they are stored', async (t) => {
  const { cache } = await open(t)
  const column = await readColumn(cache, 1)
  assert.deepEqual([...column.days], [dayNumber('2026-03-23'), dayNumber('2026-03-24')])
  assert.deepEqual(columnValues(column), ['499.5', '500'])
})

test('a snapshot does not change until the cache is refreshed', async (t) => {
  const { db, cache } = await open(t)
  const snapshot = cache.snapshot()
  await store(db, 1, { '2026-03-25': '501' })
  assert.equal(cache.snapshot(), snapshot)
  await cache.refresh()
  assert.equal(cache.snapshot().revision, snapshot.revision + 1)
  assert.equal((await readColumn(cache, 1)).days.length, 3)
})

test('a refresh drops only the columns that changed', async (t) => {
  const { db, cache } = await open(t)
  const [first, second] = [await readColumn(cache, 1), await readColumn(cache, 2)]
  await store(db, 1, { '2026-03-24': '500.1' })
  await cache.refresh()
  assert.notEqual(await readColumn(cache, 1), first)
  assert.equal(await readColumn(cache, 2), second)
})

test('a snapshot is taken when the columns that are in use are there, so that nobody waits for them', async (t) => {
  const { db, cache } = await open(t)
  await readColumn(cache, 1)
  await readColumn(cache, 2)
  await store(db, 1, { '2026-03-25': '501' })
  await store(db, 2, { '2026-03-25': '506' })
  const { misses } = cache.state()
  await cache.refresh()
  const snapshot = cache.snapshot()
  const columns = snapshot.columns(snapshot.series.slice(0, 2))
  assert.ok(Array.isArray(columns), 'not a promise')
  assert.deepEqual(columns.map(columnValues), [
    ['499.5', '500', '501'],
    ['505', '506'],
  ])
  assert.equal(cache.state().misses, misses)
})

test(
  'a refresh reads only columns ahead that were requested since the last snapshot',
  ofSqlite,
  async (t) => {
    const { db, cache } = await open(t)
    await readColumn(cache, 1)
    await readColumn(cache, 2)
    await store(db, 1, { '2026-03-25': '501' })
    await cache.refresh()
    await readColumn(cache, 2) // an unchanged column, requested again
    await store(db, 1, { '2026-03-26': '502' })
    await store(db, 2, { '2026-03-26': '507' })
    await cache.refresh()
    const snapshot = cache.snapshot()
    const [first, second] = [
      snapshot.columns(snapshot.series.slice(0, 1)),
      snapshot.columns(snapshot.series.slice(1, 2)),
    ]
    assert.ok(first instanceof Promise)
    assert.ok(Array.isArray(second))
    assert.equal((await first)[0]?.days.length, 4)
  },
)

test(
  'a snapshot never mixes revisions: a column that has changed since is not read into it',
  ofSqlite,
  async (t) => {
    const { db, cache } = await open(t)
    const snapshot = cache.snapshot()
    await readColumn(cache, 2)
    await store(db, 1, { '2026-03-25': '501' }) // as another process does
    await assert.rejects(Promise.resolve(snapshot.columns(snapshot.series.slice(0, 2))), { code: 'busy' })
    assert.equal(cache.snapshot(), snapshot)
  },
)

test('a query that finds its snapshot outdated is answered from the next one', ofSqlite, async (t) => {
  const { db, cache } = await open(t)
  const before = cache.snapshot().revision
  await store(db, 1, { '2026-03-25': '501' })
  await store(db, 2, { '2026-03-25': '506' })
  const revisions: number[] = []
  const columns = await cache.read((snapshot) => {
    revisions.push(snapshot.revision)
    return snapshot.columns(snapshot.series.slice(0, 2))
  })
  assert.deepEqual(revisions, [before, before + 2])
  assert.deepEqual(
    columns.map((column) => columnValues(column).at(-1)),
    ['501', '506'],
  )
})

test('a query whose next snapshot is outdated too is answered from a third one', ofSqlite, async (t) => {
  const { db, cache } = await open(t)
  const revisions: number[] = []
  const columns = await cache.read(async (snapshot) => {
    revisions.push(snapshot.revision)
    const ids = revisions.length === 1 ? [0, 1] : [2, 3] // others than those that the second snapshot reads ahead
    if (revisions.length < 3) for (const at of ids) await store(db, at + 1, { '2026-03-25': '501' })
    return snapshot.columns(ids.flatMap((at) => snapshot.series[at] ?? []))
  })
  assert.equal(new Set(revisions).size, 3)
  assert.equal(columns.length, 2)
})

test('whatever is committed while columns are read, those of an answer are of one moment', async (t) => {
  const { db, cache } = await open(t)
  let writing = true
  const writer = (async () => {
    for (let at = 0; writing; at++) {
      // Both series get the same value in one transaction: an answer in which they differ mixes two moments.
      await db.transaction().execute(async (trx) => {
        const row = { rate_date: '2026-03-25', value: String(600 + at), rounded_to: null }
        await upsertRates(
          trx,
          [1, 2].map((series_id) => ({ series_id, ...row })),
          0,
        )
        await markSeriesChanged(trx, [1, 2], await raiseRevision(trx))
      })
      if (at % 3 === 0) await cache.refresh()
    }
  })()
  for (let times = 0; times < 100; times++) {
    const columns = await cache.read((snapshot) => snapshot.columns(snapshot.series.slice(0, 2)))
    const [one, two] = columns.map(
      (column) => columnValues(column)[column.days.indexOf(dayNumber('2026-03-25'))],
    )
    assert.equal(one, two)
  }
  writing = false
  await writer
})

test('the last of concurrent refreshes has the newest snapshot', async (t) => {
  const { db, cache } = await open(t)
  await readColumn(cache, 1)
  const refreshes: Promise<void>[] = []
  const revisions: number[] = []
  for (let day = 10; day < 30; day++) {
    await store(db, 1, { [`2026-04-${day}`]: '501' })
    refreshes.push(cache.refresh().then(() => void revisions.push(cache.snapshot().revision)))
  }
  const { revision } = await selectMeta(db)
  await Promise.all(refreshes)
  assert.equal(cache.snapshot().revision, revision)
  assert.deepEqual(
    revisions,
    revisions.toSorted((a, b) => a - b),
  )
  assert.equal((await readColumn(cache, 1)).days.length, 22)
})

test('a failed refresh rejects, and the next one succeeds', async (t) => {
  const { db, cache } = await open(t)
  await store(db, 1, { '2026-03-25': '501' })
  await sql`alter table coverage rename to hidden`.execute(db)
  await assert.rejects(cache.refresh(), /coverage/)
  await sql`alter table hidden rename to coverage`.execute(db)
  await cache.refresh()
  assert.equal((await readColumn(cache, 1)).days.length, 3)
})

test('a refresh without a change reuses the snapshot', async (t) => {
  const { cache } = await open(t)
  const snapshot = cache.snapshot()
  await cache.refresh()
  assert.equal(cache.snapshot(), snapshot)
})

test('a column is read once, at its first request', ofSqlite, async (t) => {
  const { db, cache } = await open(t)
  const column = await readColumn(cache, 1)
  await db.deleteFrom('rates').execute()
  assert.equal(await readColumn(cache, 1), column)
  assert.deepEqual(columnValues(await readColumn(cache, 2)), [])
})

test('concurrent requests for a column share one read', async (t) => {
  const { cache } = await open(t)
  const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => readColumn(cache, 1)))
  for (const other of others) assert.equal(other, first)
})

test('a restored database is another one, even where the revisions agree', async (t) => {
  const { db, cache } = await open(t)
  await readColumn(cache, 1)
  await db.updateTable('rates').set({ value: '400' }).execute()
  await db.updateTable('meta').set({ epoch: 'restored' }).execute()
  await cache.refresh()
  assert.deepEqual(columnValues(await readColumn(cache, 1)), ['400', '400'])
})

test('the count of rates and the first days are those of the page', async (t) => {
  const { db, cache } = await open(t)
  const count = async () => (await cache.snapshot().countRates()).all
  assert.equal(await count(), 3)
  await store(db, 2, { '2026-03-25': '506' })
  assert.equal(await count(), 3)
  await cache.refresh()
  assert.equal(await count(), 4)
  const firstDays = (await selectSeries(db)).map(({ first_data_date }) => first_data_date)
  assert.deepEqual(firstDays, ['2026-03-23', '2026-03-24', null, null, null])
})
