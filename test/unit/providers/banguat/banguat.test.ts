// Banco de Guatemala: contract suite over a captured answer, the SOAP call, and documents that are rejected.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { banguat } from '../../../../src/providers/banguat/banguat.ts'
import { readDollar } from '../../../../src/providers/banguat/dollar.ts'
import { FetchFailure } from '../../../../src/providers/provider.ts'
import { type Manner, startFaultySource } from '../../../contract/faulty-source.ts'
import { testProvider } from '../../../contract/provider.ts'

const FOLDER = join(import.meta.dirname, '../../../fixtures/banguat')
const readFixture = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const captured = readFixture('tipocambiorango-2026-03-01-20.xml')
const empty = readFixture('reconstructed-empty.xml')
const ask = (from: string, to: string) => ({ table: 'banguat', indicator: undefined, window: { from, to } })

/** Returns an answer with these rows. */
function answer(rows: string, total: number | string): string {
  return empty.replace('<Vars />', `<Vars>${rows}</Vars>`).replace('>0<', `>${total}<`)
}

const row = (fecha: string, venta: string, compra = venta, moneda = '2') =>
  `<Var><moneda>${moneda}</moneda><fecha>${fecha}</fecha><venta>${venta}</venta><compra>${compra}</compra></Var>`

const MARCH = { from: '2026-03-01', to: '2026-03-20' }

const rows = [
  ...captured.matchAll(/<fecha>(\d\d)\/(\d\d)\/(\d{4})<\/fecha><venta>([^<]*)<\/venta><compra>([^<]*)</g),
]
const fault =
  '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault>' +
  '<faultcode>soap:Server</faultcode><faultstring>Sin servicio</faultstring></soap:Fault></soap:Body></soap:Envelope>'

testProvider('banguat', {
  provider: banguat,
  token: undefined,
  valid: {
    ask: ask('2026-03-01', '2026-03-20'),
    body: captured,
    values: rows.flatMap(([, day, month, year, venta = '', compra = '']) => [
      ['2.compra', `${year}-${month}-${day}`, compra] as [string, string, string],
      ['2.venta', `${year}-${month}-${day}`, venta] as [string, string, string],
    ]),
  },
  empty: { ask: ask('2026-03-21', '2026-03-21'), body: empty },
  rewrite: ({ value, day }) =>
    captured
      .replace(/(?<=<(?:venta|compra)>)[^<]+/g, value)
      .replace(/(?<=<fecha>)[^<]+/g, (text) =>
        day(text.split('/').reverse().join('-')).split('-').reverse().join('/'),
      ),
  rewriteRows: (change) => {
    const vars = change(captured.match(/<Var>.*?<\/Var>/gs) ?? [])
    return answer(vars.join(''), vars.length)
  },
  strangers: [captured.replaceAll('<moneda>2<', '<moneda>24<')],
  wrong: [
    fault,
    captured.replace('<TotalItems>20', '<TotalItems>21'),
    captured.replace(/<TotalItems>.*<\/TotalItems>/, ''),
    captured.replaceAll('TipoCambioRangoRe', 'TipoCambioDiaRe'),
    captured.replaceAll('http://www.banguat.gob.gt/variables/ws/', 'urn:another'),
    captured.replace('<venta>', '<precio>').replace('</venta>', '</precio>'),
    `<!DOCTYPE x [<!ENTITY a "7.6">]>${captured.replace(/^<\?xml.*?\?>/, '')}`,
    '[]',
  ],
})

async function open(t: TestContext, manner: Manner) {
  const source = await startFaultySource(t, manner)
  const settings = { url: source.url, token: undefined, paceMs: 0, userAgent: 'cambista/test' }
  const connection = banguat.connect(settings, new AbortController().signal, { sleep: async () => undefined })
  return { source, connection }
}

test('the captured answer has 20 calendar days with both sides', () => {
  assert.equal(rows.length, 20)
  const weekend = rows
    .filter(([, day = '']) => ['06', '07', '08'].includes(day))
    .map(([, , , , venta]) => venta)
  assert.deepEqual(weekend, ['7.66271', '7.66271', '7.66271'])
})

test('a window is a SOAP call to TipoCambioRango, as the one that was recorded', async (t) => {
  const { source, connection } = await open(t, { body: captured })
  await connection.read(ask('2026-03-01', '2026-03-20'))
  const [seen] = source.seen
  assert.deepEqual([seen?.method, seen?.path], ['POST', '/variables/ws/TipoCambio.asmx'])
  assert.equal(seen?.body.trim(), readFixture('request.xml').trim())
  const headers = JSON.parse(seen?.headers ?? '{}')
  assert.equal(headers['content-type'], 'text/xml; charset=utf-8')
  assert.equal(headers.soapaction, '"http://www.banguat.gob.gt/variables/ws/TipoCambioRango"')
})

test('rows are read in any order, and sides may differ', async () => {
  const body = answer(row('02/03/2026', '7.70', '7.60') + row('01/03/2026', '7.65'), 2)
  const { observations } = await readDollar(body, MARCH)
  assert.deepEqual(
    observations.map(({ code, day, value }) => `${code} ${day} ${value}`),
    [
      '2.compra 2026-03-02 7.60',
      '2.venta 2026-03-02 7.70',
      '2.compra 2026-03-01 7.65',
      '2.venta 2026-03-01 7.65',
    ],
  )
})

test('another currency is dropped, and named once a week', async (t) => {
  const body = answer(row('02/03/2026', '7.7') + row('02/03/2026', '8.9', '8.9', '24'), 2)
  const monday = { body, headers: { Date: 'Mon, 23 Mar 2026 18:00:00 GMT' } }
  const { source, connection } = await open(t, monday)
  assert.equal((await connection.read(ask('2026-03-01', '2026-03-20'))).observations.length, 2)
  assert.deepEqual(connection.notices(), [{ message: 'banguat: unknown currency 24, not stored' }])
  source.manner = { body, headers: { Date: 'Tue, 24 Mar 2026 18:00:00 GMT' } }
  await connection.read(ask('2026-03-01', '2026-03-20'))
  assert.deepEqual(connection.notices(), [])
})

test('readDollar leaves out a side without a value', async () => {
  const { observations } = await readDollar(
    answer(row('02/03/2026', 'n.d.', '7.6') + row('03/03/2026', '7.7'), 2),
    MARCH,
  )
  assert.deepEqual(
    observations.map(({ code, day }) => `${code} ${day}`),
    ['2.compra 2026-03-02', '2.compra 2026-03-03', '2.venta 2026-03-03'],
  )
})

const failures: [title: string, body: string, message: RegExp][] = [
  ['a fault', fault, /^the answer is a fault: Sin servicio$/],
  [
    'a count',
    captured.replace('<TotalItems>20', '<TotalItems>19'),
    /^"TotalItems" is 19, but the answer has 20 rows$/,
  ],
  ['a text that is no day', answer(row('2026-3-3', '7.7'), 1), /^a row has no day, but "2026-3-3"$/],
  ['the month first', answer(row('03/13/2026', '7.7'), 1), /^a row has no day, but "2026-13-03"$/],
  [
    'rows of other currencies alone',
    answer(row('02/03/2026', '8.9', '8.9', '24'), 1),
    /^no row is of the dollar$/,
  ],
  ['a missing element', answer('<Var><moneda>2</moneda></Var>', 1), /^a row has no fecha$/],
  ['a document type', '<!DOCTYPE a><a/>', /^the answer is not valid XML: the XML has a document type$/],
  ['HTML', '<html><body>portal</body></html>', /^the answer has no Envelope$/],
]
for (const [title, body, message] of failures) {
  test(`the failure of readDollar names ${title}`, async () => {
    await assert.rejects(readDollar(body, MARCH), (error) => {
      assert.ok(error instanceof FetchFailure)
      assert.match(error.message, message)
      return true
    })
  })
}

test('a reset connection has advice about the network, after three retries', async (t) => {
  const { source, connection } = await open(t, 'reset')
  await assert.rejects(
    connection.read(ask('2026-03-01', '2026-03-20')),
    /^FetchFailure: banguat: 127\.0\.0\.1:\d+ cannot be reached \(.*\): its network refuses some clients; try from another$/,
  )
  assert.equal(source.seen.length, 4)
})

test('the fault of an HTTP 500 is in the message', async (t) => {
  const { connection } = await open(t, { status: 500, body: fault })
  await assert.rejects(connection.read(ask('2026-03-01', '2026-03-20')), /banguat: HTTP 500: Sin servicio$/)
})
