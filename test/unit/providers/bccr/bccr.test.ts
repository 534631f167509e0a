import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BankFault, BankRequest } from '../../../../src/demo/bank.ts'
import { wireNumber } from '../../../../src/demo/bank-public.ts'
import { inventedValue } from '../../../../src/demo/invented-rates.ts'
import { bccr } from '../../../../src/providers/bccr/bccr.ts'
import { passTurns } from '../../turns.ts'
import { ask, converse, requestedPaths, TOKEN, week } from '../support.ts'

const isSite = ({ path }: BankRequest) => path.includes('SitioExterno')

test('bccr reads the dollar before the parities', () => {
  assert.deepEqual(
    bccr.groups.map(({ name, table, indicators }) => [name, table, indicators]),
    [
      ['317/318', '1', ['317', '318']],
      ['520', '520', undefined],
    ],
  )
})

test('bccr connection reads an indicator of the public API', async (t) => {
  const { bank, connection } = await converse(t)
  const answer = await connection.read(week())
  assert.equal(connection.supportsSingleSeries, true)
  assert.deepEqual(answer.listed, [{ code: '318', name: 'Tipo cambio venta' }])
  assert.deepEqual(answer.observations.at(-1), {
    code: '318',
    day: '2026-09-20',
    value: wireNumber(inventedValue('318', '2026-09-20') ?? ''),
    roundedTo: undefined,
  })
  assert.deepEqual(bank.requests[0]?.query, {
    fechaInicio: '2026/09/14',
    fechaFin: '2026/09/20',
    idioma: 'ES',
  })
  assert.deepEqual(connection.notices(), [])
})

test('bccr connection splits a window over 366 or 92 days', async (t) => {
  const { bank, connection } = await converse(t)
  const table = await connection.read(ask('520', undefined, '2026-01-01', '2026-09-20'))
  assert.deepEqual(
    bank.requests.map(({ query }) => `${query.fechaInicio}-${query.fechaFin}`),
    ['2026/01/01-2026/04/02', '2026/04/03-2026/07/03', '2026/07/04-2026/09/20'],
  )
  assert.equal(table.listed.length, 45)
  const days = table.observations.filter(({ code }) => code === '333').map(({ day }) => day)
  assert.deepEqual(days, [...new Set(days)].sort())
  assert.equal(days.length, 185)

  const alone = await connection.read(ask('1', '317', '2024-01-01', '2025-12-31'))
  assert.equal(bank.requests.length, 5)
  assert.equal(alone.observations.length, 731)
})

test('bccr connection lists a single indicator without data, and nothing of an empty table', async (t) => {
  const { connection } = await converse(t)
  assert.deepEqual(await connection.read(ask('1', '317', '1970-01-01', '1970-12-31')), {
    listed: [{ code: '317', name: 'Tipo cambio compra' }],
    observations: [],
  })
  assert.deepEqual(await connection.read(ask('520', undefined, '1970-01-01', '1970-12-31')), {
    listed: [],
    observations: [],
  })
})

test('bccr connection refuses an answer of another indicator, and returns an unknown one of a table', async (t) => {
  const body = `{"estado":true,"datos":[{"codigoIndicador":"999","nombreIndicador":"x","series":[
    {"fecha":"2026-09-14","valorDatoPorPeriodo":1}]}]}`
  const { connection } = await converse(t, { faults: () => ({ status: 200, body }) })
  await assert.rejects(connection.read(week()), /^FetchFailure: 318: the answer is of the indicator 999: /)
  const { listed, observations } = await connection.read(ask('520', undefined, '2026-09-14', '2026-09-20'))
  assert.deepEqual(listed, [{ code: '999', name: 'x' }])
  assert.equal(observations[0]?.code, '999')
})

for (const status of [401, 403, 404]) {
  test(`bccr connection changes to the site when ${status} rejects the token`, async (t) => {
    const refuse = (request: BankRequest): BankFault => (isSite(request) ? 'pass' : { status, body: TOKEN })
    const { bank, connection } = await converse(t, { faults: refuse })
    const { observations } = await connection.read(week())
    assert.deepEqual([observations.length, observations[0]?.roundedTo], [7, 2])
    assert.equal(connection.supportsSingleSeries, false)
    await connection.read(ask('520', undefined, '2026-09-14', '2026-09-20'))
    assert.deepEqual(
      bank.requests.map(({ authorized }) => authorized),
      [true, false, false, false],
    )
    const notices = connection.notices()
    assert.equal(notices.length, 1)
    assert.match(
      notices[0]?.message ?? '',
      new RegExp(`token was refused \\(HTTP ${status}\\).*make a new one`),
    )
    assert.ok(!notices[0]?.message.includes(TOKEN))
    assert.deepEqual(connection.notices(), [])
  })
}

test('bccr connection changes to the site in the middle of a long window', async (t) => {
  const late = ({ query }: BankRequest): BankFault =>
    query.fechaInicio === '2026/04/03' ? { status: 401 } : 'pass'
  const { connection } = await converse(t, { faults: late })
  const { observations } = await connection.read(ask('520', undefined, '2026-01-01', '2026-09-20'))
  assert.ok(observations.every(({ roundedTo }) => roundedTo === 2))
  assert.equal(observations.filter(({ code }) => code === '333').length, 185)
  assert.equal(connection.notices().length, 1)
})

for (const ours of [undefined, '', '  ']) {
  test(`bccr connection reads the site without a notice when the token is ${JSON.stringify(ours)}`, async (t) => {
    const { bank, connection } = await converse(t, { ours })
    assert.equal(connection.supportsSingleSeries, false)
    assert.equal((await connection.read(week())).observations.length, 7)
    assert.deepEqual(requestedPaths(bank), ['Token/GenereCSRF', 'CuadroGrupoVariables/ObtenerDatosCuadro'])
    assert.deepEqual(connection.notices(), [])
  })
}

test('bccr connection does not send an invalid token', async (t) => {
  const { bank, connection } = await converse(t, { ours: 'two words\nand a line' })
  await connection.read(week())
  assert.ok(bank.requests.every(({ authorized }) => !authorized))
  const message = connection.notices()[0]?.message ?? ''
  assert.ok(message.includes('token') && !message.includes('two words'))
})

test('bccr connection continues to use the token after a 500 of the public API', async (t) => {
  const { connection } = await converse(t, { faults: () => ({ status: 500 }) })
  await assert.rejects(connection.read(week()), /^FetchFailure: 318: HTTP 500/)
  assert.equal(connection.supportsSingleSeries, true)
})

test('bccr connection sends one request at a time', async (t) => {
  let open = 0
  const faults = async (): Promise<BankFault> => {
    assert.equal(++open, 1)
    await passTurns()
    open--
    return 'pass'
  }
  const { connection } = await converse(t, { faults })
  const answers = await Promise.all([connection.read(week('317')), connection.read(week('318'))])
  assert.deepEqual(
    answers.map(({ listed }) => listed[0]?.code),
    ['317', '318'],
  )
})
