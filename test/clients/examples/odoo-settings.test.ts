// The Odoo module in each version: its files and version, the settings that it refuses, and its end.

import assert from 'node:assert/strict'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../../support/app.ts'
import { openForClients, TODAY } from '../support.ts'
import { addProvider, MODULE, type Odoo, PROVIDER, startOdoo, VERSIONS, writeModule } from './odoo-server.ts'

const lasting = { after: (work: () => void) => after(work) } as TestContext
const module = await writeModule(lasting)
const app = await openForClients({ backfillFrom: '2025-01-01' })
const { url } = app.app
const RATE = 'res.currency.rate'
const OWN_RATES = 'Delete the rates of CRC in this company first'
const NOON = `${TODAY}T12:00:00Z`

async function currencyId(odoo: Odoo, name: string): Promise<number> {
  return (await odoo.find('res.currency', [['name', '=', name]]))[0] ?? 0
}

async function companyId(odoo: Odoo): Promise<number> {
  return (await odoo.find('res.company', []))[0] ?? 0
}

/** Adds a company in colones whose parent is the first one. */
async function addBelow(odoo: Odoo): Promise<number> {
  const [first, currency] = [await companyId(odoo), await currencyId(odoo, 'CRC')]
  return odoo.create('res.company', { name: 'Sucursal', parent_id: first, currency_id: currency })
}

/** Adds a row of the company's own currency; `company` false is a row of no company. */
async function addOwnRate(odoo: Odoo, rate: number, company?: false): Promise<number> {
  const values = {
    company_id: company ?? (await companyId(odoo)),
    currency_id: await currencyId(odoo, 'CRC'),
  }
  return odoo.create(RATE, { ...values, name: '2020-01-01', rate })
}

/** The module with another version in its manifest. */
function withVersion(t: TestContext, version: string): string {
  const copy = join(temporaryDirectory(t), MODULE)
  cpSync(module, copy, { recursive: true })
  const manifest = join(copy, '__manifest__.py')
  const text = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, text.replace(/"version": "[^"]+"/, `"version": "${version}"`))
  return copy
}

test('the manifest has a version without a series, and each Odoo adds its own', async (t) => {
  assert.match(readFileSync(join(module, '__manifest__.py'), 'utf8'), /"version": "1\.1\.0"/)
  for (const version of VERSIONS) {
    const state = await startOdoo(t, version, module).send<{ version: string }>('state')
    assert.equal(state.version, `${version}.0.1.1.0`)
  }
  assert.equal((await startOdoo(t, 19, module).send<{ version: string }>('state')).version, '19.0.1.1.0')
})

test('a manifest with the version of another series is refused by 17 and 18, and renamed by 16', async (t) => {
  const versions = ['16', '17', '18'].map((series) => withVersion(t, `${series}.0.1.0.0`))
  const [of16 = '', of17 = '', of18 = ''] = versions
  await assert.rejects(startOdoo(t, 18, of17).send('state'), /invalid manifest/)
  await assert.rejects(startOdoo(t, 17, of18).send('state'), /invalid manifest/)
  await assert.rejects(startOdoo(t, 19, of16).send('state'), /not installable/)
  const { version } = await startOdoo(t, 16, of17).send<{ version: string }>('state')
  assert.equal(version, '16.0.17.0.1.0.0')
})

test('no file of the module has what a version from 16 to 19 refuses', () => {
  for (const name of globSync('**/*.xml', { cwd: module })) {
    const xml = readFileSync(join(module, name), 'utf8').replaceAll(/<!--[\s\S]*?-->/g, '')
    assert.doesNotMatch(xml, /\b(attrs|states)=|<(tree|list)\b|numbercall|doall/, name)
    for (const [, value = ''] of xml.matchAll(/\b(?:invisible|required|readonly)="([^"]*)"/g)) {
      assert.match(value, /^(0|1|True|False)$/, name)
    }
  }
  const python = globSync('**/*.py', { cwd: module })
  assert.ok(python.length > 5)
  for (const name of python) {
    const text = readFileSync(join(module, name), 'utf8')
    assert.doesNotMatch(
      text,
      /_sql_constraints|pre_init_hook|post_init_hook|uninstall_hook|post_load|doall/,
      name,
    )
  }
})

for (const version of VERSIONS) {
  test(`Odoo ${version}: a row of the company's own currency that is not 1 is refused when the provider is saved`, async (t) => {
    const odoo = startOdoo(t, version, module)
    const row = await addOwnRate(odoo, 0.002)
    await assert.rejects(addProvider(odoo, url), { message: OWN_RATES })
    await odoo.execute(RATE, 'write', [row], [{ rate: 1 }])
    await addProvider(odoo, url)
  })

  test(`Odoo ${version}: such a row stops the next run, which notifies the account managers`, async (t) => {
    const odoo = startOdoo(t, version, module)
    await addProvider(odoo, url)
    const row = await addOwnRate(odoo, 0.002, false)
    await odoo.send('run_until', NOON)
    assert.deepEqual(await odoo.rates('USD'), {})
    const [message] = await odoo.messages()
    assert.equal(message?.text, 'USD: Elimine primero los tipos de cambio de CRC en esta empresa')
    assert.deepEqual(message?.partner_ids, ['accountant'])
    await odoo.execute(RATE, 'unlink', [row], [])
    await odoo.send('run_until', `${TODAY}T13:00:00Z`)
    assert.ok(TODAY in (await odoo.rates('USD')))
    assert.ok((await odoo.messages()).some(({ text }) => text === 'USD: los tipos de cambio llegan de nuevo'))
  })

  test(`Odoo ${version}: a company that books in another currency has its own rows deleted, and begins again`, async (t) => {
    const odoo = startOdoo(t, version, module)
    const provider = await addProvider(odoo, url, { currencies: ['CRC', 'USD'] })
    await odoo.send('run_until', NOON)
    assert.ok(TODAY in (await odoo.rates('USD')))
    const dollar = await currencyId(odoo, 'USD')
    await odoo.execute('res.company', 'write', [await companyId(odoo)], [{ currency_id: dollar }])
    await odoo.execute(PROVIDER, 'write', [provider], [{ cambista_side: 'compra' }])
    await odoo.send('run_until', `${TODAY}T14:00:00Z`)
    assert.deepEqual(await odoo.rates('USD'), {})
    const colones = await odoo.rates('CRC')
    assert.ok((colones[TODAY] ?? 0) > 400)
    assert.ok('2025-01-02' in colones)
  })

  test(`Odoo ${version}: a company below another is ${version > 16 ? 'a branch, which is refused' : 'on its own'}`, async (t) => {
    const odoo = startOdoo(t, version, module)
    const branch = await addBelow(odoo)
    if (version === 16) {
      await addProvider(odoo, url, { company_id: branch })
      await odoo.send('run_until', NOON)
      assert.ok(TODAY in (await odoo.rates('USD')))
      return
    }
    await assert.rejects(addProvider(odoo, url, { company_id: branch }), {
      message: 'Sucursal is a branch and has the rates of its main company: choose that one',
    })
  })

  test(`Odoo ${version}: a provider of a branch from before stops no other in OCA's job`, async (t) => {
    const odoo = startOdoo(t, version, module)
    const company = { name: 'Antes', currency_id: await currencyId(odoo, 'CRC') }
    const branch = await odoo.create('res.company', company)
    await addProvider(odoo, url, { company_id: branch })
    await odoo.execute('res.company', 'write', [branch], [{ parent_id: await companyId(odoo) }])
    await addProvider(odoo, url)
    await odoo.send('run_job', 'OCA')
    assert.ok(TODAY in (await odoo.rates('USD')))
    assert.deepEqual((await odoo.send<{ failures: string[] }>('state')).failures, [])
  })

  test(`Odoo ${version}: uninstalling beside a provider "none" deletes ours and leaves its rates`, async (t) => {
    const odoo = startOdoo(t, version, module)
    await odoo.create(PROVIDER, { service: 'none' })
    await addProvider(odoo, url)
    await odoo.send('run_until', NOON)
    const rates = await odoo.rates('USD')
    await odoo.send('uninstall')
    assert.deepEqual(await odoo.read(PROVIDER, [], ['service']), [{ service: 'none' }])
    assert.deepEqual(await odoo.rates('USD'), rates)
  })
}

for (const address of [
  'file:///etc/passwd',
  'ftp://rates.example.com',
  'rates.example.com',
  'http://',
  'http://a b',
  'http://rates.example.com:port',
  'http://rates.example.com:8080:1',
  'http://rates.example.com:123456',
]) {
  test(`the address ${address} is refused`, async (t) => {
    await assert.rejects(addProvider(startOdoo(t, 17, module), address), {
      message: 'Enter the server address as https://HOST or http://HOST',
    })
  })
}

test('rows of the own currency that version 1.0.0 of the module wrote are refused at the next run', async (t) => {
  const odoo = startOdoo(t, 17, module)
  const provider = await addProvider(odoo, url)
  const row = await addOwnRate(odoo, 0.002)
  await odoo.execute(RATE, 'write', [row], [{ provider_id: provider }])
  await assert.rejects(odoo.runWizard(provider, TODAY, TODAY), { message: `USD: ${OWN_RATES}` })
  await odoo.send('run_until', NOON)
  assert.deepEqual(await odoo.rates('USD'), {})
})

test('a provider needs address, key and side; another service needs none of them', async (t) => {
  const odoo = startOdoo(t, 17, module)
  const message = 'Enter the server address, the API key and the rate of the dollar'
  for (const name of ['cambista_url', 'cambista_key', 'cambista_side']) {
    await assert.rejects(addProvider(odoo, url, { [name]: false }), { message })
  }
  await odoo.create(PROVIDER, { service: 'none' })
})

test('account managers may run the wizard, and may not read the key', async (t) => {
  const odoo = startOdoo(t, 17, module)
  const provider = await addProvider(odoo, url)
  await odoo.runWizard(provider, TODAY, TODAY)
  assert.deepEqual(Object.keys(await odoo.rates('USD')), [TODAY])
  await assert.rejects(odoo.execute(PROVIDER, 'mapped', [provider], ['cambista_key'], 'accountant'))
})
