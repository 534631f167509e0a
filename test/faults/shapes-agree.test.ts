// Every shape says the number that /api/v1/convert says, digit by digit, for any pair, side and day since the first value.
// Hacienda's euro, which it rounds to two decimals, is in test/api/compat.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addDays, dayOf, todayIn } from '../../src/dates.ts'
import { startBank } from '../../src/demo/bank.ts'
import { startProgram } from '../support/program.ts'
import { randomOf } from '../support/rates/random-bank.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { pick } from './hostile/shape-requests.ts'
import { figure, PROGRAM, SEED, scaled } from './scale.ts'

const QUESTIONS = scaled({ short: 250, long: 5000 })
const FIRST_DAY = '1983-01-03'
const ASMX = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/ObtenerIndicadoresEconomicosXML'
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/indicadoresEconomicos'
const NUMBER = String.raw`(-?\d+(?:\.\d+)?)`

type Question = { from: string; to: string; side: 'compra' | 'venta'; day: string }
/** Where a shape is asked, and what its number stands behind. */
type Shape = (question: Question) => { path: string; number: RegExp }

const SHAPES: Readonly<Record<string, Shape>> = {
  valor: ({ from, to, side, day }) => ({
    path: `/compat/valor?de=${from}&a=${to}&fecha=${day}&tipo=${side}`,
    number: new RegExp(`^${NUMBER}$`),
  }),
  'Frankfurter v1': ({ from, to, side, day }) => ({
    path: `/v1/${day}?base=${from}&symbols=${to}&tipo=${side}`,
    number: new RegExp(`"${to}":${NUMBER}[,}]`),
  }),
  'Frankfurter v2': ({ from, to, side, day }) => ({
    path: `/v2/rate/${from}/${to}?date=${day}&tipo=${side}`,
    number: new RegExp(`"rate":${NUMBER}[,}]`),
  }),
  currencylayer: ({ from, to, side, day }) => ({
    path: `/historical?date=${day}&source=${from}&currencies=${to}&tipo=${side}`,
    number: new RegExp(`"${from}${to}":${NUMBER}[,}]`),
  }),
  Fixer: ({ from, to, side, day }) => ({
    path: `/api/${day}?base=${from}&symbols=${to}&tipo=${side}`,
    number: new RegExp(`"${to}":${NUMBER}[,}]`),
  }),
  'Open Exchange Rates': ({ from, to, side, day }) => ({
    path: `/api/historical/${day}.json?base=${from}&symbols=${to}&tipo=${side}`,
    number: new RegExp(`"${to}": ?${NUMBER}[,}\\s]`),
  }),
  'ExchangeRate-API': ({ from, to, side, day }) => ({
    path: `/v6/history/${from}/${day.split('-').map(Number).join('/')}?tipo=${side}`,
    number: new RegExp(`"${to}":${NUMBER}[,}]`),
  }),
}
const OF_THE_DOLLAR: Readonly<Record<string, Shape>> = {
  "the bank's old service": ({ side, day }) => {
    const local = day.split('-').reverse().join('/')
    const rest = 'Nombre=N&SubNiveles=N&CorreoElectronico=a@b.cr&Token='
    const code = side === 'compra' ? 317 : 318
    const query = `Indicador=${code}&FechaInicio=${local}&FechaFinal=${local}&${rest}`
    return { path: `${ASMX}?${query}`, number: new RegExp(`NUM_VALOR&gt;${NUMBER}&lt;`) }
  },
  "the bank's present service": ({ side, day }) => {
    const slashed = day.replaceAll('-', '/')
    const code = side === 'compra' ? 317 : 318
    const path = `${SDDE}/${code}/series?fechaInicio=${slashed}&fechaFin=${slashed}&idioma=ES`
    return { path, number: new RegExp(`"valorDatoPorPeriodo":${NUMBER}`) }
  },
  Hacienda: ({ side, day }) => ({
    path: `/indicadores/tc/dolar?fecha=${day}`,
    number: new RegExp(`"${side}":\\{"fecha":"[^"]*","valor":${NUMBER}`),
  }),
}

test(`${QUESTIONS} questions to every shape since ${FIRST_DAY}`, async (t) => {
  figure(t, 'seed', SEED)
  const { ask, currencies, today } = await startGround(t)
  const random = randomOf(SEED)
  const days = dayOf(today) - dayOf(FIRST_DAY)
  let held = 0
  for (let at = 0; at < QUESTIONS; at += 1) {
    const side = pick(random, ['compra', 'venta'] as const)
    const day = addDays(FIRST_DAY, random.int(0, days))
    const from = at % 4 === 0 ? 'USD' : pick(random, currencies)
    const to =
      at % 4 === 0
        ? 'CRC'
        : pick(
            random,
            currencies.filter((one) => one !== from),
          )
    const question = { from, to, side, day }
    const converted = await ask(`/api/v1/convert?amount=1&from=${from}&to=${to}&type=${side}&on=${day}`)
    const rate = converted.status === 200 ? String(JSON.parse(converted.body).rate) : undefined
    if (rate !== undefined) held += 1
    for (const [name, shape] of Object.entries(SHAPES)) await compare(name, shape, question, rate)
    if (from !== 'USD' || to !== 'CRC') continue
    const own = await ask(`/api/v1/rates?on=${day}&base=USD&quote=CRC&exact=true`)
    const exact = JSON.parse(own.body).find((one: { rate_type: string }) => one.rate_type === side)?.value
    for (const [name, shape] of Object.entries(OF_THE_DOLLAR)) {
      const isForDays = name !== 'Hacienda'
      await compare(name, shape, question, isForDays ? exact : rate)
    }
  }
  figure(t, 'held', held)
  assert.ok(held > QUESTIONS / 3, 'many of the questions have an answer')

  async function compare(name: string, shape: Shape, question: Question, expected: string | undefined) {
    const { path, number } = shape(question)
    const { status, body } = await ask(path)
    const [, told] = number.exec(body) ?? []
    const about = `${name} ${path}: ${status} ${body.slice(0, 300)}`
    assert.ok(status < 500, about)
    const plain = told?.includes('.') ? told.replace(/\.?0+$/, '') : told
    assert.equal(plain, expected, about)
  }
})

/** A server with the history since 1983 that needs no key for the shapes, and a way to ask it. */
async function startGround(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const today = todayIn(() => new Date())
  const bank = await startBank({ token: 'test-token', today: () => today })
  t.after(() => bank.close())
  const words = [
    '--data-dir',
    dataDir,
    '--bccr-url',
    bank.url,
    '--bccr-pace',
    '0',
    '--backfill-from',
    FIRST_DAY,
  ]
  const env = { CAMBISTA_BCCR_TOKEN: 'test-token' }
  assert.equal(await startProgram(t, ['sync', ...words], env, PROGRAM).ended(), 0)
  const making = startProgram(t, ['key', 'create', 'agree', '--data-dir', dataDir], {}, PROGRAM)
  assert.equal(await making.ended(), 0)
  const headers = { 'X-API-Key': making.printed.out.trim() }
  const flags = ['--port', '0', '--no-scheduler', '--log-format', 'json', '--open-rates', '127.0.0.0/8']
  const server = startProgram(t, ['serve', '--data-dir', dataDir, ...flags], {}, PROGRAM)
  const [, url = ''] = await server.says(/"url":"([^"]+)"/)
  const ask = async (path: string) => {
    const response = await fetch(url + path, { headers })
    return { status: response.status, body: await response.text() }
  }
  const series = JSON.parse((await ask('/api/v1/series')).body) as {
    base_currency: string
    quote_currency: string
  }[]
  const currencies = new Set(series.flatMap((one) => [one.base_currency, one.quote_currency]))
  return { ask, currencies: [...currencies], today }
}
