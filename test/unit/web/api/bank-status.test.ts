// State of the central bank alone, out of answers of a server with another enabled source.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bankHealthStatus, bankStatus } from '../../../../src/web/api/bank-status.ts'
import type { Reason, Status } from '../../../../src/web/api/responses.ts'

const failedRun = (provider: string): Reason => ({ code: 'last_run_failed', provider })

function status(reasons: string[], reason_codes: Reason[]): Status {
  const provider = (code: string) => ({ code, name: code, enabled: true }) as Status['providers'][number]
  const run = (id: number, provider_id: number) => ({ id, provider_id }) as Status['runs'][number]
  return {
    ...{ version: '1', status: reasons.length > 0 ? 'degraded' : 'ok', reasons, reason_codes },
    scheduler: { enabled: true, running: true },
    storage: { rates: 1, rounded: 0, documents: 0, contents: 0, content_bytes: 0 },
    backup: null,
    ...{ providers: [provider('bccr'), provider('banguat')], runs: [run(3, 3), run(2, 1), run(1, 1)] },
  }
}

test('bankStatus has neither providers, runs nor reasons of another source', () => {
  const result = bankStatus(status(['banguat: the last run failed: HTTP 503'], [failedRun('banguat')]))
  assert.deepEqual([result.status, result.reasons, result.reason_codes], ['ok', [], []])
  assert.deepEqual(
    [result.providers.map(({ code }) => code), result.runs.map(({ id }) => id)],
    [['bccr'], [2, 1]],
  )
})

test('bankStatus has the reasons of the bank as a server without another source has them', () => {
  const reasons = ['bccr: the last run failed: 317: HTTP 500', 'banguat: the dollar has no value of venta']
  const result = bankStatus(status(reasons, [failedRun('bccr'), { code: 'no_value', provider: 'banguat' }]))
  assert.deepEqual([result.status, result.reasons], ['degraded', ['the last run failed: 317: HTTP 500']])
  const alone = status(['the last run failed: 317: HTTP 500'], [failedRun('bccr')])
  assert.deepEqual(bankStatus(alone).reasons, alone.reasons)
})

test('bankHealthStatus ignores reasons of another source alone', () => {
  const health = (...providers: string[]) =>
    bankHealthStatus({
      status: 'degraded',
      detail: { reasons: providers.map((code) => `${code}: x`), reason_codes: providers.map(failedRun) },
    })
  assert.equal(health('banguat', 'ecb'), 'ok')
  assert.equal(health('banguat', 'bccr'), 'degraded')
  assert.equal(health('bccr'), 'degraded')
  assert.equal(bankHealthStatus({ status: 'degraded' }), 'degraded')
  assert.equal(
    bankHealthStatus({ status: 'error', detail: { reasons: ['ecb: x'], reason_codes: [failedRun('ecb')] } }),
    'error',
  )
  assert.equal(bankHealthStatus({ status: 'ok' }), 'ok')
})

test('bankHealthStatus has a reason without a code, such as a full disk', () => {
  const detail = { reasons: ['the disk is full', 'ecb: x'], reason_codes: [failedRun('ecb')] }
  assert.equal(bankHealthStatus({ status: 'degraded', detail }), 'degraded')
  assert.equal(bankHealthStatus({ status: 'degraded', detail: { reasons: ['ecb: x'] } }), 'degraded')
})
