// Runs over HTTP: the real provider and the fake bank, without pauses between attempts.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Bank, type BankFault, type BankOptions, startBank } from '../../../src/demo/bank.ts'
import { inventedValue } from '../../../src/demo/invented-rates.ts'
import { bccr, openBccrConnection } from '../../../src/providers/bccr/bccr.ts'
import { bccrCatalogue } from '../../../src/providers/bccr/catalogue.ts'
import { selectRevisions } from '../../../src/store/rates/change-log.ts'
import { type Desk, openDesk } from '../../support/rates/memory-bank.ts'
import { mockTimeouts } from '../providers/support.ts'

const TODAY = '2026-03-24'
const HTML = { status: 200, body: '<html>En mantenimiento</html>', headers: { 'Content-Type': 'text/html' } }

type WireOptions = Partial<BankOptions> & { ours?: string }

async function openWire(t: TestContext, options: WireOptions = {}) {
  const { ours = 'secret-of-ours', ...bankOptions } = options
  const desk = await openDesk(t, { catalogue: bccrCatalogue, backfillFrom: '2026-02-01' })
  const bank: Bank = await startBank({ token: 'secret-of-ours', today: desk.clock.today, ...bankOptions })
  t.after(() => bank.close())
  desk.bank.provider = {
    ...bccr,
    connect: (settings, signal) => openBccrConnection(settings, signal, { sleep: async () => {} }),
  }
  const settings = { url: bank.url, token: ours, paceMs: 0, userAgent: 'test' }
  desk.deps.settings = () => settings
  return { ...desk, wire: bank, settings }
}

async function keepsSecret({ db, logged, deps }: Desk, secret: string): Promise<void> {
  deps.log.flush()
  const rows = await db.selectFrom('sync_runs').selectAll().execute()
  assert.ok(!JSON.stringify(rows).includes(secret) && !logged.join('').includes(secret))
}

test('with the token everything is read exactly, and the second run changes nothing', async (t) => {
  const desk = await openWire(t)
  const run = await desk.sync()
  assert.deepEqual([run.status, run.message, run.current], ['ok', null, true])
  for (const [currency, code] of [
    ['EUR', '333'],
    ['JPY', '325'],
    ['CRC', '318'],
  ] as const) {
    assert.equal((await desk.stored(currency))['2026-03-20'], inventedValue(code, '2026-03-20'))
  }
  const again = await desk.sync()
  assert.deepEqual([again.status, again.inserted, again.updated], ['ok', 0, 0])
  await keepsSecret(desk, 'secret-of-ours')
})

test('a rejected token makes the run parcial, and the rates come from the site', async (t) => {
  const desk = await openWire(t, { ours: 'expired-secret' })
  const run = await desk.sync()
  assert.equal(run.status, 'parcial')
  assert.match(run.message ?? '', /token was refused \(HTTP 401\)/)
  assert.equal(run.current, true)
  assert.equal(Object.keys(await desk.stored('EUR'))[0], '2026-02-02')
  await keepsSecret(desk, 'expired-secret')
})

test('the site replaces no exact value that it agrees with, and the token makes rounded ones exact', async (t) => {
  const desk = await openWire(t, { value: (code) => (code === '325' ? '151.23456' : undefined) })
  await desk.sync()
  const { token } = desk.settings
  desk.settings.token = ''
  const site = await desk.sync()
  assert.equal(site.message, null)
  assert.deepEqual([site.status, site.updated], ['ok', 0])
  assert.equal((await desk.stored('JPY'))[TODAY], '151.23456')

  desk.clock.now = new Date('2026-03-26T12:00:00Z')
  await desk.sync()
  assert.equal((await desk.stored('JPY'))['2026-03-27'], '151.23')
  desk.settings.token = token
  await desk.sync()
  assert.equal((await desk.stored('JPY'))['2026-03-27'], '151.23456')
  const jpy = await selectRevisions(desk.db, { seriesId: await desk.idOf('JPY') })
  assert.deepEqual(
    jpy.map(({ rate_date, old_value, new_value }) => [rate_date, old_value, new_value]),
    [
      ['2026-03-26', '151.23', '151.23456'],
      ['2026-03-27', '151.23', '151.23456'],
    ],
  )
})

test('a bank that nobody answers for is an error in words', async (t) => {
  const desk = await openWire(t)
  await desk.wire.close()
  const run = await desk.sync()
  assert.deepEqual([run.status, run.current], ['error', false])
  assert.match(run.message ?? '', /^317: 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\); 318: .*; 520: /)
  assert.ok(run.finished_at)
  await keepsSecret(desk, 'secret-of-ours')
})

// fault of the bank for one request, expected message
const SICK: [string, BankFault, RegExp][] = [
  ['an error', { status: 500, body: 'secret-of-ours' }, /HTTP 500/],
  ['too many requests', { status: 429, body: '', headers: { 'Retry-After': '1' } }, /HTTP 429/],
  ['a page instead of data', HTML, /not JSON/],
  ['half an answer', 'cut', /cut short/],
  ['a closed door', 'reset', /cannot be reached/],
  ['silence', 'hang', /no complete answer in time/],
  ['a redirect', { status: 302, body: '', headers: { Location: 'https://elsewhere.example' } }, /redirect/],
  ['an answer that says it is none', { status: 200, body: '{"estado":false,"mensaje":"x"}' }, /estado/],
]
for (const [what, fault, words] of SICK) {
  for (const failing of ['318', '520']) {
    test(`${what} for ${failing} is parcial, names it, and the rest is stored`, async (t) => {
      const expire = mockTimeouts(t)
      const desk = await openWire(t)
      desk.wire.faults = ({ path }) => {
        if (!path.includes(`/${failing}/`)) return undefined
        if (fault === 'hang') expire()
        return fault
      }
      const run = await desk.sync()
      assert.equal(run.status, 'parcial')
      assert.match(run.message ?? '', new RegExp(`^${failing}: `))
      assert.match(run.message ?? '', words)
      assert.equal(Object.keys(await desk.stored('EUR')).length > 0, failing === '318')
      assert.equal(Object.keys(await desk.stored('CRC')).length > 0, failing === '520')
      await keepsSecret(desk, 'secret-of-ours')
      desk.wire.faults = undefined
      assert.equal((await desk.sync()).status, 'ok')
    })
  }
}
