// The fake Odoo behaves as Odoo with OCA's module did on a real database, by version. Without that, a test of the module
// proves nothing.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { TODAY } from '../support.ts'
import { type Odoo, PROVIDER, startOdoo, VERSIONS, writeModule } from './odoo-server.ts'

const lasting = { after: (work: () => void) => after(work) } as TestContext
const module = await writeModule(lasting)
const RATE = 'res.currency.rate'

async function find(odoo: Odoo, model: string, name: string): Promise<number> {
  return (await odoo.find(model, [['name', '=', name]]))[0] ?? 0
}

async function addRate(odoo: Odoo, currency: string, day: string, rate: number): Promise<number> {
  const company_id = await find(odoo, 'res.company', 'Costa SA')
  const currency_id = await find(odoo, 'res.currency', currency)
  return odoo.create(RATE, { company_id, currency_id, name: day, rate })
}

for (const version of VERSIONS) {
  test(`Odoo ${version} books before the first row with ${version === 18 ? 'the oldest row' : '1'}`, async (t) => {
    const odoo = startOdoo(t, version, module)
    assert.equal(await odoo.send('bill', 'USD', TODAY, 10), 10)
    await addRate(odoo, 'USD', '2026-03-10', 0.002)
    await addRate(odoo, 'USD', '2026-03-12', 0.0025)
    assert.equal(await odoo.send('bill', 'USD', '2026-03-09', 10), version === 18 ? 5000 : 10)
    assert.equal(await odoo.send('bill', 'USD', '2026-03-11', 10), 5000)
    assert.equal(await odoo.send('bill', 'USD', TODAY, 10), 4000)
  })

  test(`Odoo ${version} divides all rates by the row of the company's own currency`, async (t) => {
    const odoo = startOdoo(t, version, module)
    await addRate(odoo, 'USD', '2026-03-10', 0.002)
    await addRate(odoo, 'CRC', '2026-03-10', 0.002)
    assert.equal(await odoo.send('bill', 'USD', TODAY, 10), 10)
  })

  test(`Odoo ${version} ${version === 16 ? 'has no branches' : 'refuses a rate of a branch'}`, async (t) => {
    const odoo = startOdoo(t, version, module)
    const company = await find(odoo, 'res.company', 'Costa SA')
    const currency = await find(odoo, 'res.currency', 'CRC')
    const values = { name: 'Sucursal', parent_id: company, currency_id: currency }
    const branch = await odoo.create('res.company', values)
    const dollar = await find(odoo, 'res.currency', 'USD')
    const row = odoo.create(RATE, { company_id: branch, currency_id: dollar, name: TODAY, rate: 0.002 })
    if (version === 16) await row
    else await assert.rejects(row, /main companies/)
  })

  test(`Odoo ${version} takes a posted text for ${version === 16 ? 'HTML' : 'text'}`, async (t) => {
    const odoo = startOdoo(t, version, module)
    const provider = await odoo.create(PROVIDER, { service: 'none' })
    const parameters = { body: 'down: <urlopen error 111>' }
    await odoo.send('execute', PROVIDER, 'message_post', [provider], [], 'robot', parameters)
    const [message] = await odoo.messages()
    assert.equal(message?.text, version === 16 ? 'down:' : parameters.body)
    assert.deepEqual(message?.partner_ids, [])
  })

  test(`Odoo ${version} runs OCA's job at 00:01 UTC, and a further job ${version === 18 ? 'for good' : 'once'}`, async (t) => {
    const odoo = startOdoo(t, version, module)
    const model_id = await odoo.create('ir.model', { model: RATE })
    const cron = { name: 'once', code: '0', interval_type: 'hours', model_id }
    const once = await odoo.create('ir.cron', cron)
    const [job] = await odoo.read<{ nextcall: string }>('ir.cron', [['name', '=', 'OCA']], ['nextcall'])
    assert.equal(job?.nextcall, '2026-03-25T00:01:00')
    await odoo.send('run_until', `${TODAY}T12:00:00Z`)
    assert.deepEqual(await odoo.read('ir.cron', [['id', '=', once]], ['active']), [
      { active: version === 18 },
    ])
  })

  test(`Odoo ${version} kills a worker after 120 seconds, with all its rows`, async (t) => {
    const odoo = startOdoo(t, version, module)
    const company_id = await find(odoo, 'res.company', 'Costa SA')
    const currency_id = await find(odoo, 'res.currency', 'USD')
    const rows = Array.from({ length: { 16: 27_000, 17: 7300, 18: 16_000 }[version] }, (_, index) => ({
      ...{ company_id, currency_id, rate: 1 },
      name: new Date(index * 86_400_000).toISOString().slice(0, 10),
    }))
    await assert.rejects(odoo.send('execute', RATE, 'create', [], [rows]), /WorkerKilled/)
    assert.deepEqual(await odoo.rates('USD'), {})
  })
}
