// Runs of one server: one at a time, and those of optional sources give way to the bank.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Provider } from '../../../src/providers/provider.ts'
import { selectRuns } from '../../../src/store/rates/sync-runs.ts'
import { enableProvider } from '../../../src/sync/catalogue.ts'
import { retryReason } from '../../../src/sync/run.ts'
import { createRunQueue, GAVE_WAY } from '../../../src/sync/run-queue.ts'
import { openSchedulers } from '../../../src/sync/schedulers.ts'
import { pruebas } from '../../support/pruebas/pruebas.ts'
import { openDesk } from '../../support/rates/memory-bank.ts'

test('a required run comes before waiting optional ones, and aborts the current one of them', async () => {
  const { enqueue } = createRunQueue()
  const order: string[] = []
  const run = (name: string) => async (giveWay: AbortSignal) => {
    order.push(name)
    if (name !== 'slow') return name
    await new Promise((resolve) => giveWay.addEventListener('abort', resolve))
    throw giveWay.reason
  }
  const slow = enqueue(run('slow'), { isFirst: false })
  const waiting = enqueue(run('waiting'), { isFirst: false })
  const bank = enqueue(run('bank'), { isFirst: true })
  await assert.rejects(slow, (error) => error === GAVE_WAY)
  assert.deepEqual(await Promise.all([waiting, bank]), ['waiting', 'bank'])
  assert.deepEqual(order, ['slow', 'bank', 'waiting'])
})

test('a required run is never aborted, and a failure leaves the queue running', async () => {
  const { enqueue } = createRunQueue()
  const bank = Promise.withResolvers<AbortSignal>()
  const release = Promise.withResolvers<void>()
  const first = enqueue(
    async (giveWay) => {
      bank.resolve(giveWay)
      await release.promise
      throw new Error('failed')
    },
    { isFirst: true },
  )
  const second = enqueue(async () => 'second', { isFirst: true })
  assert.equal((await bank.promise).aborted, false)
  release.resolve()
  await assert.rejects(first, /failed/)
  assert.equal(await second, 'second')
})

test('a source that never answers does not delay the scheduled sync of the bank', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { db, clock, bank, deps, logged } = await openDesk(t, {
    backfillFrom: '2026-03-20',
    now: '2026-03-24T10:00:00Z',
  })
  const silentRead = Promise.withResolvers<void>()
  const silent: Provider = {
    ...pruebas,
    isOptional: true,
    connect: (_settings, signal) => ({
      read() {
        silentRead.resolve()
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        )
      },
      ...{ supportsSingleSeries: false, exact: true, sourceDay: undefined, notices: () => [] },
    }),
  }
  await enableProvider(db, silent, clock.read)
  const schedulers = openSchedulers(deps, [bank.provider, silent], {
    enabled: true,
    syncCron: ({ settings }) => settings.schedule.fallback,
  })
  t.after(() => schedulers.close())
  schedulers.start()
  await silentRead.promise
  const requests = bank.asked.length
  clock.now = new Date('2026-03-24T11:00:00Z') // 05:00 in Costa Rica
  const bankRuns = async () => (await selectRuns(db, { limit: 50 })).filter(({ provider_id: id }) => id === 1)
  t.mock.timers.tick(1000)
  await schedulers.idle()
  const [scheduled] = await bankRuns()
  assert.deepEqual(
    [scheduled?.trigger, scheduled?.status, scheduled?.started_at],
    ['scheduler', 'ok', '2026-03-24T11:00:00.000Z'],
  )
  assert.ok(bank.asked.length > requests)
  const other = (await selectRuns(db, { limit: 50 })).find(({ provider_id: id }) => id !== 1)
  assert.ok(other)
  assert.equal(other.message, 'interrupted: gave way to a sync of a required provider')
  assert.deepEqual(
    retryReason([{ run: other, current: false, complete: false, due: '', cause: 'interrupted' }]),
    {
      ...{ why: 'the sync was error', isSoon: true, isInterrupted: true },
    },
  )
  deps.log.flush()
  const lines = logged.join('').split('\n')
  const end = lines.find((line) => line.includes('"sync finished"') && line.includes('"status":"error"'))
  assert.equal(JSON.parse(end ?? '{}').level, 'warn')
  const retry = lines.findLast((line) => line.includes('"next try"') && line.includes('pruebas'))
  assert.match(retry ?? '', /2026-03-24T11:15:00/)
})
