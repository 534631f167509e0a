// The Odoo module, unpacked from the printed script and run with fakes of Odoo and of OCA's module.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { storeAsOtherProcess } from '../../api/support.ts'
import { until } from '../../support/terminal.ts'
import { KEY, openForClients, run, runProgram, TODAY } from '../support.ts'
import { busy, cut, loseWeeks, openFront, writeExample } from './connectors.ts'

type Rate = { direct: number; inverted: number }
type OdooState = {
  depends: string[]
  currencies: string[]
  rows: Record<string, Record<string, Rate>>
  messages: string[]
}
type History = { points: { date: string; value: string }[] }

const SOURCES = join(import.meta.dirname, '../../../src/examples/odoo')
const MODULE = 'currency_rate_update_cambista'
const lasting = { after: (work: () => void) => after(work) } as TestContext
const app = await openForClients({ backfillFrom: '2024-01-01' })
const front = await openFront(lasting, app)
const script = await writeExample(lasting, 'odoo')
const addons = dirname(script)
await run('sh', [script, addons])

type Call = ['_update', string, string] | ['_scheduled_update', string]

/** Runs calls of a provider of a company in colones, which reads the dollar. */
function runProvider(calls: Call[], fields: Record<string, unknown> = {}): Promise<OdooState> {
  const provider = {
    ...{ name: 'cambista', service: 'cambista', company_currency: 'CRC', currencies: ['CRC', 'USD'] },
    ...{ cambista_url: front.url, cambista_key: KEY, cambista_side: 'venta', ...fields },
  }
  front.requests = []
  return runProgram('oca-provider.py', [join(addons, MODULE), JSON.stringify({ provider, calls })])
}

async function published(query: Record<string, string>): Promise<[string, number][]> {
  const { points } = await app.json<History>(`/api/v1/history?${new URLSearchParams(query)}`)
  return points.map(({ date, value }) => [date, Number(value)])
}

function invertedRates({ rows }: OdooState, currency: string): [string, number | undefined][] {
  return Object.entries(rows).map(([day, rates]) => [day, rates[currency]?.inverted])
}

test('the script writes each file of the module, and again over it', async () => {
  await run('sh', [script, addons])
  const names = globSync('**/*.*', { cwd: SOURCES }).sort()
  assert.deepEqual(globSync(`${MODULE}/**/*.*`, { cwd: addons, exclude: ['**/__pycache__'] }).sort(), names)
  for (const name of names) {
    assert.equal(readFileSync(join(addons, name), 'utf8'), readFileSync(join(SOURCES, name), 'utf8'), name)
  }
})

test('the module depends on that of OCA, and offers the currencies of the server', async () => {
  const { depends, currencies } = await runProvider([])
  assert.deepEqual(depends, ['currency_rate_update'])
  const series = await app.json<{ base_currency: string; quote_currency: string }[]>('/api/v1/series')
  const names = new Set(
    series.flatMap(({ base_currency, quote_currency }) => [base_currency, quote_currency]),
  )
  assert.deepEqual(currencies, [...names].sort())
  assert.deepEqual((await runProvider([], { service: 'ECB' })).currencies, [])
})

for (const side of ['venta', 'compra']) {
  test(`a company that books with ${side} gets its values as published, and their inverse`, async () => {
    const state = await runProvider([['_update', '2026-03-16', TODAY]], { cambista_side: side })
    const range = { from: '2026-03-16', to: TODAY }
    assert.deepEqual(
      invertedRates(state, 'USD'),
      await published({ base: 'USD', quote: 'CRC', type: side, ...range }),
    )
    for (const { USD } of Object.values(state.rows)) {
      assert.ok(USD && Math.abs(USD.direct * USD.inverted - 1) < 1e-15)
    }
    assert.deepEqual(state.messages, [])
  })
}

test('a company in dollars gets the colón', async () => {
  const fields = { company_currency: 'USD', currencies: ['CRC'] }
  const state = await runProvider([['_update', TODAY, TODAY]], fields)
  const [[, value] = ['', 0]] = await published({ base: 'USD', quote: 'CRC', from: TODAY, to: TODAY })
  assert.equal(state.rows[TODAY]?.CRC?.direct, value)
})

test('a Sunday without a publication has no row, so that Odoo takes the row before it', async () => {
  const fields = { company_currency: 'USD', currencies: ['EUR'] }
  const state = await runProvider([['_update', '2026-03-20', '2026-03-22']], fields)
  assert.deepEqual(Object.keys(state.rows), ['2026-03-20'])
  const sunday = await runProvider([['_update', '2026-03-21', '2026-03-22']], fields)
  assert.deepEqual([sunday.rows, sunday.messages], [{}, []])
})

test('a long range is read in requests of 366 days', async () => {
  const state = await runProvider([['_update', '2024-01-01', TODAY]])
  const windows = front.requests.map(({ path }) => {
    const query = new URL(path, front.url).searchParams
    return [query.get('from'), query.get('to')]
  })
  assert.deepEqual(windows, [
    ['2024-01-01', '2024-12-31'],
    ['2025-01-01', '2026-01-01'],
    ['2026-01-02', TODAY],
  ])
  assert.deepEqual(
    invertedRates(state, 'USD'),
    await published({ base: 'USD', quote: 'CRC', from: '2024-01-01', to: TODAY }),
  )
})

test('a scheduled update replaces a row whose value the bank corrected, and a later one requests no reversed range', async () => {
  await storeAsOtherProcess(app, { series: 2, day: '2026-03-10', value: '501.23' })
  const path = '/api/v1/rates/latest?base=USD&quote=CRC&on=2026-03-10'
  await until(async () => (await (await app.get(path)).text()).includes('501.23')) // the server has noticed it
  const old = { '2026-03-10': { USD: { direct: 0.002, inverted: 500 } } }
  const fields = { rows: old, messages: [] }
  const state = await runProvider(
    [
      ['_scheduled_update', TODAY],
      ['_scheduled_update', TODAY],
    ],
    fields,
  )
  assert.equal(state.rows['2026-03-10']?.USD?.inverted, 501.23)
  assert.deepEqual(state.messages, [])
  assert.equal(front.requests.length, 2)
})

test('a busy server and a cut answer are retried; a wrong key is a message in the chatter', async () => {
  front.answers = [busy(1), cut]
  const state = await runProvider([['_update', TODAY, TODAY]])
  assert.deepEqual([Object.keys(state.rows), front.requests.length], [[TODAY], 3])
  const rejected = await runProvider([['_update', TODAY, TODAY]], { cambista_key: 'cbk_wrong' })
  assert.match(rejected.messages.join(), /^The server rejects the request: 401: .*X-API-Key/)
  assert.deepEqual([rejected.rows, front.requests.length], [{}, 1])
})

test('days that were not synchronized are a message with these days, and write no row', async () => {
  await loseWeeks(app)
  const state = await runProvider([['_update', '2026-01-20', TODAY]])
  assert.deepEqual(state.messages, ['USD: the server has not fetched the days from 2026-02-02 to 2026-02-13'])
  assert.deepEqual(state.rows, {})
  const later = await runProvider([['_scheduled_update', '2026-03-02']])
  assert.deepEqual([later.messages, '2026-03-02' in later.rows], [[], true])
})

test('the Spanish texts translate each text of the module', () => {
  const folder = join(SOURCES, MODULE)
  const po = readFileSync(join(folder, 'i18n/es.po'), 'utf8')
  const entries = [...po.matchAll(/^msgid "(.+)"\nmsgstr "(.*)"$/gm)]
  const python = readFileSync(join(folder, 'models/res_currency_rate_provider_cambista.py'), 'utf8')
  for (const [, text = '', translation] of entries) {
    assert.ok(python.includes(`"${text}"`), text)
    assert.notEqual(translation, '')
  }
  const texts = [...python.matchAll(/\b_\(\s*"([^"]+)"/g)].map(([, text]) => text)
  const translatedTexts = new Set(entries.map(([, text]) => text))
  assert.ok(texts.length === 3 && texts.every((text) => translatedTexts.has(text)), texts.join('\n'))
  assert.equal(entries.length, 12)
})
