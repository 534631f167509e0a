// Rates of another provider in formats of other services: by the key, and by `provider` and `providers`. The formats of
// Costa Rica have the bank's rates with any key.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { banguat } from '../../../src/providers/banguat/banguat.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { ecb } from '../../../src/providers/ecb/ecb.ts'
import { canonicalNumber } from '../../../src/values/decimal.ts'
import { startTestApp } from '../../support/app.ts'
import { startBanguat } from '../../support/sources/banguat.ts'
import { startEcb } from '../../support/sources/ecb.ts'
import { enableProviders } from '../../support/sources/enable.ts'
import { fixedClock } from '../../support/temporary.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { addKey } from '../compat/asmx.ts'
import { ask, type TestApp } from '../compat/support.ts'
import { call, connect } from '../mcp/support.ts'
import { asOtherProcess, loseDays, send } from '../support.ts'

type Json = Record<string, unknown>

const ECB_KEY = 'cbk_of_frankfurt'
const GUATEMALA_KEY = 'cbk_of_guatemala'
const TODAY = '2026-03-18'
const FILES = '/stats/eurofxref/eurofxref'
const FIXTURE = join(import.meta.dirname, '../../fixtures/ecb/reconstructed-exr-dataonly-2026-03-11.csv')

async function start(t: TestContext) {
  const clock = fixedClock(`${TODAY}T23:00:00Z`)
  const [guatemala, frankfurt] = [await startBanguat(t, clock.read), await startEcb(t, clock.read)]
  const app = await startTestApp(t, {
    clock,
    listen: { compat: { open: 'any', serveRounded: false } },
    backfillFrom: '2026-03-01',
    providers: [bccr, ecb, banguat],
    sources: {
      banguat: () => ({ url: guatemala.url, token: undefined }),
      ecb: () => ({ url: frankfurt.url, token: undefined }),
    },
  })
  await app.sync()
  await enableProviders(app, [banguat, ecb])
  await app.app.sync({ trigger: 'cli', range: undefined, signal: new AbortController().signal })
  await addKey(app, { secret: ECB_KEY, kind: 'url', provider: 'ecb' })
  await addKey(app, { secret: GUATEMALA_KEY, kind: 'url', provider: 'banguat' })
  const read = async (path: string) => {
    const [status, body] = await ask(app, path)
    assert.equal(status, 200, `${path}: ${body}`)
    return body
  }
  const convert = async (provider: string, from: string, to: string, on = TODAY) => {
    const query = new URLSearchParams({ amount: '1', from, to, provider, on })
    return (await app.json<{ rate: string }>(`/api/v1/convert?${query}`)).rate
  }
  return { ...app, read, convert }
}

/** Published rates of the fixture by day, as CSV of the ECB has them: canonical digits. */
function publishedRates(): Map<string, Map<string, string>> {
  const days = new Map<string, Map<string, string>>()
  for (const line of readFileSync(FIXTURE, 'utf8').trimEnd().split('\r\n').slice(1)) {
    const [, , currency = '', , , , day = '', value = ''] = line.split(',')
    days.getOrInsertComputed(day, () => new Map()).set(currency, canonicalNumber(value) ?? '')
  }
  return days
}

async function loseAndAwait(app: TestApp, days: { from: string; to: string }, codes: string[]) {
  const etag = async () => (await app.get('/api/v1/rates')).headers.get('etag')
  const before = await etag()
  await loseDays(app, days, codes)
  await until(async () => (await etag()) !== before)
}

test('a key of another provider has its rates in each format that is not Costa Rican', async (t) => {
  const { read, convert } = await start(t)
  const [usd, ron] = [await convert('ecb', 'EUR', 'USD'), await convert('ecb', 'EUR', 'RON')]
  const k = `/k/${ECB_KEY}`
  const bank = await convert('bccr', 'EUR', 'USD')
  assert.notEqual(usd, bank)
  for (const [path, text] of [
    ['/v1/latest?base=EUR&symbols=USD', `"rates":{"USD":${usd}}`],
    ['/latest?from=EUR&to=RON', `"rates":{"RON":${ron}}`],
    ['/v1/2026-03-11..2026-03-18?to=USD', `"2026-03-18":{"USD":${usd}}`],
    ['/v1/2026-03-14..2026-03-15?to=USD', '"start_date":"2026-03-13","end_date":"2026-03-13"'],
    ['/v1/2026-03-15..2026-03-16', '"start_date":"2026-03-13","end_date":"2026-03-16"'],
    ['/v2/rate/EUR/USD', `"rate":${usd}`],
    ['/live?source=EUR&currencies=USD', `"EURUSD":${usd}`],
    ['/api/latest?base=EUR&symbols=RON', `"rates":{"RON":${ron}}`],
    ['/api/timeseries?start_date=2026-03-11&end_date=2026-03-18&symbols=RON', `"2026-03-18":{"RON":${ron}}`],
    ['/api/latest.json?base=EUR&symbols=USD', `"rates":{"USD":${usd}}`],
    ['/v4/latest/EUR', `"USD":${usd}`],
    ['/compat/exchangerate-api/v6/pair/EUR/USD', `"conversion_rate":${usd}`],
    ['/compat/valor?de=EUR&a=USD', usd],
    [`${FILES}-daily.xml`, `currency='USD' rate='${usd}'`],
  ] as const) {
    const body = await read(k + path)
    assert.ok(body.includes(text), `${path}: ${body.slice(0, 300)}`)
    assert.ok(!body.includes('Costa Rica'), path)
  }
  for (const path of ['/v1/currencies', '/list', '/api/symbols', '/v2/currencies']) {
    const body = await read(k + path)
    assert.ok(body.includes('RON') && !body.includes('CRC'), path)
  }
  for (const [path, name] of [
    ['/live', '"terms":"Rates as the European Central Bank publishes them"'],
    ['/api/latest.json', '"license":"Source: European Central Bank, euro foreign exchange reference rates"'],
    ['/v4/latest/EUR', '"provider":"European Central Bank"'],
    [`/v6/${ECB_KEY}/quota`, '"terms_of_use":"Source: European Central Bank'],
  ] as const)
    assert.ok((await read(path.startsWith('/v6') ? path : k + path)).includes(name), path)
  const quetzal = await convert('banguat', 'USD', 'GTQ')
  assert.equal(await read(`/k/${GUATEMALA_KEY}/compat/valor?a=GTQ`), quetzal)
  assert.deepEqual(await read('/compat/valor?de=EUR&a=USD'), bank, 'a client without a key has the bank')
})

test('a key of another provider has the rates of the bank in the Costa Rican formats', async (t) => {
  const { app, read } = await start(t)
  for (const path of [
    '/indicadores/tc',
    '/indicadores/tc/dolar',
    '/indicadores/tc/dolar/historico?d=2026-03-16&h=2026-03-18',
    '/tdc/tdc.json',
    '/api',
    '/api//18/3/2026',
    '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/ObtenerIndicadoresEconomicosXML?Indicador=318' +
      '&FechaInicio=18/03/2026&FechaFinal=18/03/2026&Nombre=N&SubNiveles=N&CorreoElectronico=a@b.cr',
    '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/indicadoresEconomicos/318/series?fechaInicio=2026/03/18' +
      '&fechaFin=2026/03/18',
  ]) {
    const own = path.includes('asmx') ? `&Token=${ECB_KEY}` : ''
    const body = await read(path.includes('asmx') ? `${path}&Token=` : path)
    assert.equal(await read(`/k/${ECB_KEY}${path}${own}`), body, path)
  }
  const [status] = [(await send(`${app.url}/k/${ECB_KEY}/indicadores/tc/dolar?tipo=other`)).status]
  assert.equal(status, (await send(`${app.url}/indicadores/tc/dolar?tipo=other`)).status)
})

test("provider=ecb gives the ECB's files its own days and digits", async (t) => {
  const server = await start(t)
  const { app, read, clock } = server
  const days = publishedRates()
  const codes = ['USD', ...[...(days.get(TODAY)?.keys() ?? [])].filter((code) => code !== 'USD').toSorted()]
  assert.equal(codes.length, 29)
  const rows = [...days.keys()].toSorted().toReversed()
  assert.ok(!rows.includes('2026-03-15') && rows.length > 4)
  const row = (day: string) => codes.map((code) => days.get(day)?.get(code) ?? 'N/A')
  const csv = rows.map((day) => `${day},${row(day).join(',')},\n`).join('')
  assert.equal(await read(`${FILES}-hist.csv?provider=ecb`), `Date,${codes.join(',')},\n${csv}`)
  assert.equal(await read(`/k/${ECB_KEY}${FILES}-hist.csv`), `Date,${codes.join(',')},\n${csv}`)
  const cubes = (day: string) =>
    row(day)
      .map((rate, at) => `\t\t\t<Cube currency='${codes[at]}' rate='${rate}'/>\n`)
      .join('')
  const xml = await read(`${FILES}-hist.xml?provider=ECB`)
  assert.ok(xml.includes('<gesmes:name>European Central Bank</gesmes:name>'))
  assert.ok(
    xml.includes(
      `<Cube>\n${rows.map((day) => `\t\t<Cube time='${day}'>\n${cubes(day)}\t\t</Cube>\n`).join('')}\t</Cube>`,
    ),
  )
  clock.now = new Date('2026-03-15T18:00:00Z') // a Sunday
  const sunday = await read(`${FILES}-daily.xml?provider=ecb`)
  assert.deepEqual(
    [...sunday.matchAll(/time='(.*?)'/g)].map(([, day]) => day),
    ['2026-03-13'],
  )
  assert.ok(sunday.includes(cubes('2026-03-13')))
  clock.now = new Date(`${TODAY}T23:00:00Z`)
  const zip = await send(`${app.url}${FILES}-hist.zip?provider=ecb`)
  assert.equal(zip.bytes.readUInt32LE(22), Buffer.byteLength(`Date,${codes.join(',')},\n${csv}`))
  const own = await send(`${app.url}${FILES}-daily.xml`)
  const other = await send(`${app.url}${FILES}-daily.xml?provider=ecb`)
  assert.notEqual(own.headers.etag, other.headers.etag)
  assert.ok(own.body.includes('Banco Central de Costa Rica'))
  assert.ok((await read(`/k/${ECB_KEY}${FILES}-daily.xml?provider=bccr`)).includes("'CRC'"))
})

test('a currency of the ECB without a rate of the day is not carried into it', async (t) => {
  const server = await start(t)
  const { read, json } = server
  const series = await json<{ id: number; quote_currency: string }[]>('/api/v1/series?provider=ecb')
  const { id } = series.find(({ quote_currency }) => quote_currency === 'ISK') ?? { id: 0 }
  await asOtherProcess(server, (db) =>
    db.deleteFrom('rates').where('series_id', '=', id).where('rate_date', '>', '2026-03-12').execute(),
  )
  await loseAndAwait(server, { from: '2026-03-01', to: '2026-03-05' }, ['D.ISK.EUR.SP00.A'])
  const [head = '', ...rows] = (await read(`${FILES}-hist.csv?provider=ecb`)).trimEnd().split('\n')
  const at = head.split(',').indexOf('ISK')
  assert.deepEqual(
    rows.map((row) => row.split(',')[at] === 'N/A'),
    [true, true, true, true, false, false],
  )
  assert.ok(!(await read(`${FILES}-daily.xml?provider=ecb`)).includes('ISK'))
  assert.equal((await ask(server, '/compat/valor?de=EUR&a=ISK&provider=ecb'))[0], 200, '/convert carries it')
})

test('a hole of the ECB is an error of the 90 days, and ends the history', async (t) => {
  const server = await start(t)
  const url = server.app.url + FILES
  await loseAndAwait(server, { from: '2026-03-12', to: '2026-03-13' }, ['D.USD.EUR.SP00.A'])
  const recent = await send(`${url}-hist-90d.xml?provider=ecb`)
  assert.equal(recent.status, 503)
  const history = await send(`${url}-hist.xml?provider=ecb`)
  assert.deepEqual([history.status, history.headers['x-ends-at']], [200, '2026-03-16'])
  const bank = await send(`${url}-hist.xml`)
  assert.deepEqual([bank.status, bank.body.includes("time='2026-03-12'")], [200, true])
})

test('an unknown provider, and a pair of others, are a 404 that names the right one', async (t) => {
  const server = await start(t)
  for (const [path, body] of [
    [`${FILES}-daily.xml?provider=fed`, 'There is no provider fed'],
    [`${FILES}-hist.csv?provider=trm`, 'There is no provider trm'],
    [`${FILES}-daily.xml?provider=banguat`, 'no rates of the euro are held of banguat'],
    ['/compat/valor?provider=fed', 'There is no provider fed'],
    ['/compat/valor?de=EUR&a=RON', 'no rates of RON are stored (provider=ecb has it)'],
    ['/compat/valor?de=USD&a=CRC&provider=ecb', 'no rates of CRC are stored (provider=bccr has it)'],
    [
      '/compat/valor?de=USD&a=GTQ&provider=ecb',
      'no rates of GTQ are stored (provider=bccr or provider=banguat has it)',
    ],
  ] as const)
    assert.deepEqual(await ask(server, path), [404, body], path)
})

test('the 404 of /rates/latest and of get_rate has the provider of the conversion', async (t) => {
  const server = await start(t)
  const response = await server.get('/api/v1/rates/latest?base=USD&quote=RON&provider=ecb')
  const { detail, see } = (await response.json()) as { detail: string; see: string }
  const path = '/api/v1/convert?amount=1&from=USD&to=RON'
  assert.equal(detail, `No series of ecb gives USD/RON: ${path}&provider=ecb inverts and chains pairs`)
  assert.equal(see, `${path}&on=${TODAY}&provider=ecb`)
  assert.equal((await server.get(see)).status, 200)
  const client = await connect(t, 'legacy', { app: server })
  const { content } = await call(client, 'get_rate', { base: 'USD', quote: 'RON', provider: 'ecb' })
  assert.match(content[0]?.text ?? '', /call it with from USD, to RON and provider ecb$/)
})

test('tipo selects a side of Guatemala, and is ignored where a provider has no sides', async (t) => {
  const server = await start(t)
  const { read, json } = server
  const sides = await json<Json>('/api/v1/rates/latest?provider=banguat&base=USD&quote=GTQ')
  for (const side of ['compra', 'venta']) {
    const body = await read(`/k/${GUATEMALA_KEY}/v1/latest?base=USD&symbols=GTQ&tipo=${side}`)
    assert.ok(body.includes(`"GTQ":${sides[side]}`), body)
  }
  const euro = '/v1/latest?symbols=USD'
  const plain = await read(`/k/${ECB_KEY}${euro}`)
  for (const tipo of ['compra', 'venta', 'other'])
    assert.equal(await read(`/k/${ECB_KEY}${euro}&tipo=${tipo}`), plain)
  assert.equal((await ask(server, `${euro}&tipo=other`))[0], 400)
  const dollar = await read('/v2/rates?base=USD&quotes=CRC&tipo=compra')
  const ofBank = '/v2/providers/bccr/rates?base=USD&quotes=CRC'
  assert.notEqual(dollar, await read(ofBank))
  for (const path of [
    `${ofBank}&tipo=compra`,
    '/v2/rates?base=USD&quotes=CRC&providers=BCCR&tipo=compra',
    '/v2/rates?base=USD&quotes=CRC&providers=,bccr&tipo=compra',
  ])
    assert.equal(await read(`/k/${ECB_KEY}${path}`), dollar, path)
  assert.equal((await ask(server, `/k/${ECB_KEY}${ofBank}&tipo=other`))[0], 400)
  assert.equal((await ask(server, '/v2/rate/EUR/USD?providers=ECB&tipo=other'))[0], 200)
  assert.equal((await ask(server, '/compat/valor?de=EUR&a=USD&provider=ecb&tipo=other'))[0], 422)
})

test('providers= of Frankfurter v2 selects one provider, and several are a 422', async (t) => {
  const server = await start(t)
  const { read, convert } = server
  const ron = await convert('ecb', 'EUR', 'RON')
  const row = `{"date":"${TODAY}","base":"EUR","quote":"RON","rate":${ron}}`
  assert.equal(await read('/v2/rates?quotes=RON&providers=ECB'), `[${row}]`)
  assert.equal(await read('/v2/rate/eur/ron?providers=ecb'), row)
  const expanded = `{"key":"ECB","date":"${TODAY}","rate":${ron}}`
  assert.equal(
    await read('/v2/rates?quotes=RON&providers=ECB&expand=providers'),
    `[${row.slice(0, -1)},"providers":[${expanded}]}]`,
  )
  assert.equal(
    await read('/v2/rates.csv?quotes=RON&providers=ECB&expand=providers'),
    `date,base,quote,rate,providers\n${TODAY},EUR,RON,${ron},ECB:${ron}\n`,
  )
  const range = await read('/v2/rates?quotes=USD&providers=ECB&from=2026-03-13&to=2026-03-16')
  assert.deepEqual(
    (JSON.parse(range) as Json[]).map(({ date }) => date),
    ['2026-03-13', '2026-03-16'],
  )
  for (const path of [
    '/v2/rates?providers=ECB,BCCR',
    '/v2/rates?providers=BCCR,ECB',
    '/v2/rate/EUR/USD?providers=ECB,FED',
    '/v2/rates.csv?providers=ECB,BANGUAT',
    '/v2/currencies?providers=ECB,BCCR',
  ])
    assert.deepEqual(
      await ask(server, path),
      [422, '{"status":422,"message":"one provider at a time"}'],
      path,
    )
  assert.equal(await read('/v2/rates?providers=FED'), '[]')
  assert.equal(await read(`/k/${ECB_KEY}/v2/providers/bccr/rates?base=USD`), await read('/v2/rates?base=USD'))
  const currencies = JSON.parse(await read('/v2/currencies?providers=ECB')) as Json[]
  assert.equal(currencies.length, 30)
  assert.equal(await read(`/k/${ECB_KEY}/v2/currencies?providers=BCCR`), await read('/v2/currencies'))
  assert.deepEqual((JSON.parse(await read(`/k/${ECB_KEY}/v2/currency/RON`)) as Json).providers, ['ECB'])
})

test('/v2/providers lists the enabled providers, with cadence and terms', async (t) => {
  const server = await start(t)
  const providers = JSON.parse(await server.read('/v2/providers')) as Json[]
  assert.deepEqual(
    providers.map(({ key, pivot_currency, country_code, publish_cadence, publishes_missed }) =>
      [key, pivot_currency, country_code, publish_cadence, publishes_missed].join(),
    ),
    ['BANGUAT,GTQ,GT,daily,2', 'BCCR,CRC,CR,daily,0', 'ECB,EUR,EU,daily,4'],
  )
  const { currencies, ...frankfurt } = providers[2] ?? {}
  assert.equal((currencies as string[]).length, 30)
  assert.deepEqual(frankfurt, {
    ...{ key: 'ECB', name: 'European Central Bank', country_code: 'EU', rate_type: 'reference rate' },
    ...{ pivot_currency: 'EUR', data_url: ecb.website, terms_url: ecb.terms },
    ...{ start_date: '2026-03-11', end_date: TODAY, publish_cadence: 'daily', publishes_missed: 4 },
    attribution: ecb.attribution,
  })
  await runCommand(['provider', 'disable', 'ecb', '--data-dir', server.dataDir], {}, [bccr, ecb, banguat])
  await until(async () => !(await server.read('/v2/providers')).includes('"ECB"'))
  assert.ok((await server.read(`/k/${ECB_KEY}${FILES}-daily.xml`)).includes(TODAY), 'stored values are read')
  assert.ok((await server.read('/v2/rates?quotes=RON&providers=ECB')).includes('RON'))
})
