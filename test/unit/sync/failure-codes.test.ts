// Failures of a run by code, beside its message (decisions#status).

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type FailureFact, FetchFailure } from '../../../src/providers/provider.ts'
import { insertRun, type SyncFailure, selectDescribedRuns } from '../../../src/store/rates/sync-runs.ts'
import { openDesk } from '../../support/rates/memory-bank.ts'

type Desk = Awaited<ReturnType<typeof openDesk>>

/** Runs a sync with a prepared bank, and returns the failures of its record. */
async function runFailures(t: TestContext, prepare: (desk: Desk) => void, signal?: AbortSignal) {
  const desk = await openDesk(t)
  prepare(desk)
  await desk.sync(signal && { signal })
  const [run] = await selectDescribedRuns(desk.db, 1)
  return run?.failures
}

const facts: FailureFact[] = [
  { code: 'unreachable', host: 'gee.bccr.fi.cr' },
  { code: 'timeout', host: 'gee.bccr.fi.cr' },
  { code: 'tls', host: 'gee.bccr.fi.cr' },
  { code: 'http_status', status: 503 },
  { code: 'not_understood' },
]
for (const fact of facts) {
  test(`a run records ${fact.code} with its subject`, async (t) => {
    const failures = await runFailures(t, ({ bank }) => {
      bank.fault = ({ indicator, table }) => {
        if (indicator === '318' || table === '520') throw new FetchFailure('in words', fact)
        return undefined
      }
    })
    assert.deepEqual(failures, [
      { ...fact, of: '318' },
      { ...fact, of: '520' },
    ])
  })
}

test('a run without failures has an empty list', async (t) => {
  assert.deepEqual(await runFailures(t, () => undefined), [])
})

test('rejected rows are one failure with their number', async (t) => {
  const failures = await runFailures(t, ({ bank }) => {
    const eur = bank.publish['333']
    bank.publish['333'] = (day) =>
      ['2026-03-02', '2026-03-20', '2026-03-23'].includes(day) ? '-1' : eur?.(day)
  })
  assert.deepEqual(failures, [{ code: 'row_rejected', of: '520', count: 3 }])
})

test('a full disk has a code, and a defect has `other`', async (t) => {
  const errors: [unknown, SyncFailure][] = [
    [Object.assign(new Error('full'), { code: 'ENOSPC' }), { code: 'disk_full', of: 'test' }],
    [new TypeError('surprise'), { code: 'other', of: 'test' }],
  ]
  for (const [error, failure] of errors) {
    const failures = await runFailures(t, (desk) => {
      desk.bank.fault = () => {
        throw error
      }
    })
    assert.deepEqual(
      failures?.map(({ code }) => code),
      [failure.code],
    )
  }
})

test('a stopped run and one of a dead process are `interrupted`', async (t) => {
  const stop = new AbortController()
  const failures = await runFailures(
    t,
    ({ bank }) => {
      bank.fault = () => {
        stop.abort()
        stop.signal.throwIfAborted()
        return undefined
      }
    },
    stop.signal,
  )
  assert.deepEqual(
    failures?.map(({ code }) => code),
    ['interrupted'],
  )
  const { sync, db } = await openDesk(t)
  const dead = {
    provider_id: 1,
    trigger: 'scheduler' as const,
    date_from: '2026-02-01',
    date_to: '2026-03-24',
  }
  await insertRun(db, { ...dead, started_at: '2026-03-24T11:00:00.000Z' })
  const [open] = await selectDescribedRuns(db, 1)
  assert.equal(open?.failures, undefined, 'an open run has no failures yet')
  await sync()
  const [, closedRun] = await selectDescribedRuns(db, 2)
  assert.deepEqual(
    closedRun?.failures?.map(({ code }) => code),
    ['interrupted'],
  )
})

test('a run of an earlier version has no codes, whatever its message', async (t) => {
  const { sync, db } = await openDesk(t)
  await sync()
  await db
    .updateTable('sync_runs')
    .set({ failures: null, message: '318: HTTP 503', status: 'error' })
    .execute()
  assert.deepEqual(
    (await selectDescribedRuns(db, 5)).map(({ failures }) => failures),
    [undefined],
  )
})
