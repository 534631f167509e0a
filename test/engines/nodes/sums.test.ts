// Two nodes write the same series at the same time, now and then as a program without sums. The sums remain those of the
// rows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atomically, type Engine } from '../../../src/store/engine.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { takeInstant } from '../../../src/store/rates/change-log.ts'
import { listDamagedParts, selectOutdatedSeries, settleSums } from '../../../src/store/rates/rate-sums.ts'
import { openRateWriter } from '../../../src/store/rates/rate-writer.ts'
import { markSeriesChanged, selectRates, upsertRates } from '../../../src/store/rates/rates.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import { addDays } from '../../../src/values/dates.ts'
import { openNode } from '../../support/postgres/database.ts'
import { createPostgresSchema } from '../../support/postgres/server.ts'
import { createMemoryBank } from '../../support/rates/memory-bank.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { fixedClock } from '../../support/temporary.ts'

const SERIES = [1, 2, 3]
const WRITES = 25

test('stored sums are those of the rows after two nodes wrote the same series at once', async (t) => {
  const url = await createPostgresSchema()
  const nodes = [await openNode(t, url), await openNode(t, url)] as const
  const [{ db }] = nodes
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
  await Promise.all(nodes.map((node, at) => writeOften(node, createRandom(at))))
  await verifySums(db)
  await settleSums(db, undefined)
  assert.deepEqual(await selectOutdatedSeries(db), [])
  await verifySums(db)
})

async function verifySums(db: WriteDb): Promise<void> {
  for (const id of SERIES) assert.deepEqual(await listDamagedParts(db, id), [])
}

async function writeOften({ db }: Engine, random: Random): Promise<void> {
  for (let write = 0; write < WRITES; write += 1) {
    const writesSums = random.chance(0.8)
    const from = addDays('2025-12-20', random.int(0, 20))
    const window = { from, to: addDays(from, random.int(0, 10)) }
    const value = String(random.int(490, 510))
    await atomically(db, async (trx) => {
      const now = await takeInstant(trx, fixedClock().read())
      const before = await selectRates(trx, SERIES, window)
      const rates = SERIES.map((series_id) => ({ series_id, rate_date: from, value, rounded_to: null }))
      if (writesSums) {
        const writer = openRateWriter(trx)
        await writer.store(rates, before, now.getTime())
        await writer.close(await raiseRevision(trx, now))
      } else {
        await upsertRates(trx, rates, now.getTime())
        await markSeriesChanged(trx, SERIES, await raiseRevision(trx, now))
      }
    })
  }
}
