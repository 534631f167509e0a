// Client of another cambista, over HTTP: unsynchronized days and its headers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnsynchronizedFailure } from '../../../../src/providers/provider.ts'
import { ask, converse, week } from '../support.ts'

const HOLE = { from: '2026-09-10', to: '2026-09-15' }

test('unsynchronized days of another cambista are requested once, whatever Retry-After', async (t) => {
  const { bank, connection, waits } = await converse(t, { unsynchronized: { 318: [HOLE] } })
  await assert.rejects(connection.read(week()), (error) => {
    assert.ok(error instanceof UnsynchronizedFailure, String(error))
    assert.deepEqual(error.days, { from: '2026-09-14', to: '2026-09-15' })
    assert.equal(
      error.message,
      '318: HTTP 503: Los días del 2026-09-14 al 2026-09-15 no se han sincronizado.',
    )
    return true
  })
  const around = await connection.read(ask('1', '318', '2026-09-16', '2026-09-20'))
  assert.equal(around.observations.length, 5)
  assert.deepEqual([bank.requests.length, waits], [2, []])
})

test('X-Left-Out lists the omitted series of a table', async (t) => {
  const { connection } = await converse(t, { unsynchronized: { 333: [HOLE], 325: [HOLE] } })
  const answer = await connection.read(ask('520', undefined, '2026-06-01', '2026-09-18'))
  assert.deepEqual(answer.leftOut?.toSorted(), ['325', '333'])
  assert.equal(answer.listed.length, 43)
  const whole = await connection.read(ask('520', undefined, '2026-09-16', '2026-09-18'))
  assert.deepEqual([whole.leftOut, whole.listed.length], [undefined, 45])
})

for (const [name, values] of [
  [
    'a value with fewer than 8 decimals is rounded to them',
    [
      ['1.17', 2],
      ['1.1753', 4],
      ['151.23456000', undefined],
      ['110', 0],
    ],
  ],
  [
    'all values of an earlier version are rounded',
    [
      ['1.17000000', 2],
      ['151.23456000', 2],
    ],
  ],
] as const)
  test(`with X-Rounded-To ${name}`, async (t) => {
    const faults = async () => ({
      status: 200,
      headers: { 'X-Rounded-To': '2' },
      body: JSON.stringify({ estado: true, datos: [{ codigoIndicador: '333', series: rows }] }),
    })
    const rows = values.map(([valorDatoPorPeriodo], at) => ({
      fecha: `2026-09-${16 + at}`,
      valorDatoPorPeriodo,
    }))
    const { connection } = await converse(t, { faults })
    const { observations } = await connection.read(week('333'))
    assert.deepEqual(
      observations.map(({ value, roundedTo }) => [value, roundedTo]),
      values,
    )
  })
