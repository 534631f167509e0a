// `format=csv` and `format=xml`, which exchangerate.host had at the paths of Frankfurter, at each compat API. JSON with a
// 200 would become cells of a spreadsheet. So it is an error in the form of the API.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ASMX, addKey, parameters, postForm, URL_KEY, XML_OPERATION } from '../asmx.ts'
import { ask, openShapes } from '../support.ts'

const app = await openShapes()
await addKey(app, { secret: URL_KEY, kind: 'url' })
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/indicadoresEconomicos/318/series'
const FILES = '/stats/eurofxref/eurofxref-'
const CALL = parameters({
  Indicador: '318',
  FechaInicio: '24/03/2026',
  FechaFinal: '24/03/2026',
  Token: URL_KEY,
})

const words = (form: string) => `there is no ${form} of this: leave format out`
const v1 = (form: string) => JSON.stringify({ message: words(form) })
const apilayer = (form: string) =>
  JSON.stringify({ success: false, error: { code: 400, type: 'bad_request', info: words(form) } })

const JSON_SHAPES: [path: string, status: number, body: (form: string) => string][] = [
  ['/v1/latest?base=USD&symbols=CRC', 400, v1],
  ['/v1/2026-03-20..2026-03-24?base=USD&symbols=CRC', 400, v1],
  ['/v1/currencies?a=1', 400, v1],
  ['/latest?base=USD&symbols=CRC', 400, v1],
  ['/2026-03-20?base=USD', 400, v1],
  ['/live?currencies=CRC', 200, apilayer],
  ['/timeframe?start_date=2026-03-20&end_date=2026-03-24&currencies=CRC', 200, apilayer],
  ['/convert?access_key=x&from=USD&to=CRC&amount=1', 200, apilayer],
  ['/list?a=1', 200, apilayer],
  ['/api/latest?base=USD', 200, apilayer],
  [
    '/api/latest.json?base=USD',
    400,
    (form) => JSON.stringify({ error: true, status: 400, message: 'bad_request', description: words(form) }),
  ],
  ['/v6/latest/USD?a=1', 400, () => '{"result":"error","error-type":"malformed-request"}'],
  ['/v4/latest/USD?a=1', 400, () => '{"result":"error","error-type":"malformed-request"}'],
  ['/indicadores/tc/dolar?a=1', 400, () => '{"code":400,"status":"Bad request"}'],
  [
    '/indicadores/tc/dolar/historico?d=2026-03-20&h=2026-03-24',
    400,
    () => '{"code":400,"status":"Bad request"}',
  ],
  [
    `${SDDE}?fechaInicio=2026/03/20&fechaFin=2026/03/24`,
    400,
    () => '{"CodigoError":"400","Mensaje":"Parámetros de entrada inválidos."}',
  ],
  ['/tdc/tdc.json?a=1', 400, (form) => JSON.stringify({ error: words(form) })],
  ['/compat/paginasweb/api?a=1', 400, (form) => JSON.stringify({ error: words(form) })],
]

for (const [path, status, body] of JSON_SHAPES) {
  test(`${path.split('?')[0]} rejects csv, tsv and xml in its own form, and ignores other formats`, async () => {
    for (const format of ['csv', 'xml', 'CSV', 'Xml', 'tsv']) {
      assert.deepEqual(
        await ask(app, `${path}&format=${format}`),
        [status, body(format.toLowerCase())],
        format,
      )
    }
    const plain = await ask(app, path)
    assert.ok(plain[0] === 200 && !plain[1].includes('error'), plain[1])
    for (const format of ['json', '1', '0', '', 'jsonp', 'JSON']) {
      assert.deepEqual(await ask(app, `${path}&format=${format}`), plain, format)
    }
  })
}

test('a shape that has the form answers it', async () => {
  for (const [path, format] of [
    [`${FILES}hist.csv`, 'csv'],
    [`${FILES}daily.xml`, 'xml'],
    [`${ASMX}/${XML_OPERATION}?${CALL}`, 'xml'],
  ] as const) {
    const plain = await ask(app, path)
    assert.equal(plain[0], 200)
    assert.deepEqual(await ask(app, `${path}${path.includes('?') ? '&' : '?'}format=${format}`), plain)
  }
  assert.deepEqual(await ask(app, `${FILES}daily.xml?format=csv`), [400, words('csv')])
  assert.deepEqual(await ask(app, `${ASMX}/${XML_OPERATION}?${CALL}&format=csv`), [400, words('csv')])
  const answer = await postForm(app, XML_OPERATION, new URLSearchParams([...CALL, ['Format', 'csv']]))
  assert.deepEqual([answer.status, await answer.text()], [400, words('csv')])
})

test('a strict shape names the parameter as before', async () => {
  const { status, message } = JSON.parse((await ask(app, '/v2/rates?base=USD&format=csv'))[1])
  assert.deepEqual([status, message], [422, 'unknown parameter: format'])
  assert.deepEqual((await ask(app, '/compat/valor?format=csv'))[0], 422)
  assert.equal((await ask(app, `/k/${URL_KEY}/v1/latest?format=csv`))[0], 400)
})
