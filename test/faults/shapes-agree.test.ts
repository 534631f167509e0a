// Every compat API returns the same digits as /api/v1/convert for any pair, side and day since the first value.
// test/api/compat tests the euro of Hacienda, which is rounded to two decimals.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startBank } from '../../src/demo/bank.ts'
import { addDays, currentDay, dayNumber } from '../../src/values/dates.ts'
import { startProgram } from '../support/program.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import {
  DOLLAR_SHAPES,
  plainDigits,
  SHAPES,
  type Shape,
  type ShapeQuestion,
} from '../support/rates/shape-questions.ts'
import { SEED } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { figure, PROGRAM, scaled } from './scale.ts'

const QUESTIONS = scaled({ short: 70, long: 5000 })
const FIRST_DAY = '1983-01-03'
test(`every compat API agrees with /api/v1/convert on ${QUESTIONS} questions since ${FIRST_DAY}`, async (t) => {
  figure(t, 'seed', SEED)
  const { fetchText, currencies, today } = await startServer(t)
  const random = createRandom(SEED)
  const days = dayNumber(today) - dayNumber(FIRST_DAY)
  let answeredQuestions = 0
  const isComplete = () => answeredQuestions > QUESTIONS / 3
  for (let at = 0; at < QUESTIONS || (!isComplete() && at < 5 * QUESTIONS); at += 1) {
    const side = random.item(['compra', 'venta'] as const)
    const day = addDays(FIRST_DAY, random.int(0, days))
    const from = at % 4 === 0 ? 'USD' : random.item(currencies)
    const to = at % 4 === 0 ? 'CRC' : random.item(currencies.filter((one) => one !== from))
    const question = { from, to, side, day }
    const converted = await fetchText(`/api/v1/convert?amount=1&from=${from}&to=${to}&type=${side}&on=${day}`)
    const rate = converted.status === 200 ? String(JSON.parse(converted.body).rate) : undefined
    if (rate !== undefined) answeredQuestions += 1
    for (const [name, shape] of Object.entries(SHAPES)) await compare(name, shape, question, rate)
    if (from !== 'USD' || to !== 'CRC') continue
    const exactReply = await fetchText(`/api/v1/rates?on=${day}&base=USD&quote=CRC&exact=true`)
    const exact = JSON.parse(exactReply.body).find(
      (one: { rate_type: string }) => one.rate_type === side,
    )?.value
    for (const [name, shape] of Object.entries(DOLLAR_SHAPES)) {
      const usesExact = !['Hacienda', 'paginasweb'].includes(name)
      await compare(name, shape, question, usesExact ? exact : rate)
    }
  }
  figure(t, 'questions with an answer', answeredQuestions)
  assert.ok(isComplete(), 'many of the questions have an answer')

  async function compare(name: string, shape: Shape, question: ShapeQuestion, expected: string | undefined) {
    const { path, number } = shape(question)
    const { status, body } = await fetchText(path)
    const [, digits] = number.exec(body) ?? []
    const details = `${name} ${path}: ${status} ${body.slice(0, 300)}`
    assert.ok(status < 500, details)
    assert.equal(plainDigits(digits), expected, details)
  }
})

/** A server with the history since 1983 that opens compat APIs to this machine, and a function to query it. */
async function startServer(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const today = currentDay(() => new Date())
  const bank = await startBank({ token: 'test-token', today: () => today })
  t.after(() => bank.close())
  const options = [
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
  assert.equal(await startProgram(t, ['sync', ...options], env, PROGRAM).waitForExit(), 0)
  const keyCommand = startProgram(t, ['key', 'create', 'agree', '--data-dir', dataDir], {}, PROGRAM)
  assert.equal(await keyCommand.waitForExit(), 0)
  const headers = { 'X-API-Key': keyCommand.printed.out.trim() }
  const flags = ['--port', '0', '--no-scheduler', '--log-format', 'json', '--open-rates', '127.0.0.0/8']
  const server = startProgram(t, ['serve', '--data-dir', dataDir, ...flags], {}, PROGRAM)
  const [, url = ''] = await server.waitForOutput(/"url":"([^"]+)"/)
  const fetchText = async (path: string) => {
    const response = await fetch(url + path, { headers })
    return { status: response.status, body: await response.text() }
  }
  const series = JSON.parse((await fetchText('/api/v1/series')).body) as {
    base_currency: string
    quote_currency: string
  }[]
  const currencies = new Set(series.flatMap((one) => [one.base_currency, one.quote_currency]))
  return { fetchText, currencies: [...currencies], today }
}
