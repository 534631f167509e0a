// The job of the Odoo module: rates of the day, first runs, and days that are read again. Each version of Odoo is a
// fake with its own clock, which the tests set.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { currentDay, type IsoDate } from '../../../src/values/dates.ts'
import type { TestApp } from '../../support/app.ts'
import { fixedClock } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { openForClients, TODAY } from '../support.ts'
import { openFront } from './connectors.ts'
import { addProvider, type Odoo, PROVIDER, startOdoo, VERSIONS, writeModule } from './odoo-server.ts'

type State = { failures: string[]; rows: number; jobs: { name: string; active: boolean }[] }
type Marks = { cambista_since: string; last_successful_run: string; next_run: string }

const lasting = { after: (work: () => void) => after(work) } as TestContext
const module = await writeModule(lasting)
const app = await openForClients({ backfillFrom: '2024-01-01' })
const front = await openFront(lasting, app)
const HOUR = 3_600_000
/** Currencies of the server beside USD, EUR and CAD. Odoo does not know XDR. */
const MANY =
  'AED ARS AUD BDT BHD BOB BRL CHF CLP CNY COP DKK DOP EGP GBP GTQ HKD HNL IDR ILS INR JOD JPY KRW LKR ' +
  'MAD MXN MYR NIO NOK NZD PEN PLN RUB SEK SGD THB TWD UYU VES VND ZAR'

async function publishedValue(server: TestApp, day: string, base = 'USD'): Promise<number> {
  const query = new URLSearchParams({ base, quote: 'CRC', from: day, to: day })
  const { points } = await server.json<{ points: { value: string }[] }>(`/api/v1/history?${query}`)
  return Number(points[0]?.value)
}

/** Bills 100 units. */
async function bill(odoo: Odoo, currency: string, day: string): Promise<string> {
  return ((await odoo.send<number>('bill', currency, day, 100)) / 100).toFixed(8)
}

/** Moves the clock by hours and runs the jobs of this time. */
async function runHours(odoo: Odoo, from: string, hours: number): Promise<void> {
  await odoo.send('run_until', new Date(Date.parse(from) + hours * HOUR).toISOString())
}

async function marks(odoo: Odoo): Promise<Marks | undefined> {
  const [row] = await odoo.read<Marks>(PROVIDER, [], ['cambista_since', 'last_successful_run', 'next_run'])
  return row
}

test('on five days the rate of the day is there at 06:00, and a bill at 09:00 has it', async (t) => {
  const clock = fixedClock('2026-03-22T18:00:00Z') // Sunday noon
  // The bank publishes the rates of the next day at 17:30.
  const published = () => currentDay(() => new Date(clock.now.getTime() - 17.5 * HOUR))
  const bank = { today: published as () => IsoDate }
  const server = await openForClients({ clock, bank, backfillFrom: '2026-03-01', scheduler: true })
  const odoos = VERSIONS.map((version) => startOdoo(t, version, module))
  for (const odoo of odoos) {
    await odoo.send('clock', clock.now.toISOString())
    await addProvider(odoo, server.app.url)
  }
  const values: number[] = []
  for (const day of ['2026-03-23', '2026-03-24', '2026-03-25', '2026-03-26', '2026-03-27']) {
    for (const odoo of odoos) await odoo.send('run_until', `${day}T10:59:00Z`) // OCA's job runs at 00:01
    clock.now = new Date(`${day}T11:00:01Z`)
    await until(async () => Number.isFinite(await publishedValue(server, day)))
    const value = await publishedValue(server, day)
    for (const odoo of odoos) {
      await odoo.send('run_until', `${day}T12:00:00Z`)
      assert.equal((await odoo.rates('USD'))[day], 1 / value)
      await odoo.send('run_until', `${day}T15:00:00Z`)
      assert.equal(await bill(odoo, 'USD', day), value.toFixed(8))
    }
    values.push(value)
  }
  assert.equal(new Set(values).size, 5)
  for (const odoo of odoos) {
    assert.deepEqual((await odoo.send<State>('state')).failures, [])
    // A day that the server has not fetched before 05:00 is no failure.
    for (const { text } of await odoo.messages()) assert.doesNotMatch(text, /2026-03-2/)
  }
})

for (const version of VERSIONS) {
  test(`Odoo ${version}: first runs go back to 1 January of last year, and a note has that day`, async (t) => {
    const odoo = startOdoo(t, version, module)
    await addProvider(odoo, front.url, { currencies: ['USD', 'EUR', 'CAD'] })
    await runHours(odoo, `${TODAY}T12:00:00Z`, 0)
    const since = (await marks(odoo))?.cambista_since ?? ''
    assert.match(since, /^CAD 2025-\d\d-\d\d, EUR|^USD 2025-/)
    await runHours(odoo, `${TODAY}T12:00:00Z`, 3)
    for (const [currency, day] of [
      ['USD', '2025-01-01'],
      ['EUR', '2025-01-02'],
      ['USD', '2025-07-15'],
    ] as const) {
      assert.equal(await bill(odoo, currency, day), (await publishedValue(app, day, currency)).toFixed(8))
    }
    const all = 'USD 2025-01-01, EUR 2025-01-01, CAD 2025-01-01'
    assert.equal((await marks(odoo))?.cambista_since, all)
    const notes = (await odoo.messages()).map(({ text }) => text)
    assert.equal(
      notes[0],
      `Todos los tipos de cambio están desde: ${since}\nLos anteriores llegan en las próximas ejecuciones.`,
    )
    assert.equal(notes.at(-1), `Todos los tipos de cambio están desde: ${all}`)
  })

  test(`Odoo ${version}: first runs go back to the oldest document in a foreign currency`, async (t) => {
    const odoo = startOdoo(t, version, module)
    const [company] = await odoo.find('res.company', [])
    for (const [currency, day] of [
      ['USD', '2024-06-03'],
      ['CRC', '2024-02-01'],
    ]) {
      const [id] = await odoo.find('res.currency', [['name', '=', currency]])
      const values = { company_id: company, currency_id: id, date: day, invoice_date: '2024-05-30' }
      await odoo.create('account.move', values)
    }
    await addProvider(odoo, front.url)
    await runHours(odoo, `${TODAY}T12:00:00Z`, 1)
    assert.equal((await marks(odoo))?.cambista_since, 'USD 2024-05-30')
    assert.equal(await bill(odoo, 'USD', '2024-06-03'), (await publishedValue(app, '2024-06-03')).toFixed(8))
  })

  test(`Odoo ${version}: no worker dies of the first runs of 45 currencies`, async (t) => {
    const odoo = startOdoo(t, version, module)
    for (const name of MANY.split(' ')) await odoo.create('res.currency', { name })
    const currencies = ['USD', 'EUR', 'CAD', ...MANY.split(' ')]
    await addProvider(odoo, front.url, { currencies })
    await runHours(odoo, `${TODAY}T12:00:00Z`, 0)
    const first = await odoo.send<State>('state')
    await runHours(odoo, `${TODAY}T12:00:00Z`, 1)
    const second = await odoo.send<State>('state')
    assert.deepEqual(second.failures, [])
    assert.ok(first.rows > 1000 && second.rows > first.rows && second.rows <= first.rows + 1000)
  })

  test(`Odoo ${version}: the job runs each hour for good, and an update of the module adds no other`, async (t) => {
    const odoo = startOdoo(t, version, module)
    await runHours(odoo, `${TODAY}T12:00:00Z`, 5)
    await odoo.send('update_module')
    const { jobs } = await odoo.send<State>('state')
    const job = {
      name: 'cambista: rates of the day',
      active: true,
      interval_type: 'hours',
      interval_number: 1,
    }
    assert.deepEqual(jobs.slice(1), [version === 18 ? job : { ...job, numbercall: -1 }])
  })
}

test('no worker dies of the first runs of eight companies, and none waits for the history of another', async (t) => {
  const odoo = startOdoo(t, 17, module)
  await odoo.send('slow', 0.04) // the history of a dollar costs the seconds of 1,000 rows
  const [currency_id] = await odoo.find('res.currency', [['name', '=', 'CRC']])
  const companies: number[] = []
  for (const name of 'ABCDEFGH') {
    const company_id = await odoo.create('res.company', { name, currency_id })
    await addProvider(odoo, front.url, { company_id })
    companies.push(company_id)
  }
  await runHours(odoo, `${TODAY}T12:00:00Z`, 0)
  for (const id of companies) {
    const dollars = [
      ['company_id', '=', id],
      ['name', '=', TODAY],
    ]
    assert.equal((await odoo.find('res.currency.rate', dollars)).length, 1)
  }
  await runHours(odoo, `${TODAY}T12:00:00Z`, 9)
  const rows = await odoo.read<Marks>(PROVIDER, [], ['cambista_since'])
  for (const { cambista_since } of rows) assert.equal(cambista_since, 'USD 2025-01-01')
  assert.deepEqual((await odoo.send<State>('state')).failures, [])
})

test('a server that hangs kills no worker, and the failure of each company is noted', async (t) => {
  const odoo = startOdoo(t, 17, module)
  const [currency_id] = await odoo.find('res.currency', [['name', '=', 'CRC']])
  for (const name of 'ABCDEF') {
    await addProvider(odoo, 'http://127.0.0.1:9', {
      company_id: await odoo.create('res.company', { name, currency_id }),
    })
  }
  await odoo.send('limit', { ATTEMPTS: 1 })
  await odoo.send('hang', 29) // as long as a run may request
  await runHours(odoo, `${TODAY}T12:00:00Z`, 6)
  await odoo.send('run_job', 'OCA')
  assert.deepEqual((await odoo.send<State>('state')).failures, [])
  const failing = await odoo.read<{ cambista_failing: string }>(PROVIDER, [], ['cambista_failing'])
  assert.deepEqual(new Set(failing.map((row) => row.cambista_failing)), new Set(['USD']))
})

test('rows of others are no mark: the first runs read their days too', async (t) => {
  const odoo = startOdoo(t, 17, module)
  await addProvider(odoo, front.url)
  await odoo.send('run_job', 'OCA')
  const [company] = await odoo.find('res.company', [])
  const [dollar] = await odoo.find('res.currency', [['name', '=', 'USD']])
  const old = { company_id: company, currency_id: dollar, name: '2024-12-31', rate: 0.002 }
  await odoo.create('res.currency.rate', old)
  await runHours(odoo, `${TODAY}T12:00:00Z`, 2)
  assert.equal(await bill(odoo, 'USD', '2025-05-05'), (await publishedValue(app, '2025-05-05')).toFixed(8))
})

test('the job requests nothing while the rates of the day are there, and 31 days again once a day', async (t) => {
  const odoo = startOdoo(t, 17, module)
  await addProvider(odoo, front.url)
  await runHours(odoo, `${TODAY}T12:00:00Z`, 3)
  const { rows } = await odoo.send<State>('state')
  front.requests = []
  await odoo.send('run_until', '2026-03-25T05:59:00Z') // 23:59 in Costa Rica; OCA's job has run
  const ranges = () =>
    front.requests.map(({ path }) => {
      const query = new URL(path, front.url).searchParams
      return `${query.get('from')} ${query.get('to')}`
    })
  assert.deepEqual(ranges(), ['2026-02-22 2026-03-25']) // OCA's, for the day that is next in Costa Rica
  front.requests = []
  await odoo.send('run_until', '2026-03-26T05:59:00Z')
  assert.deepEqual(ranges(), ['2026-02-23 2026-03-26'])
  // Only the row of 25 March is new, and the dates of OCA's module move.
  assert.equal((await odoo.send<State>('state')).rows, rows + 1)
  const dates = { last_successful_run: '2026-03-25', next_run: '2026-03-26' }
  assert.deepEqual(await odoo.read(PROVIDER, [], ['last_successful_run', 'next_run']), [dates])
})

test('a provider with an interval of a month is left to the job of OCA, which writes the newest day', async (t) => {
  const odoo = startOdoo(t, 17, module)
  await addProvider(odoo, front.url, { interval_type: 'months', next_run: TODAY })
  await runHours(odoo, `${TODAY}T12:00:00Z`, 3)
  assert.deepEqual(await odoo.rates('USD'), {})
  await odoo.send('run_job', 'OCA')
  assert.deepEqual(Object.keys(await odoo.rates('USD')), [TODAY])
})

test('a provider with an interval of half a year and many currencies gets the newest day', async (t) => {
  const odoo = startOdoo(t, 17, module)
  for (const name of MANY.split(' ')) await odoo.create('res.currency', { name })
  const currencies = ['USD', 'EUR', 'CAD', ...MANY.split(' ')]
  const interval = { interval_type: 'months', interval_number: 6, next_run: TODAY }
  await addProvider(odoo, front.url, { currencies, ...interval })
  await odoo.send('run_job', 'OCA')
  assert.deepEqual(Object.keys(await odoo.rates('USD')), [TODAY])
})

test('a document of a mistyped year makes no run go back to days before the first rate of the bank', async (t) => {
  const odoo = startOdoo(t, 17, module)
  const [company] = await odoo.find('res.company', [])
  const [dollar] = await odoo.find('res.currency', [['name', '=', 'USD']])
  await odoo.create('account.move', { company_id: company, currency_id: dollar, date: '0202-06-03' })
  const provider = await addProvider(odoo, front.url)
  assert.equal(await odoo.execute(PROVIDER, '_cambista_goal', [provider], []), '1983-01-01')
})

test('a company without automatic rates has none by the job', async (t) => {
  const odoo = startOdoo(t, 17, module)
  await addProvider(odoo, front.url)
  const companies = await odoo.find('res.company', [])
  await odoo.execute('res.company', 'write', companies, [{ currency_rates_autoupdate: false }])
  await runHours(odoo, `${TODAY}T12:00:00Z`, 3)
  assert.deepEqual(await odoo.rates('USD'), {})
})
