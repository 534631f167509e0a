import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readCsrfToken, readSitePage } from '../../../../src/providers/bccr/site.ts'
import { FetchFailure } from '../../../../src/providers/provider.ts'

type Parts = { decimals?: string; columns?: string; indicators?: string }

const page = ({ decimals = '2', columns = column('15 dec 2025'), indicators = '' }: Parts) =>
  `{"informacionDelCuadro":{"decimales":${decimals}},` +
  `"columnas":[{"field":"nombre","tituloIngles":"Indicators"}${columns && `,${columns}`}],` +
  `"indicadoresRaiz":[${indicators}]}`

const indicator = (series: string) =>
  `{"idIndicador":317,"nombreEspanol":"Compra","indicadores":[],"series":${series}}`

/** Reads a page of any days. */
const readPage = (body: string) => readSitePage(body, {})

test('readSitePage reads a captured page', () => {
  const file = new URL('../../../fixtures/bccr/site-table-1.json', import.meta.url)
  const { listed, observations, oldest } = readPage(readFileSync(file, 'utf8'))
  assert.equal(oldest, '2026-03-21')
  assert.deepEqual(listed, [
    { code: '317', name: 'Compra' },
    { code: '318', name: 'Venta' },
  ])
  assert.equal(observations.length, 8)
  assert.deepEqual(observations[0], { code: '317', day: '2026-03-21', value: '463.24', roundedTo: 2 })
})

const values: [title: string, series: string, observed: [value: string, roundedTo: number] | undefined][] = [
  ['a plain value', '{"serie1":"494,34","serie1Ingles":"494.34"}', ['494.34', 2]],
  ['group marks', '{"serie1Ingles":"1,026,345.00"}', ['1026345.00', 2]],
  ['more decimals than announced', '{"serie1Ingles":"1.17530"}', ['1.17530', 5]],
  ['fewer decimals than announced', '{"serie1Ingles":"494"}', ['494', 2]],
  ['a number instead of a text', '{"serie1Ingles":494.340}', ['494.340', 3]],
  ['words, for others to reject', '{"serie1Ingles":"n.d."}', ['n.d.', 2]],
  ['an empty value', '{"serie1":"","serie1Ingles":""}', undefined],
  ['a null value', '{"serie1Ingles":null}', undefined],
  ['an absent value', '{"serie2Ingles":""}', undefined],
  ['no series', 'null', undefined],
]
for (const [title, series, observed] of values) {
  test(`readSitePage reads ${title}`, () => {
    const { listed, observations } = readPage(page({ indicators: indicator(series) }))
    assert.equal(listed.length, 1)
    assert.deepEqual(
      observations.map(({ day, value, roundedTo }) => [day, value, roundedTo]),
      observed ? [['2025-12-15', ...observed]] : [],
    )
  })
}

test('readSitePage reads nested indicators and skips headings', () => {
  const inner = `{"idIndicador":333,"nombreEspanol":"Euro","indicadores":null,"series":{"serie1Ingles":"1.17"}}`
  const outer = `{"idIndicador":0,"nombreEspanol":"Europa","indicadores":[${inner}],"series":{"serie1Ingles":""}}`
  const answer = readPage(page({ indicators: outer }))
  assert.deepEqual(answer.listed, [{ code: '333', name: 'Euro' }])
  assert.equal(answer.observations.length, 1)
})

test('readSitePage accepts a page without columns as empty', () => {
  const nothing = { listed: [], observations: [], oldest: undefined }
  assert.deepEqual(readPage(page({ columns: '' })), nothing)
  assert.deepEqual(readPage('{"columnas":null,"indicadoresRaiz":null}'), nothing)
})

test('readSitePage limits the columns', () => {
  const columns = Array.from({ length: 300 }, (_, at) => column('01 jan 2026', at)).join()
  assert.throws(() => readPage(page({ columns })), /"columnas" are more than 200/)
})

test('readSitePage finds the oldest day in any column', () => {
  const columns = [column('01 jan 2026', 1), column('31 dec 2025', 2), column('02 Jan 2026', 3)].join()
  assert.equal(readPage(page({ columns })).oldest, '2025-12-31')
})

const nested = `${'{"idIndicador":1,"indicadores":['.repeat(40)}${']}'.repeat(40)}`
const failures: [title: string, body: string, message: RegExp][] = [
  ['a page in HTML', '<!DOCTYPE html>', /not JSON/],
  ['a body that nests too deep', `${'[['.repeat(5000)}${']]'.repeat(5000)}`, /nests too deep/],
  ['indicators that nest too deep', page({ indicators: nested }), /nest too deep/],
  ['another object', '{"estado":true,"datos":[]}', /"columnas"/],
  ['columns that are no list', '{"columnas":{},"indicadoresRaiz":[]}', /"columnas" is not a list/],
  ['a title in Spanish', page({ columns: column('15 dic 2025') }), /15 dic 2025/],
  ['a day that is none', page({ columns: column('31 feb 2025') }), /31 feb 2025/],
  ['a month alone', page({ columns: column('dec 2025') }), /dec 2025/],
  ['no title', page({ columns: '{"field":"serie1"}' }), /serie1/],
  ['an unknown column', page({ columns: '{"field":"dato1","tituloIngles":"15 dec 2025"}' }), /dato1/],
  ['a day twice', page({ columns: `${column('15 dec 2025')},${column('15 dec 2025', 2)}` }), /same day/],
  ['a column twice', page({ columns: `${column('15 dec 2025')},${column('16 dec 2025')}` }), /twice/],
  ['an indicator that is none', page({ indicators: '7' }), /not an indicator/],
  ['values of nobody', page({ indicators: '{"series":{"serie1Ingles":"1"}}' }), /idIndicador/],
  ['a Spanish number', page({ indicators: indicator('{"serie1Ingles":"494,34"}') }), /"494,34" of 317 on/],
  [
    'a value without its column',
    page({ indicators: indicator('{"serie2Ingles":"494.34"}') }),
    /"serie2Ingles"/,
  ],
  ['series that is a list', page({ indicators: indicator('[]') }), /"series" of 317/],
]
for (const [title, body, message] of failures) {
  test(`readSitePage rejects ${title}`, () => {
    assert.throws(
      () => readPage(body),
      (error) => error instanceof FetchFailure && message.test(error.message),
    )
  })
}

test('readCsrfToken trims quotes and white space', () => {
  assert.equal(readCsrfToken(' "eyJh.eyJp.c2ln"\r\n'), 'eyJh.eyJp.c2ln')
})

for (const body of ['', ' "" ', 'two words', '<html></html>', '{"error":1}', 'é', 'x'.repeat(4097)]) {
  test(`readCsrfToken rejects ${JSON.stringify(body.slice(0, 20))}`, () => {
    assert.throws(() => readCsrfToken(body), FetchFailure)
  })
}

function column(title: string, index = 1): string {
  return `{"field":"serie${index}","tituloIngles":"${title}"}`
}
