// The read model of a node whose database is remote. A snapshot has one revision, whatever is committed during its
// queries, and the revision is equal on each node. A loaded snapshot answers without the database.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { columnValue } from '../../src/domain/rates/column.ts'
import { createExportReader, readExportData } from '../../src/domain/rates/export/export.ts'
import { openRateCache, type RateSnapshot } from '../../src/domain/rates/rate-cache.ts'
import { atomically, type Engine } from '../../src/store/engine.ts'
import { raiseRevision, selectMeta } from '../../src/store/meta.ts'
import { replaceCoverage } from '../../src/store/rates/coverage.ts'
import { markSeriesChanged, upsertRates } from '../../src/store/rates/rates.ts'
import { ensureCatalogue } from '../../src/sync/catalogue.ts'
import { openNode } from '../support/postgres/database.ts'
import { createPostgresSchema } from '../support/postgres/server.ts'
import { createMemoryBank } from '../support/rates/memory-bank.ts'
import { fixedClock } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'

// A commit may take longer than many reads.
const [REVISIONS, MAX_TIMES] = [20, 20_000]

test('whatever is committed between its queries, a snapshot is of one revision, the same on each node', async (t) => {
  const [writer, ...nodes] = await openNodes(t, 3)
  const caches = await Promise.all(nodes.map(({ longReads }) => openRateCache(longReads, [])))
  let writing = true
  const writes = (async () => {
    for (let at = 0; writing; at++) await store(writer, [1, 2, 3], String(600 + at), at)
  })()
  const texts = new Map<string, string>()
  for (let times = 0; times < 80 || texts.size <= REVISIONS; times++) {
    assert.ok(times < MAX_TIMES, `${texts.size} revisions seen`)
    for (const cache of caches) {
      await cache.refresh()
      const snapshot = cache.snapshot()
      const name = `${snapshot.epoch} ${snapshot.revision}`
      const text = snapshotText(snapshot)
      assert.equal(texts.get(name) ?? text, text, 'one revision, two contents')
      texts.set(name, text)
      const { values, covered } = JSON.parse(text) as { values: string[]; covered: number[] }
      assert.equal(new Set(values.slice(0, 3)).size, 1, `columns of two moments: ${text}`)
      assert.equal(covered[1], Number(values[0]) - 600, 'covered days of another moment than the values')
    }
  }
  writing = false
  await writes
})

test('a snapshot has all columns, and answers when the database is gone', async (t) => {
  const [writer] = await openNodes(t, 1)
  await store(writer, [1, 2], '505.5', 3)
  const other = await openRateCache(writer.longReads, [])
  await writer.close()
  const snapshot = other.snapshot()
  assert.deepEqual(JSON.parse(snapshotText(snapshot)).values.slice(0, 4), ['505.5', '505.5', '600', null])
  assert.deepEqual(await snapshot.countRates(), { all: 3, rounded: 0, roundedSeries: new Map() })
})

test('`createExportReader` reads export data ahead, and again after each change', async (t) => {
  const [writer, gone] = await openNodes(t, 2)
  assert.ok(gone)
  await selectMeta(gone.reads)
  await gone.close()
  const cache = await openRateCache(writer.longReads, [])
  const readAhead = createExportReader(writer.reads, cache)
  const isThere = () =>
    readExportData(gone.reads, cache).then(
      () => true,
      () => false,
    )
  assert.equal(await isThere(), false)
  readAhead()
  await store(writer, [1, 2], '505.5', 3)
  await cache.refresh()
  readAhead()
  await until(isThere)
})

async function openNodes(t: TestContext, count: number): Promise<[Engine, ...Engine[]]> {
  const url = await createPostgresSchema()
  const first = await openNode(t, url)
  const { read } = fixedClock()
  await ensureCatalogue(first.db, [createMemoryBank(fixedClock()).provider], read)
  await store(first, [1, 2, 3], '600', 0)
  return [first, ...(await Promise.all(Array.from({ length: count - 1 }, () => openNode(t, url))))]
}

/** Stores one value for all series, and `days` covered days of the first, in one transaction. */
async function store({ db }: Engine, series: number[], value: string, days: number): Promise<void> {
  await atomically(db, async (trx) => {
    const rows = series.map((series_id) => ({ series_id, rate_date: '2026-03-24', value, rounded_to: null }))
    await upsertRates(trx, rows, 0)
    const to = new Date(days * 86_400_000).toISOString().slice(0, 10)
    await replaceCoverage(trx, 'answered', new Map([[1, [{ from: '1970-01-01', to }]]]), 0)
    await markSeriesChanged(trx, series, await raiseRevision(trx))
  })
}

/** The newest value of each series, and the covered days of the first; fails if a column is not loaded. */
function snapshotText(snapshot: RateSnapshot): string {
  const columns = snapshot.columns(snapshot.series)
  assert.ok(Array.isArray(columns), 'a column is still to be read')
  const values = columns.map((column) =>
    column.days.length > 0 ? columnValue(column, column.days.length - 1) : null,
  )
  return JSON.stringify({ values, covered: [...snapshot.coveredDays(1)] })
}
