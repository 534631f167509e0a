// A store with invented values names no bank as their source: in lists, files and shapes. No source joins them
// (decisions#invented).

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ROUTES } from '../../../src/http/routes.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { startTestApp } from '../../support/app.ts'
import { DOLLAR_SHAPES, SHAPES } from '../../support/rates/shape-questions.ts'
import { openShapes, TODAY } from '../compat/support.ts'
import { call, connect, ERAS, type Era } from '../mcp/support.ts'

const NAME = 'Valores inventados'
const BANK = /Banco Central|Bank of Costa Rica|bank is to be named|www\.bccr\.fi\.cr/i
const DESCRIPTIONS = /^\/(openapi|docs)/

const app = await openShapes({ providers: [{ ...bccr, isInvented: true }] })

test('/providers names invented values as their own source', async () => {
  const [row] = await app.json<Record<string, unknown>[]>('/api/v1/providers?details=true')
  const { code, name, website, invented, attribution, terms } = row ?? {}
  assert.deepEqual(
    { code, name, website, invented, attribution, terms },
    { code: 'bccr', name: NAME, website: null, invented: true, attribution: `Fuente: ${NAME}`, terms: null },
  )
})

test('no answer with invented values names the bank', async () => {
  const question = { from: 'USD', to: 'CRC', side: 'venta', day: TODAY } as const
  const shapes = Object.values({ ...SHAPES, ...DOLLAR_SHAPES }).map((shape) => shape(question).path)
  const paths = Object.keys(ROUTES).flatMap((route) => {
    const [method = '', path = ''] = route.split(' ')
    return method === 'GET' && !path.includes('{') && !DESCRIPTIONS.test(path) ? path : []
  })
  let answers = 0
  for (const path of [
    ...[...paths, ...shapes],
    '/api/v1/history.ledger?base=USD&quote=CRC&from=2026-03-01',
    '/api/v1/history.beancount?base=EUR&quote=CRC&from=2026-03-01',
    ...['/v6/latest/USD', '/v6/pair/USD/CRC', '/api/historical/2026-03-20.json'],
  ]) {
    const response = await app.get(path)
    answers += response.ok ? 1 : 0
    assert.doesNotMatch(await response.text(), BANK, path)
  }
  assert.ok(answers > 50, `${answers} answers`)
})

test('shapes and ledgers that name a source name invented values', async () => {
  for (const path of [
    ...['/v2/providers', '/api/latest.json', '/v6/latest/USD', '/live'],
    '/api/v1/history.ledger?base=USD&quote=CRC&from=2026-03-01',
    '/api/v1/history.beancount?base=USD&quote=CRC&from=2026-03-01',
  ]) {
    const response = await app.get(path)
    assert.match(await response.text(), new RegExp(NAME), path)
  }
})

for (const era of Object.keys(ERAS) as Era[]) {
  test(`MCP names invented values as the source, ${era}`, async (t) => {
    const client = await connect(t, era, { app })
    assert.match(client.getInstructions() ?? '', /^Source: Valores inventados/)
    for (const name of ['get_rate', 'get_rates_on', 'list_series', 'freshness']) {
      const { content } = await call(client, name)
      assert.match(content[0]?.text ?? '', / Source: Valores inventados \(.*\)\.$/, name)
    }
  })
}

test('a statement of invented values has its source as the second line', async () => {
  const answer = async (query: string) =>
    app.json<Record<string, string>>(`/api/v1/convert/statement?amount=1500&from=USD&to=CRC${query}`)
  const { statement = '', sha256 = '', as_of } = await answer('')
  const [format, source, third] = statement.split('\n')
  assert.deepEqual([format, source, third], ['cambista-constancia/1', 'source=invented', `as_of=${as_of}`])
  assert.equal(createHash('sha256').update(statement).digest('hex'), sha256)
  assert.equal((await answer(`&as_of=${as_of}&sha256=${sha256}`)).matches, true)
})

test('the page of invented values has the mark, and files of the page do not', async () => {
  const page = async () => (await fetch(app.app.url)).text()
  assert.match(await page(), /^<!doctype html>\s*<html data-invented lang/)
  const response = await fetch(`${app.app.url}/page/${encodeURIComponent(' data-invented')}page.html`)
  assert.equal(response.status, 404)
})

test('a store of the bank has neither name nor mark of invented values', async (t) => {
  const other = await startTestApp(t)
  await other.sync()
  for (const path of ['/api/v1/providers?details=true', '/api/v1/export.csv', '/', '/v2/providers']) {
    const response = await other.get(path)
    assert.doesNotMatch(await response.text(), /invent/i, path)
  }
  const { statement } = await other.json<{ statement: string }>(
    '/api/v1/convert/statement?amount=1&from=USD&to=CRC',
  )
  assert.match(statement, /^cambista-constancia\/1\nas_of=/)
})

test('a server with the real bank does not sync invented values', async (t) => {
  const demo = await startTestApp(t, { providers: [{ ...bccr, isInvented: true }] })
  await demo.sync()
  const before = await demo.json('/api/v1/rates?on=2026-03-24')
  await demo.app.close()
  demo.clock.now = new Date('2026-03-27T18:00:00Z')
  const { dataDir, clock } = demo
  const restart = await startTestApp(t, { dataDir, clock, scheduler: true })
  await assert.rejects(restart.sync(), /no provider is enabled/)
  const line = restart.logLines.find((one) => one.includes('its values are invented'))
  assert.match(line ?? '', /"provider":"bccr"/)
  assert.deepEqual(await restart.json('/api/v1/rates?on=2026-03-24'), before)
  assert.equal(restart.bank.requests.length, 0)
  const { tasks } = await restart.json<{ tasks: { next_run: string | null }[] }>('/api/v1/scheduler')
  assert.equal(tasks[0]?.next_run, null)
  const [row] = await restart.json<{ name: string }[]>('/api/v1/providers')
  assert.equal(row?.name, NAME)
})
