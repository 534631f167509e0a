// The Odoo module, unpacked from the printed script: its files, and the values that it writes. The fake of Odoo and
// of OCA's module is in programs/odoo/, and the server is real.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { storeAsOtherProcess } from '../../api/support.ts'
import { until } from '../../support/terminal.ts'
import { openForClients, run, TODAY } from '../support.ts'
import { busy, cut, loseWeeks, openFront } from './connectors.ts'
import { addProvider, MODULE, type Odoo, PROVIDER, startOdoo, VERSIONS, writeModule } from './odoo-server.ts'

type History = { points: { date: string; value: string }[] }

const SOURCES = join(import.meta.dirname, '../../../src/examples/odoo')
const lasting = { after: (work: () => void) => after(work) } as TestContext
const app = await openForClients({ backfillFrom: '2024-01-01' })
const front = await openFront(lasting, app)
const module = await writeModule(lasting)

async function published(query: Record<string, string>): Promise<Record<string, number>> {
  const { points } = await app.json<History>(`/api/v1/history?${new URLSearchParams(query)}`)
  return Object.fromEntries(points.map(({ date, value }) => [date, Number(value)]))
}

async function withProvider(
  t: TestContext,
  fields: Parameters<typeof addProvider>[2] = {},
  version: number = 17,
): Promise<{ odoo: Odoo; provider: number }> {
  const odoo = startOdoo(t, version, module)
  const provider = await addProvider(odoo, front.url, fields)
  front.requests = []
  return { odoo, provider }
}

test('the script writes each file of the module, and again over it', async () => {
  const addons = join(module, '..')
  await run('sh', [join(addons, 'odoo.sh'), addons])
  const names = globSync('**/*.*', { cwd: SOURCES }).sort()
  assert.deepEqual(globSync(`${MODULE}/**/*.*`, { cwd: addons, exclude: ['**/__pycache__'] }).sort(), names)
  for (const name of names) {
    assert.equal(readFileSync(join(addons, name), 'utf8'), readFileSync(join(SOURCES, name), 'utf8'), name)
  }
})

test('the module depends on that of OCA, and offers the currencies of the server', async (t) => {
  const { odoo, provider } = await withProvider(t)
  assert.deepEqual((await odoo.send<{ depends: string[] }>('state')).depends, ['currency_rate_update'])
  const series = await app.json<{ base_currency: string; quote_currency: string }[]>('/api/v1/series')
  const names = new Set(
    series.flatMap(({ base_currency, quote_currency }) => [base_currency, quote_currency]),
  )
  const supported = (id: number) => odoo.execute<string[]>(PROVIDER, '_get_supported_currencies', [id], [])
  assert.deepEqual(await supported(provider), [...names].sort())
  assert.deepEqual(await supported(await odoo.create(PROVIDER, { service: 'none' })), [])
})

for (const version of VERSIONS) {
  for (const side of ['venta', 'compra']) {
    test(`Odoo ${version}: a company that books with ${side} gets the values as published`, async (t) => {
      const { odoo, provider } = await withProvider(t, { cambista_side: side }, version)
      assert.deepEqual(await odoo.runWizard(provider, '2026-03-16', TODAY), {
        type: 'ir.actions.act_window_close',
      })
      const values = await published({ base: 'USD', quote: 'CRC', type: side, from: '2026-03-16', to: TODAY })
      const rates = await odoo.rates('USD')
      assert.deepEqual(Object.keys(rates), Object.keys(values))
      for (const [day, value] of Object.entries(values)) {
        const rate = rates[day] ?? 0
        assert.ok(Math.abs(rate * value - 1) < 1e-15)
        assert.equal((await odoo.send<number>('bill', 'USD', day, 100)).toFixed(5), (100 * value).toFixed(5))
      }
      assert.deepEqual(await odoo.messages(), [])
    })
  }
}

/** Makes the company book in dollars. */
async function bookInDollars(odoo: Odoo): Promise<void> {
  const [dollar] = await odoo.find('res.currency', [['name', '=', 'USD']])
  await odoo.execute('res.company', 'write', await odoo.find('res.company', []), [{ currency_id: dollar }])
}

test('a company in dollars gets the colón', async (t) => {
  const odoo = startOdoo(t, 17, module)
  await bookInDollars(odoo)
  const provider = await addProvider(odoo, front.url, { currencies: ['CRC', 'USD'] })
  await odoo.runWizard(provider, TODAY, TODAY)
  const values = await published({ base: 'USD', quote: 'CRC', from: TODAY, to: TODAY })
  assert.deepEqual(await odoo.rates('CRC'), values)
  assert.deepEqual(await odoo.rates('USD'), {})
})

test('a Sunday without a publication has no row, so that Odoo takes the row before it', async (t) => {
  const odoo = startOdoo(t, 17, module)
  await bookInDollars(odoo)
  const provider = await addProvider(odoo, front.url, { currencies: ['EUR'] })
  await odoo.runWizard(provider, '2026-03-21', '2026-03-22')
  assert.deepEqual(await odoo.rates('EUR'), {})
  await odoo.runWizard(provider, '2026-03-20', '2026-03-22')
  assert.deepEqual(Object.keys(await odoo.rates('EUR')), ['2026-03-20'])
})

test('a long range is read in requests of 366 days', async (t) => {
  const { odoo, provider } = await withProvider(t)
  await odoo.runWizard(provider, '2024-01-01', TODAY)
  const windows = front.requests.map(({ path }) => {
    const query = new URL(path, front.url).searchParams
    return [query.get('from'), query.get('to')]
  })
  assert.deepEqual(windows, [
    ['2024-01-01', '2024-12-31'],
    ['2025-01-01', '2026-01-01'],
    ['2026-01-02', TODAY],
  ])
  const values = await published({ base: 'USD', quote: 'CRC', from: '2024-01-01', to: TODAY })
  assert.deepEqual(Object.keys(await odoo.rates('USD')), Object.keys(values))
})

test('the wizard refuses more days than a worker survives', async (t) => {
  const { odoo, provider } = await withProvider(t)
  await assert.rejects(odoo.runWizard(provider, '2000-01-01', TODAY), {
    message: 'USD: Choose at most 4000 days at a time for these currencies',
  })
  assert.equal(front.requests.length, 0)
})

test('a busy server and a cut answer are retried', async (t) => {
  const { odoo, provider } = await withProvider(t)
  front.answers = [busy(1), cut]
  await odoo.runWizard(provider, TODAY, TODAY)
  assert.deepEqual([Object.keys(await odoo.rates('USD')), front.requests.length], [[TODAY], 3])
})

test('a run replaces a row whose value the bank corrected, and names its day to the account managers', async (t) => {
  const { odoo } = await withProvider(t)
  await odoo.send('run_until', '2026-03-24T12:30:00Z')
  const before = await odoo.messages()
  await storeAsOtherProcess(app, { series: 2, day: '2026-03-10', value: '501.23' })
  const path = '/api/v1/rates/latest?base=USD&quote=CRC&on=2026-03-10'
  await until(async () => (await (await app.get(path)).text()).includes('501.23')) // the server has noticed it
  await odoo.send('run_until', '2026-03-25T12:30:00Z')
  assert.equal((await odoo.rates('USD'))['2026-03-10'], 1 / 501.23)
  const [message, ...others] = (await odoo.messages()).slice(before.length)
  assert.deepEqual(others, [])
  assert.equal(
    message?.text,
    'USD: 2026-03-10\nRevise las facturas de estos días: Odoo no recalcula ni las publicadas ni los borradores.',
  )
  assert.deepEqual(message?.partner_ids, ['accountant'])
})

test('a wrong key is an error of the wizard, with the reason of the server', async (t) => {
  const { odoo, provider } = await withProvider(t, { cambista_key: 'cbk_wrong' })
  await assert.rejects(odoo.runWizard(provider, TODAY, TODAY), {
    message:
      'USD: the server rejects the API key. Missing or invalid API key: send it in the header X-API-Key',
  })
  assert.deepEqual([await odoo.rates('USD'), front.requests.length], [{}, 1])
})

test('days that were not synchronized are an error of the wizard with these days, and write no row', async (t) => {
  await loseWeeks(app)
  const { odoo, provider } = await withProvider(t)
  await assert.rejects(
    odoo.runWizard(provider, '2026-01-20', TODAY),
    /USD: the server has not fetched the days from 2026-02-02 to 2026-02-13\. On its machine, run: cambista sync/,
  )
  assert.deepEqual(await odoo.rates('USD'), {})
})

test('the Spanish texts translate each text of the module', () => {
  const folder = join(SOURCES, MODULE)
  const po = readFileSync(join(folder, 'i18n/es.po'), 'utf8')
  const entries = [...po.matchAll(/^msgid "(.+)"\nmsgstr "(.*)"$/gm)]
  const python = globSync('models/*.py', { cwd: folder })
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')
    .replaceAll(/"\s*\n\s*"/g, '') // texts of two literals
  for (const [, text = '', translation] of entries) {
    assert.ok(python.includes(`"${text}"`), text)
    assert.notEqual(translation, '')
  }
  const texts = [...python.matchAll(/\b_\(\s*"([^"]+)"/g)].map(([, text = '']) => text)
  const fieldTexts = [...python.matchAll(/(?:help=|fields\.Char\(\s*)"([^"]+)"/g)].map(
    ([, text = '']) => text,
  )
  const translatedTexts = new Set(entries.map(([, text = '']) => text))
  assert.ok(texts.length > 15 && fieldTexts.length > 6)
  for (const text of [...texts, ...fieldTexts]) assert.ok(translatedTexts.has(text), text)
})
