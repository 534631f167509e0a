// Restart of the whole program, depending on the stored runs before it (decisions#start).

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { startTestApp, type TestAppOptions } from '../../support/app.ts'
import { openTestDatabase, temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

const NOON = Date.parse('2026-03-24T12:00:00Z')
const DOWN = { faults: () => ({ status: 400, body: '{"CodigoError":"400","Mensaje":"Fuera de servicio"}' }) }

type Start = Pick<TestAppOptions, 'bank' | 'token'> & { minute?: number }

/** Starts the program with its scheduler on one data directory, waits until it has settled, and stops it. */
function openBox(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  return {
    dataDir,
    async start({ minute = 0, ...options }: Start = {}) {
      const now = new Date(NOON + minute * 60_000).toISOString()
      const backfillFrom = '2026-03-01'
      const { app, json, logLines, bank } = await startTestApp(t, {
        ...options,
        dataDir,
        now,
        backfillFrom,
        scheduler: true,
      })
      await until(() => /"event":"(sync finished|next try)"/.test(logLines.join('')))
      const runs = await json<Record<string, unknown>[]>('/api/v1/sync/runs')
      const run = runs.find(({ trigger }) => trigger !== 'refine') // follows each good run
      const scheduler = await json<{ tasks: { next_run: string }[] }>('/api/v1/scheduler')
      await app.close()
      const lines = logLines.flatMap((some) => some.trim().split('\n')).map((line) => JSON.parse(line))
      const why = (event: string) => lines.find((line) => line.event === event)?.why
      return {
        run: run && `${run.id} ${run.trigger} ${run.status}`,
        row: run,
        nextRun: scheduler.tasks[0]?.next_run,
        began: why('sync at start'),
        skipped: why('next try'),
        asked: bank.requests.length,
      }
    },
    async rows() {
      const db = openTestDatabase(dataDir)
      const runs = db.selectFrom('sync_runs').select(['token_hash', 'token_only'])
      const rows = await runs.where('trigger', '!=', 'refine').orderBy('id').execute()
      await db.destroy()
      return rows.map(({ token_hash, token_only }) => [token_hash, token_only])
    },
  }
}

test('whoever mends what failed and restarts waits for nothing, but at most three times in ten minutes', async (t) => {
  const box = openBox(t)
  const first = await box.start({ bank: DOWN })
  assert.deepEqual([first.run, first.began], ['1 startup error', 'nothing is stored yet'])
  for (const minute of [4, 8]) {
    const again = await box.start({ bank: DOWN, minute })
    assert.equal(again.run, `${minute / 4 + 1} startup error`)
  }
  const fourth = await box.start({ minute: 9 })
  assert.deepEqual([fourth.run, fourth.asked], ['3 startup error', 0])
  assert.equal(fourth.skipped, '3 starts have synced within 10 minutes')
  assert.equal(fourth.nextRun, '2026-03-24T12:10:00.000Z')

  const mended = await box.start({ minute: 10 })
  assert.equal(mended.run, '4 startup ok')
  const calm = await box.start({ minute: 11 })
  assert.deepEqual([calm.run, calm.skipped, calm.asked], ['4 startup ok', 'the last sync was ok', 0])
})

test('a refused token alone is no reason, a renewed one is', async (t) => {
  const box = openBox(t)
  const refused = await box.start({ token: 'expired-token' })
  assert.equal(refused.run, '1 startup parcial')
  const same = await box.start({ token: 'expired-token', minute: 1 })
  assert.deepEqual(
    [same.run, same.skipped, same.asked],
    ['1 startup parcial', 'the token was refused, and is still the same', 0],
  )
  assert.equal(same.nextRun, '2026-03-24T12:15:00.000Z')
  const renewed = await box.start({ minute: 2 })
  assert.deepEqual([renewed.run, renewed.began], ['2 startup ok', 'the last sync was parcial'])
  assert.deepEqual(await box.rows(), [
    [hashOfSecret('expired-token'), 1],
    [hashOfSecret('test-token'), 0],
  ])
})

test('a refused token and something else is a reason', async (t) => {
  const box = openBox(t)
  const bank = { codes: ['333'] }
  const refused = await box.start({ token: 'expired-token', bank })
  assert.equal(refused.run, '1 startup parcial')
  assert.equal((await box.start({ token: 'expired-token', bank, minute: 1 })).run, '2 startup parcial')
  assert.deepEqual(
    (await box.rows()).map((row) => (row as unknown[])[1]),
    [0, 0],
  )
})

test('a run without a token stores no hash, and no answer has token or hash', async (t) => {
  const box = openBox(t)
  const { row } = await box.start({ token: null })
  assert.deepEqual(await box.rows(), [[null, 0]])
  assert.deepEqual(
    Object.keys(row ?? {}).filter((name) => name.includes('token')),
    [],
  )
})
