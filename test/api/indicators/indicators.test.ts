// Endpoints of indicators: lists, latest values, histories, counters and runs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startIndicatorApp, TBP } from '../../support/rates/indicator-app.ts'

const TODAY = '2026-03-24'
const COUNTERS = [
  { code: '3149', name: 'Banco Nacional' },
  { code: '3208', name: 'Banco Nacional' },
  { code: '3154', name: 'Otra' },
]

test('indicators answer with the digits of the bank: list, latest, history and files', async (t) => {
  const app = await startIndicatorApp(t, [TBP, { code: '777', name: 'Sin lista', unit: 'Millones' }])
  const digits: Record<string, string | null> = {
    '2026-03-18': '4.10000000',
    '2026-03-19': null,
    '2026-03-20': '-0.25',
    '2026-03-21': '0',
  }
  app.values['423'] = (day) => digits[day]
  await app.sync()
  assert.deepEqual(await app.json('/api/v1/indicators'), [])
  await app.enable(['423', '777'], '2026-03-10')
  assert.equal((await app.read())?.status, 'ok')
  const names = {
    provider: 'bccr',
    code: '423',
    name: TBP.name,
    unit: 'porcentaje anual',
    periodicity: 'diaria',
  }
  const { provider, code, name, unit, periodicity } = names
  assert.deepEqual(await app.json('/api/v1/indicators'), [
    {
      ...{ provider, code, key: 'tbp', name, kind: 'interest', unit, periodicity },
      ...{ first_date: '2026-03-18', newest_date: '2026-03-21', enabled: true },
    },
    {
      ...{ provider, code: '777', name: 'Sin lista', kind: 'other', unit: 'Millones', periodicity: 'diaria' },
      ...{ first_date: null, newest_date: null, enabled: true },
    },
  ])
  assert.deepEqual(await app.json('/api/v1/indicators?kind=index'), [])
  const detailed = await app.json<{ newest_value: string | null }[]>('/api/v1/indicators?details=true')
  assert.deepEqual(
    detailed.map(({ newest_value: value }) => value),
    ['0', null],
  )
  const file = await (await app.get('/api/v1/indicators.csv?details=true')).text()
  assert.match(file, /^provider,.*,enabled,newest_value\nbccr,423,.*,true,0\nbccr,777,.*,true,\n$/)
  const latest = { ...names, value_date: '2026-03-21', value: '0' }
  assert.deepEqual(await app.json('/api/v1/indicators/423/latest'), latest)
  assert.deepEqual(await app.json('/api/v1/indicators/TBP/latest?on=2026-03-25'), latest)
  assert.deepEqual(await app.json('/api/v1/indicators/423/latest?on=2026-03-20'), {
    ...latest,
    ...{ value_date: '2026-03-20', value: '-0.25' },
  })
  const points = [
    { date: '2026-03-18', value: '4.1' },
    { date: '2026-03-20', value: '-0.25' },
    { date: '2026-03-21', value: '0' },
  ]
  assert.deepEqual(await app.json('/api/v1/indicators/tbp/history?from=2026-03-10'), {
    ...{ ...names, date_from: '2026-03-10', date_to: TODAY, count: 3, points },
  })
  const csv = await app.get('/api/v1/indicators/423/history.csv?from=2026-03-19')
  assert.equal(await csv.text(), 'date,value\n2026-03-20,-0.25\n2026-03-21,0\n')
  const local = await app.get('/api/v1/indicators/423/history.csv?from=2026-03-19&dialect=es-CR')
  assert.equal(await local.text(), 'date;value\r\n20/03/2026;-0,25\r\n21/03/2026;0\r\n')
  const ndjson = await app.get('/api/v1/indicators/423/history.ndjson?from=2026-03-20')
  assert.equal(
    await ndjson.text(),
    '{"date":"2026-03-20","value":"-0.25"}\n{"date":"2026-03-21","value":"0"}\n',
  )
  const runs =
    await app.json<{ trigger: string; status: string; inserted: number }[]>('/api/v1/indicators/runs')
  assert.deepEqual(
    runs.map(({ trigger, status, inserted }) => [trigger, status, inserted]),
    [['scheduler', 'ok', 3]],
  )
})

test('indicators never bridge a hole: an error for a value, `holes` and X-Holes for a list', async (t) => {
  const app = await startIndicatorApp(t, [TBP])
  app.values['423'] = (day) => (day <= TODAY ? '4' : undefined)
  await app.sync()
  await app.enable(['423'], '2026-02-01')
  await app.read({ isNewestOnly: true })
  const holes = [{ from: '2026-03-01', to: '2026-03-09' }]
  const history = await app.json<{ holes: unknown; count: number }>(
    '/api/v1/indicators/423/history?from=2026-03-01',
  )
  assert.deepEqual([history.holes, history.count], [holes, 15])
  const file = await app.get('/api/v1/indicators/423/history.csv?from=2026-03-01')
  assert.equal(file.headers.get('x-holes'), '2026-03-01..2026-03-09')
  const before = await app.get('/api/v1/indicators/423/latest?on=2026-03-05')
  assert.equal(before.status, 404)
  assert.match(await before.text(), /the days from 2026-03-05 to 2026-03-05 have not been synchronized/)
})

test('errors of indicators name the command, the field, or the list', async (t) => {
  const app = await startIndicatorApp(t, [TBP])
  await app.sync()
  const detail = async (path: string, status: number) => {
    const answer = await app.get(path)
    const text = await answer.text()
    assert.equal(answer.status, status, text)
    return text
  }
  const off = await detail('/api/v1/indicators/423/latest', 404)
  assert.equal(off, '{"detail":"not enabled: cambista indicator enable 423","reason":"no_indicator"}')
  assert.match(
    await detail('/api/v1/indicators/tpm/history', 404),
    /not enabled: cambista indicator enable 3541/,
  )
  assert.match(
    await detail('/api/v1/indicators/tbb/latest', 404),
    /There is no indicator tbb; see \/api\/v1\/indicators/,
  )
  assert.match(
    await detail('/api/v1/indicators/12345678901/latest', 422),
    /code must be the code of an indicator/,
  )
  await app.enable(['423'])
  assert.match(await detail('/api/v1/indicators/423/latest?on=2026-03-26', 422), /must not be after tomorrow/)
  assert.match(await detail('/api/v1/ventanilla?on=2026-03-26', 422), /must not be after tomorrow/)
  assert.match(await detail('/api/v1/indicators/423/history?date=1', 422), /there is no parameter date/)
  assert.match(await detail('/api/v1/indicators?kind=x', 422), /kind must be interest, exchange/)
  await app.read()
  assert.match(
    await detail('/api/v1/indicators/423/latest', 404),
    /No value of the indicator 423 is stored on or before 2026-03-24/,
  )
})

test('as_of answers as before a correction, and names the begin of the record', async (t) => {
  const app = await startIndicatorApp(t, [TBP])
  app.values['423'] = (day) => (day <= TODAY ? '4' : undefined)
  await app.sync()
  await app.enable(['423'], '2026-03-10')
  await app.read()
  const before = '2026-03-24T13:00:00.000Z'
  app.clock.now = new Date('2026-03-25T12:30:00Z')
  app.values['423'] = (day) => (day === '2026-03-20' ? '4.5' : day <= TODAY ? '4' : undefined)
  await app.sync()
  app.clock.now = new Date('2026-03-25T12:45:00Z')
  assert.equal((await app.read())?.updated, 1)
  const value = async (query: string) =>
    (await app.json<{ value: string }>(`/api/v1/indicators/423/latest?on=2026-03-20${query}`)).value
  assert.deepEqual([await value(''), await value(`&as_of=${before}`)], ['4.5', '4'])
  const history = await app.json<{ count: number; as_of: string }>(
    `/api/v1/indicators/423/history?from=2026-03-10&as_of=${before}`,
  )
  assert.deepEqual([history.count, history.as_of], [15, before])
  const early = await app.get('/api/v1/indicators/423/latest?as_of=2026-03-01T00:00:00Z')
  assert.deepEqual(
    [early.status, /the record of the indicator 423 begins at/.test(await early.text())],
    [404, true],
  )
  assert.equal((await app.get('/api/v1/indicators/423/latest?as_of=2027-01-01T00:00:00Z')).status, 422)
})

test('/status has the enabled indicators with their state and age, and health stays ok', async (t) => {
  const app = await startIndicatorApp(t, [TBP])
  app.values['423'] = (day) => (day <= '2026-03-12' ? '4' : undefined)
  await app.sync()
  const status = () =>
    app.json<{ status: string; indicators?: { enabled: unknown[]; runs: unknown[] } }>('/api/v1/status')
  const health = () => app.json<{ status: string; detail?: unknown }>('/api/v1/health')
  assert.equal((await health()).detail, undefined)
  assert.equal((await status()).indicators, undefined)
  await app.enable(['423'], '2026-03-10')
  await app.read()
  const { status: overall, indicators } = await status()
  assert.equal(overall, 'ok')
  assert.equal(indicators?.runs.length, 1)
  const words = { code: '423', name: TBP.name, state: 'active', refusal: null }
  const age = { newest_date: '2026-03-12', age_days: 12, history_since: '2026-03-10' }
  assert.deepEqual(indicators?.enabled, [{ ...words, ...age, history_percent: 100 }])
  const late = [`423 (${TBP.name}): the newest value is of 2026-03-12`]
  assert.deepEqual([(await health()).status, (await health()).detail], ['ok', { indicators: late }])
  await app.disable('423')
  assert.equal((await health()).detail, undefined)
})

test('/ventanilla lists the enabled counters by entity, each side with its day', async (t) => {
  const app = await startIndicatorApp(t, COUNTERS)
  app.values['3149'] = (day) => (day <= '2026-03-23' ? '495' : undefined)
  app.values['3208'] = (day) => (day <= TODAY ? '509.50' : undefined)
  await app.sync()
  assert.deepEqual(await app.json('/api/v1/ventanilla'), [])
  await app.enable(['3149', '3208'], '2026-03-10')
  await app.read()
  const row = {
    ...{ entity: 'Banco Nacional', kind: 'Publica', compra: '495', compra_date: '2026-03-23' },
    ...{ venta: '509.5', venta_date: TODAY },
  }
  assert.deepEqual(await app.json('/api/v1/ventanilla'), [row])
  assert.deepEqual(await app.json('/api/v1/ventanilla?entity=nacional'), [row])
  assert.deepEqual(await app.json('/api/v1/ventanilla?entity=popular'), [])
  const csv = await (await app.get('/api/v1/ventanilla.csv')).text()
  const head = 'entity,kind,compra,compra_date,venta,venta_date'
  assert.equal(csv, `${head}\nBanco Nacional,Publica,495,2026-03-23,509.5,2026-03-24\n`)
  await app.disable('3149')
  await app.enable(['3208'])
  const [half] = await app.json<{ compra: string | null; venta: string }[]>('/api/v1/ventanilla')
  assert.deepEqual([half?.compra, half?.venta], [null, '509.5'])
})

test('/ventanilla answers an instant with the counters of its record, whatever is enabled later', async (t) => {
  const app = await startIndicatorApp(t, COUNTERS)
  for (const { code } of COUNTERS) app.values[code] = (day) => (day <= TODAY ? '495' : undefined)
  await app.sync()
  await app.enable(['3149'], '2026-03-10')
  await app.read()
  app.clock.now = new Date('2026-03-25T12:45:00Z')
  const path = `/api/v1/ventanilla?on=${TODAY}&as_of=2026-03-24T13:00:00.000Z`
  const before = await app.json<{ compra: string }[]>(path)
  assert.deepEqual(
    before.map(({ compra }) => compra),
    ['495'],
  )
  await app.enable(['3154'], '2026-03-10')
  assert.deepEqual(await app.json(path), before)
  await app.disable('3149')
  await app.enable(['3208'], '2026-03-10')
  assert.deepEqual(await app.json(path), before)
  const missing = await app.get('/api/v1/indicators/3149/latest?on=2026-03-09&as_of=2026-03-24T13:00:00Z')
  assert.match(await missing.text(), /2026-03-09 have not been synchronized/)
  const early = await app.get('/api/v1/ventanilla?as_of=2026-03-20T00:00:00Z')
  assert.deepEqual(
    [early.status, await early.text()],
    [404, '{"detail":"the record of the indicator 3149 begins at 2026-03-24T12:40:00.000Z"}'],
  )
})

test('/ventanilla names the codes of days before the fetched history', async (t) => {
  const app = await startIndicatorApp(t, COUNTERS)
  for (const code of ['3149', '3208']) app.values[code] = (day) => (day <= TODAY ? '500' : undefined)
  await app.sync()
  await app.enable(['3149', '3208'], '2026-03-10')
  const codes = async (query = '') => (await app.get(`/api/v1/ventanilla${query}`)).headers.get('x-left-out')
  assert.equal(await codes(), '3149,3208', 'nothing is fetched')
  await app.read({ isNewestOnly: true })
  assert.equal(await codes(), null)
  assert.equal(await codes('?on=2026-02-01'), '3149,3208')
  const [row] = await app.json<{ compra: unknown; venta: unknown }[]>('/api/v1/ventanilla?on=2026-02-01')
  assert.deepEqual([row?.compra, row?.venta], [null, null])
})

test('answers of indicators have an ETag that changes with their data alone', async (t) => {
  const app = await startIndicatorApp(t, [TBP])
  app.values['423'] = (day) => (day <= TODAY ? '4' : undefined)
  await app.sync()
  await app.enable(['423'], '2026-03-10')
  await app.read()
  const tag = async (path: string) => (await app.get(path)).headers.get('etag') ?? ''
  const rates = await tag('/api/v1/series')
  const first = await tag('/api/v1/indicators/423/latest')
  const again = await app.get('/api/v1/indicators/423/latest', { 'if-none-match': first })
  assert.equal(again.status, 304)
  app.clock.now = new Date('2026-03-25T12:45:00Z')
  app.values['423'] = () => '5'
  await app.sync()
  const synced = await tag('/api/v1/series')
  assert.notEqual(synced, rates)
  await app.read()
  assert.notEqual(await tag('/api/v1/indicators/423/latest'), first)
  assert.equal(await tag('/api/v1/series'), synced)
})
