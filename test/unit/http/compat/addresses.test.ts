import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rewriteTarget as addressWith } from '../../../../src/http/compat/addresses.ts'

const OWN = ['/api/v1/rates', '/api/v1/convert']
const resolveTarget = (target: string) => addressWith(target, (path) => OWN.includes(path))

const ASMX = '/compat/bccr/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx'
const SDDE = '/compat/sdde/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'

for (const [url, target] of [
  ['/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx', ASMX],
  ['/Indicadores/Suscripciones/WS/wsIndicadoresEconomicos.asmx?WSDL', `${ASMX}?WSDL`],
  ['/indicadores/suministro/sw/WSINDICADORESECONOMICOS.ASMX/Op?a=1', `${ASMX}/Op?a=1`],
  ['/indicadoreseconomicos/WebServices/wsIndicadoresEconomicos.asmx/', ASMX],
  ['/compat/bccr/Indicadores/Suministro/SW/wsindicadoreseconomicos.asmx/Op', `${ASMX}/Op`],
  ['/indicadores/tc', '/compat/hacienda/indicadores/tc'],
  [
    '/indicadores/tc/dolar/historico/?d=2026-01-01',
    '/compat/hacienda/indicadores/tc/dolar/historico?d=2026-01-01',
  ],
  ['/compat/hacienda-2020/indicadores/tc', '/compat/hacienda-2020/indicadores/tc'],
  ['/v1/latest?base=USD', '/compat/frankfurter/v1/latest?base=USD'],
  ['/v1', '/compat/frankfurter/v1'],
  ['/v2/rates.csv', '/compat/frankfurter/v2/rates.csv'],
  ['/latest?from=USD&to=CRC', '/compat/frankfurter/latest?from=USD&to=CRC'],
  ['/2026-01-02', '/compat/frankfurter/2026-01-02'],
  ['/2026-01-02..', '/compat/frankfurter/2026-01-02..'],
  ['/2026-01-02..2026-01-05/', '/compat/frankfurter/2026-01-02..2026-01-05'],
  ['/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/cuadro/1/series', `${SDDE}/cuadro/1/series`],
  ['/api/bccr.ge.sdde.publico.indicadores.api/x', `${SDDE}/x`],
  ['/live?access_key=a', '/compat/currencylayer/live?access_key=a'],
  ['/api/live', '/compat/currencylayer/live'],
  ['/currency_data/timeframe', '/compat/currencylayer/timeframe'],
  ['/convert?from=USD', '/compat/currencylayer/convert?from=USD'],
  ['/latest?access_key=a', '/compat/fixer/api/latest?access_key=a'],
  ['/2026-01-02?symbols=CRC&access_key=a', '/compat/fixer/api/2026-01-02?symbols=CRC&access_key=a'],
  ['/latest?base_currency=USD&to=CRC', '/compat/fixer/api/latest?base_currency=USD&to=CRC'],
  ['/latest?access_key=a&from=USD', '/compat/frankfurter/latest?access_key=a&from=USD'],
  ['/2026-01-02?to=CRC&access_key=a', '/compat/frankfurter/2026-01-02?to=CRC&access_key=a'],
  ['/latest?amount=2&access_key=a', '/compat/frankfurter/latest?amount=2&access_key=a'],
  ['/current?access_key=a', '/compat/frankfurter/current?access_key=a'],
  ['/currencies?access_key=a', '/compat/frankfurter/currencies?access_key=a'],
  ['/2026-01-02..?access_key=a', '/compat/frankfurter/2026-01-02..?access_key=a'],
  ['/fixer/2026-01-02', '/compat/fixer/api/2026-01-02'],
  ['/api/latest', '/compat/fixer/api/latest'],
  ['/api/convert?from=USD', '/compat/currencylayer/convert?from=USD'],
  ['/fixer/convert?from=USD', '/compat/fixer/api/convert?from=USD'],
  ['/api/latest.json', '/compat/oxr/api/latest.json'],
  ['/api/historical/2026-01-02.json', '/compat/oxr/api/historical/2026-01-02.json'],
  ['/api/convert/1/USD/CRC', '/compat/oxr/api/convert/1/USD/CRC'],
  ['/v6/latest/USD', '/compat/exchangerate-api/v6/latest/USD'],
  ['/v4/latest/USD', '/compat/exchangerate-api/v4/latest/USD'],
  ['/tdc/tdc.json', '/compat/gometa/tdc/tdc.json'],
  ['/tdc/tdc.json/?fbclid=x', '/compat/gometa/tdc/tdc.json?fbclid=x'],
  ['/compat/gometa/tdc/tdc.json', '/compat/gometa/tdc/tdc.json'],
  ['/cedulas/3101123456', '/compat/gometa/cedulas/3101123456'],
  ['/api', '/compat/paginasweb/api'],
  ['/api/', '/compat/paginasweb/api'],
  ['/api/3/9/2026', '/compat/paginasweb/api/3/9/2026'],
  ['/api//3/9/2026', '/compat/paginasweb/api/3/9/2026'],
  ['/api//03//09//2026//?x=1', '/compat/paginasweb/api/03/09/2026?x=1'],
  ['/compat/paginasweb/api//2026/9/3', '/compat/paginasweb/api/2026/9/3'],
  ['/compat/valor?de=USD', '/compat/valor?de=USD'],
  ['/', '/'],
  ['/api/v1/rates?on=2026-01-02', '/api/v1/rates?on=2026-01-02'],
  ['/api/v1/convert?x', '/api/v1/convert?x'],
  ['/openapi.json', '/openapi.json'],
  ['/nothing/at/all?x', '/nothing/at/all?x'],
  ['/stats/eurofxref', '/compat/ecb/stats/eurofxref'],
  ['/stats/eurofxref/eurofxref-daily.xml?x', '/compat/ecb/stats/eurofxref/eurofxref-daily.xml?x'],
  ['/stats/eurofxref/eurofxref-hist.zip/', '/compat/ecb/stats/eurofxref/eurofxref-hist.zip'],
  ['/stats/eurofxrefs', '/stats/eurofxrefs'],
  ['/api/3/9', '/api/3/9'],
  ['/api/3/9/x', '/api/3/9/x'],
  ['/compat/unknown/x', '/compat/unknown/x'],
] as const) {
  test(`the target of ${url} is ${target}`, () =>
    assert.deepEqual(resolveTarget(url), { target, key: undefined }))

  test(`a key in the path before ${url} is removed, or the target is /k`, () => {
    const isThere = target !== url || /^.(compat|api.v1).(valor|rates|convert|hac|gometa|unk)/.test(url)
    const expected = isThere ? { target, key: 'cbk_secret' } : { target: '/k', key: undefined }
    assert.deepEqual(resolveTarget(`/k/cbk_secret${url}`), expected)
  })
}

test('`/k/KEY` without a path is a 404', () => {
  for (const one of ['/k', '/k/', '/k/secret']) assert.equal(resolveTarget(one).key, undefined, one)
})

test('the key of ExchangeRate-API inside the path is removed too', () => {
  for (const [url, path] of [
    ['/v6/secret/latest/USD', '/v6/keyed/latest/USD'],
    ['/v6/secret/pair/USD/CRC/10?x=1', '/v6/keyed/pair/USD/CRC/10?x=1'],
    ['/compat/exchangerate-api/v6/secret/codes', '/v6/keyed/codes'],
    ['/v6/secret/latest/USD/', '/v6/keyed/latest/USD'],
    ['/v6/secret/latest/USD/?x=1//', '/v6/keyed/latest/USD?x=1//'],
    ['/v6/secret/latest/USD?x=1/', '/v6/keyed/latest/USD?x=1/'],
  ] as const) {
    assert.deepEqual(resolveTarget(url), { target: `/compat/exchangerate-api${path}`, key: 'secret' })
  }
})
