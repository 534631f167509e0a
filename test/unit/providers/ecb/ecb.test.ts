// European Central Bank: contract suite over captured values, requests of currencies, and tables that are rejected.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ecb } from '../../../../src/providers/ecb/ecb.ts'
import { readEcbRates } from '../../../../src/providers/ecb/rates.ts'
import { completeAnswer, FetchFailure } from '../../../../src/providers/provider.ts'
import { canonicalNumber } from '../../../../src/values/decimal.ts'
import { type Manner, startFaultySource } from '../../../contract/faulty-source.ts'
import { testProvider } from '../../../contract/provider.ts'

const FOLDER = join(import.meta.dirname, '../../../fixtures/ecb')
const readFixture = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const whole = readFixture('reconstructed-exr-dataonly-2026-03-11.csv')
const [HEAD = ''] = whole.split('\r\n')
const ask = (from: string, to: string) => ({ table: 'ecb', indicator: undefined, window: { from, to } })
const WEEK = ask('2026-03-11', '2026-03-18')
const TODAY = '2026-03-18'

const line = (currency: string, day: string, value: string) =>
  `EXR.D.${currency}.EUR.SP00.A,D,${currency},EUR,SP00,A,${day},${value}`
const table = (...lines: string[]) => `${[HEAD, ...lines].join('\r\n')}\r\n`

/** The rows of the recording, which has four columns. */
const recorded = readFixture('exr-cut-2026-02-17.csv').trim().split(/\r?\n/).slice(1)
const rows = whole
  .trimEnd()
  .split('\r\n')
  .slice(1)
  .map((row) => row.split(','))

testProvider('ecb', {
  provider: ecb,
  token: undefined,
  valid: {
    ask: WEEK,
    body: whole,
    values: rows.map(([, , currency, , , , day = '', value = '']) => [
      `D.${currency}.EUR.SP00.A`,
      day,
      canonicalNumber(value) ?? '',
    ]),
  },
  empty: { ask: ask('2026-03-14', '2026-03-15'), body: '' },
  // A cell with a comma needs quotes.
  rewrite: ({ value, day }) =>
    whole.replace(/[\d.]+(?=\r\n)/g, (text) => `"${value(text)}"`).replace(/\d{4}-\d\d-\d\d/g, day),
  rewriteRows: (change) => table(...change(whole.trimEnd().split('\r\n').slice(1))),
  strangers: [
    whole.replaceAll(',EUR,SP00,', ',USD,SP00,'),
    whole.replaceAll(',D,USD,', ',D,x,').replaceAll(',D,GBP,', ',D,USD,').replaceAll(',D,x,', ',D,GBP,'),
  ],
  wrong: [
    'KEY,TIME_PERIOD,OBS_VALUE\r\nx,2026-03-11,1\r\n',
    table('EXR.M.USD.EUR.SP00.A,M,USD,EUR,SP00,A,2026-03,1.1'),
    table('EXR.D.USD.CHF.SP00.A,D,USD,CHF,SP00,A,2026-03-11,1.1'),
    table('EXR.D.USD.EUR.SP00.E,D,USD,EUR,SP00,E,2026-03-11,1.1'),
    table('EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-03-11'),
    '{"header":{},"dataSets":[]}',
    '"KEY,FREQ\r\n',
  ],
})

async function open(t: TestContext, manner: Manner) {
  const source = await startFaultySource(t, manner)
  const settings = { url: `${source.url}/`, token: undefined, paceMs: 0, userAgent: 'cambista/test' }
  const connection = ecb.connect(settings, new AbortController().signal, { sleep: async () => undefined })
  return { source, connection }
}

test('the values are those of the recording, which has 29 currencies', () => {
  const ofWeek = recorded.filter((row) => (row.split(',')[2] ?? '') >= '2026-03-11')
  const short = rows.map(([, freq, currency, , , , day, value]) => [freq, currency, day, value].join(','))
  assert.deepEqual(short.toSorted(), ofWeek.toSorted())
  assert.equal(new Set(rows.map(([, , currency]) => currency)).size, 29)
  assert.equal(ecb.catalogue.length, 29)
})

test('a window requests each currency by name', async (t) => {
  const { source, connection } = await open(t, { body: whole })
  await connection.read(WEEK)
  const [seen] = source.seen
  assert.equal(
    seen?.path,
    '/service/data/EXR/D.AUD+BRL+CAD+CHF+CNY+CZK+DKK+GBP+HKD+HUF+IDR+ILS+INR+ISK+JPY+KRW+MXN+MYR+NOK+NZD+PHP+PLN+' +
      'RON+SEK+SGD+THB+TRY+USD+ZAR.EUR.SP00.A?startPeriod=2026-03-11&endPeriod=2026-03-18&format=csvdata&detail=dataonly',
  )
  assert.equal(JSON.parse(seen.headers).accept, 'text/csv')
})

test('a 404 of the list is tried once without it, and rows of other currencies are dropped', async (t) => {
  const { source, connection } = await open(t, { status: 404, body: 'No results found.' })
  await assert.rejects(
    connection.read(WEEK),
    /ecb: HTTP 404: No results found\. \(the address .* has moved\)$/,
  )
  assert.deepEqual(
    source.seen.map(({ path }) => /D\.\w*/.exec(path)?.[0]),
    ['D.AUD', 'D.'],
  )
  const all = table(line('USD', '2026-03-11', '1.1'), line('BGN', '2025-12-31', '1.9558'))
  const refusing = await startFaultySource(t, { status: 404, body: '' }, (path) =>
    path.includes('/D..EUR.') ? all : undefined,
  )
  const settings = { url: refusing.url, token: undefined, paceMs: 0, userAgent: 'cambista/test' }
  const fallback = ecb.connect(settings, new AbortController().signal, { sleep: async () => undefined })
  const values = async () =>
    (await fallback.read(WEEK)).observations.map(({ code, value }) => `${code} ${value}`)
  assert.deepEqual(await values(), ['D.USD.EUR.SP00.A 1.1'])
  assert.deepEqual(await values(), ['D.USD.EUR.SP00.A 1.1'])
  assert.equal(refusing.seen.length, 1, 'the list is not requested again in this connection')
  assert.deepEqual(fallback.notices(), [])
})

test('a row without a value is no publication, and lists its currency', async () => {
  const others = ecb.catalogue.map(({ quote }) => quote).filter((one) => !['USD', 'JPY'].includes(one))
  const window = { from: '2004-05-01', to: '2004-05-03' }
  const body = table(
    line('USD', '2004-05-01', ''),
    line('USD', '2004-05-03', '1.1927'),
    line('JPY', '2004-05-03', 'NaN'),
    ...others.map((one) => line(one, '2004-05-03', '')),
  )
  const { observations, listed, leftOut } = await readEcbRates(body, window, TODAY)
  assert.deepEqual(
    observations.map(({ day, value }) => `${day} ${value}`),
    ['2004-05-03 1.1927'],
  )
  assert.deepEqual([listed.length, leftOut], [29, undefined])
})

test('an empty body and the head alone are no data of at most four past days', async () => {
  const easter = { from: '2026-04-03', to: '2026-04-07' }
  for (const body of ['', '\r\n', `${HEAD}\r\n`]) {
    const { observations, listed } = await readEcbRates(body, easter, '2026-04-07')
    assert.deepEqual([observations, listed], [[], []])
    assert.deepEqual((await readEcbRates(body, { from: '1990-01-01', to: '1999-01-07' }, TODAY)).listed, [])
    await assert.rejects(readEcbRates(body, easter, '2026-04-08'), {
      message: 'the answer has no row from 2026-04-03 to 2026-04-07',
    })
  }
})

test('columns are found by name, and quotes are understood', async () => {
  const body =
    'KEY,TITLE,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,OBS_STATUS,TIME_PERIOD,OBS_VALUE\r\n' +
    'EXR.D.USD.EUR.SP00.A,"US dollar, ""spot""",D,USD,EUR,SP00,A,A,2026-03-11,1.1549\r\n'
  const { observations } = await readEcbRates(body, WEEK.window, TODAY)
  assert.deepEqual(observations, [
    { code: 'D.USD.EUR.SP00.A', day: '2026-03-11', value: '1.1549', roundedTo: undefined },
  ])
})

test('a currency that was not requested is dropped, and named once a week', async (t) => {
  const body = table(line('USD', '2026-03-11', '1.1549'), line('XYZ', '2026-03-11', '3'))
  const { source, connection } = await open(t, { body, headers: { Date: 'Mon, 23 Mar 2026 18:00:00 GMT' } })
  assert.equal((await connection.read(WEEK)).observations.length, 1)
  assert.deepEqual(connection.notices(), [{ message: 'ecb: unknown currency XYZ, not stored' }])
  source.manner = { body, headers: { Date: 'Tue, 24 Mar 2026 18:00:00 GMT' } }
  await connection.read(WEEK)
  assert.deepEqual(connection.notices(), [])
})

test('a currency that ends before the others is left out of the coverage', async () => {
  const cut = whole.slice(0, whole.indexOf('EXR.D.ZAR.EUR.SP00.A,D,ZAR,EUR,SP00,A,2026-03-17'))
  const { listed, leftOut, observations } = await readEcbRates(cut, WEEK.window, TODAY)
  assert.deepEqual([leftOut, listed.length], [['D.ZAR.EUR.SP00.A'], 28])
  assert.equal(observations.length, rows.length - 2)
  assert.equal((await readEcbRates(whole, WEEK.window, TODAY)).leftOut, undefined)
})

test('a currency that lacks a day of the others is left out, unless it had not begun or paused', async () => {
  const currencies = ecb.catalogue.map(({ quote }) => quote)
  const window = { from: '2008-12-01', to: '2008-12-31' }
  const late = ['INR', 'ILS']
  const read = (lacks: (currency: string, day: string) => boolean) =>
    readEcbRates(
      table(
        ...['2008-12-09', '2008-12-10', '2008-12-31'].flatMap((day) =>
          currencies.filter((one) => !lacks(one, day)).map((one) => line(one, day, '290')),
        ),
      ),
      window,
      TODAY,
    )
  const lacksRow = (one: string, day: string) => late.includes(one) || (one === 'ISK' && day > '2008-12-09')
  const { listed, leftOut } = await read(lacksRow)
  assert.deepEqual([listed.length, leftOut], [27, undefined])
  const cut = await read(
    (one, day) => lacksRow(one, day) || one === 'JPY' || (one === 'ISK' && day === '2008-12-09'),
  )
  assert.deepEqual(cut.leftOut, ['D.ISK.EUR.SP00.A', 'D.JPY.EUR.SP00.A'])
  const middle = await read((one, day) => lacksRow(one, day) || (one === 'GBP' && day === '2008-12-10'))
  assert.deepEqual([middle.leftOut, middle.listed.length], [['D.GBP.EUR.SP00.A'], 26])
  const first = await read((one) => one !== 'USD')
  assert.deepEqual([first.leftOut?.length, first.listed], [27, []], 'of the first currency alone')
})

test('a second answer that is cut elsewhere leaves out what both lack', async () => {
  const read = (end: string) =>
    readEcbRates(
      whole.slice(0, whole.indexOf(`,${end}`) - 'EXR.D.ZAR.EUR.SP00.A,D'.length),
      WEEK.window,
      TODAY,
    )
  const [first, second] = [await read('ZAR,EUR,SP00,A,2026-03-17'), await read('USD,EUR,SP00,A,2026-03-17')]
  const { listed, leftOut } = completeAnswer(second, first)
  assert.ok(listed.some(({ name }) => name === 'USD') && leftOut?.includes('D.ZAR.EUR.SP00.A'))
})

const failures: [title: string, body: string, message: RegExp][] = [
  ['a missing column', 'KEY,FREQ\r\n', /^the answer has no column CURRENCY$/],
  ['another frequency', table('x,M,USD,EUR,SP00,A,2026-03,1'), /^"FREQ" is not D but "M"$/],
  ['a short row', table('x,D,USD,EUR,SP00,A,2026-03-11'), /^a row has 7 cells, not 8$/],
  [
    'the key of another currency',
    table(line('USD', '2026-03-11', '1.15').replace('.USD.', '.GBP.')),
    /^"KEY" of USD is "EXR\.D\.GBP\.EUR\.SP00\.A"$/,
  ],
  ['a missing line end', table(line('USD', '2026-03-11', '1.15')).trimEnd(), /^the last line .* no end$/],
]
for (const [title, body, message] of failures) {
  test(`the failure of readEcbRates names ${title}`, async () => {
    await assert.rejects(readEcbRates(body, WEEK.window, TODAY), (error) => {
      assert.ok(error instanceof FetchFailure)
      assert.match(error.message, message)
      return true
    })
  })
}
