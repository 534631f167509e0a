// Messages of the Odoo module: currencies that fail alone, notified people, and the sentence of each failure. Odoo 16
// takes a text for HTML, so each message is checked in it too.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import { createSelfSigned } from '../../../src/cli/commands/certificates/certificate.ts'
import { loseDays } from '../../api/support.ts'
import { until } from '../../support/terminal.ts'
import { openForClients, TODAY } from '../support.ts'
import { cut, openFront, redirect } from './connectors.ts'
import { addProvider, type Message, type Odoo, startOdoo, VERSIONS, writeModule } from './odoo-server.ts'

const lasting = { after: (work: () => void) => after(work) } as TestContext
const module = await writeModule(lasting)
const HOUR = 3_600_000
const EURO = ['333'] // the bank's code of its series

const addDays = (days: number) => new Date(Date.parse(`${TODAY}T12:00:00Z`) + days * 24 * HOUR).toISOString()

async function notifications(odoo: Odoo): Promise<Message[]> {
  return (await odoo.messages()).filter(({ partner_ids }) => partner_ids.length > 0)
}

/** An app whose euro lacks these days. */
async function openWithoutEuro(days: { from: string; to: string }, probe: string) {
  const app = await openForClients({ backfillFrom: '2025-01-01' })
  await loseDays(app, days as Parameters<typeof loseDays>[1], EURO)
  await until(async () => {
    const path = `/api/v1/history?base=EUR&quote=CRC&from=${probe}&to=${probe}`
    return (await app.json<{ points: unknown[] }>(path)).points.length === 0
  })
  return app
}

test('a hole of the euro stops no other currency, and notifies the account managers, as its end does', async (t) => {
  const app = await openWithoutEuro({ from: '2026-03-23', to: '2026-03-23' }, '2026-03-23')
  const odoos = VERSIONS.map((version) => startOdoo(t, version, module))
  for (const odoo of odoos) {
    await odoo.send('clock', '2026-03-22T12:00:00Z')
    await addProvider(odoo, app.app.url, { currencies: ['USD', 'EUR'] })
    await odoo.send('run_until', '2026-03-22T14:00:00Z')
    assert.deepEqual(await notifications(odoo), [])
    await odoo.send('run_until', `${TODAY}T14:00:00Z`)
    const days = [await odoo.rates('USD'), await odoo.rates('EUR')].map((rates) => TODAY in rates)
    assert.deepEqual(days, [true, false])
    const [message, ...others] = await notifications(odoo)
    assert.deepEqual(others, [])
    assert.equal(
      message?.text,
      'EUR: el servidor no ha obtenido los días del 2026-03-23 al 2026-03-23. En su máquina, ejecute: ' +
        'cambista sync --from 2026-03-23 --to 2026-03-23',
    )
    assert.deepEqual(message?.partner_ids, ['accountant'])
  }
  await app.sync({ from: '2026-03-23', to: '2026-03-23' })
  for (const odoo of odoos) {
    await odoo.send('run_until', `${TODAY}T16:00:00Z`)
    const [, message, ...others] = await notifications(odoo)
    assert.deepEqual([message?.text, others], ['EUR: los tipos de cambio llegan de nuevo', []])
    assert.ok(TODAY in (await odoo.rates('EUR')))
  }
})

test('a hole of the euro in older days notifies them, and the history of the dollar goes on', async (t) => {
  const app = await openWithoutEuro({ from: '2025-06-02', to: '2025-06-06' }, '2025-06-03')
  const odoo = startOdoo(t, 17, module)
  await addProvider(odoo, app.app.url, { currencies: ['USD', 'EUR'] })
  await odoo.send('run_until', `${TODAY}T15:00:00Z`)
  const [provider] = await odoo.read<{ cambista_since: string }>(
    'res.currency.rate.provider',
    [],
    ['cambista_since'],
  )
  assert.equal(provider?.cambista_since, 'USD 2025-01-01, EUR 2025-06-07')
  assert.match((await notifications(odoo))[0]?.text ?? '', /^EUR: .* 2025-06-02 .* 2025-06-06/)
  // A run without time for older days has not seen the end of the failure.
  await odoo.send('limit', { SECONDS_BEFORE_OLDER_DAYS: -1 })
  await odoo.send('run_until', `${TODAY}T17:00:00Z`)
  await odoo.send('limit', { SECONDS_BEFORE_OLDER_DAYS: 10, SECONDS_OF_REQUESTS: -1 })
  await odoo.send('run_until', `${TODAY}T18:00:00Z`)
  await odoo.send('limit', { SECONDS_OF_REQUESTS: 30 })
  await odoo.send('run_until', `${TODAY}T19:00:00Z`)
  assert.equal((await notifications(odoo)).length, 1)
  await app.sync({ from: '2025-06-02', to: '2025-06-06' })
  await odoo.send('run_until', `${TODAY}T21:00:00Z`)
  assert.equal((await notifications(odoo))[1]?.text, 'EUR: los tipos de cambio llegan de nuevo')
})

test('a euro without new values notifies them after 7 days, then weekly; the dollar after 3', async (t) => {
  const app = await openWithoutEuro({ from: '2026-03-21', to: '2026-03-26' }, '2026-03-23')
  const odoo = startOdoo(t, 17, module)
  await addProvider(odoo, app.app.url, { currencies: ['USD', 'EUR'] })
  const jobs = await odoo.find('ir.cron', [['interval_type', '=', 'hours']])
  await odoo.execute('ir.cron', 'write', jobs, [{ interval_number: 6 }]) // fewer runs of the same days
  const texts = async (days: number) => {
    await odoo.send('run_until', addDays(days))
    return (await notifications(odoo)).map(({ text }) => text)
  }
  assert.deepEqual(await texts(3), []) // 27 March, the euro of the 20th
  const euro = 'EUR: su tipo de cambio más reciente es del 2026-03-20'
  assert.deepEqual(await texts(4.5), [euro])
  // The dollar's newest value is of 25 March.
  const dollar = 'USD: su tipo de cambio más reciente es del 2026-03-25'
  assert.deepEqual((await texts(5.5))[1]?.split('\n').sort(), [euro, dollar].sort())
  assert.equal((await texts(11.5)).length, 2)
  assert.equal((await texts(12)).length, 3)
})

test('the wizard writes the currencies that are whole, and shows the others', async (t) => {
  const app = await openWithoutEuro({ from: '2026-03-16', to: '2026-03-18' }, '2026-03-17')
  const odoo = startOdoo(t, 17, module)
  const provider = await addProvider(odoo, app.app.url, { currencies: ['USD', 'EUR'] })
  const action = await odoo.runWizard<{ tag: string; params: { message: string; type: string } }>(
    provider,
    '2026-03-10',
    TODAY,
  )
  assert.deepEqual([action.tag, action.params.type], ['display_notification', 'warning'])
  assert.match(
    action.params.message,
    /^EUR: the server has not fetched the days from 2026-03-16 to 2026-03-18/,
  )
  assert.deepEqual([TODAY in (await odoo.rates('USD')), await odoo.rates('EUR')], [true, {}])
})

/** Opens a port that nothing else uses. */
async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const page = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>'
const html = (status: number) => createServer((_, response) => void response.writeHead(status).end(page))
const json = (status: number, body: unknown) =>
  createServer((_, response) => void response.writeHead(status).end(JSON.stringify(body)))
const secure = () => {
  const now = Date.now()
  const { pem } = createSelfSigned(['127.0.0.1'], { from: new Date(now - HOUR), to: new Date(now + HOUR) })
  return createSecureServer(pem, (_, response) => void response.end('{}')) as unknown as Server
}
const hang = () => createServer(() => {})
const URL_TEXT = 'URL'

/** Servers, the scheme of the address, and the sentence. */
const failures: [name: string, server: () => Server, scheme: string, sentence: string][] = [
  ['a time-out', hang, 'http', `${URL_TEXT} does not answer in time`],
  ['http to https', secure, 'http', `${URL_TEXT} breaks off its answer. Does it speak https?`],
  ['an unknown certificate', secure, 'https', `this machine does not trust the certificate of ${URL_TEXT}`],
  [
    'https to http',
    () => html(200),
    'https',
    `${URL_TEXT} does not speak https: enter http, or the port of https`,
  ],
  ['a 502 of a proxy', () => html(502), 'http', `${URL_TEXT} answers 502, and not as cambista does`],
  ['a page', () => html(200), 'http', `${URL_TEXT} does not answer as cambista does: is the address right?`],
  [
    'other JSON',
    () => json(200, []),
    'http',
    `${URL_TEXT} does not answer as cambista does: is the address right?`,
  ],
  [
    'a point of another program',
    () => json(200, { points: [{ day: TODAY }] }),
    'http',
    `${URL_TEXT} does not answer as cambista does: is the address right?`,
  ],
  [
    'a value that is no number',
    () => json(200, { points: [{ date: TODAY, rate_date: TODAY, value: 'n/a' }] }),
    'http',
    `${URL_TEXT} does not answer as cambista does: is the address right?`,
  ],
  [
    'holes of another program',
    () => json(200, { points: [], holes: 3 }),
    'http',
    `${URL_TEXT} does not answer as cambista does: is the address right?`,
  ],
  ['a 404 of a proxy', () => html(404), 'http', `${URL_TEXT} answers 404, and not as cambista does`],
  [
    'a detail',
    () => json(503, { detail: 'busy <b>now</b>' }),
    'http',
    'the server rejects the request: busy bnow/b',
  ],
  ['a 422', () => json(422, { detail: [{}] }), 'http', `${URL_TEXT} answers 422, and not as cambista does`],
]
for (const [name, server, scheme, sentence] of failures) {
  test(`the failure of ${name} is a sentence, in the wizard and in Odoo 16's chatter`, async (t) => {
    const address = `${scheme}://127.0.0.1:${await listen(t, server())}`
    await assertSentence(t, address, sentence.replace(URL_TEXT, address))
  })
}

test('a slow server costs the later currencies of a run, and no worker', async (t) => {
  const slow = createServer((request, response) => {
    const day = new URL(request.url ?? '', 'http://localhost').searchParams.get('to')
    const points = [{ date: day, rate_date: day, value: '500' }]
    setTimeout(() => response.end(JSON.stringify({ points })), 700)
  })
  const odoo = startOdoo(t, 16, module)
  await odoo.send('limit', { SECONDS_OF_REQUESTS: 1 })
  const address = `http://127.0.0.1:${await listen(t, slow)}`
  await addProvider(odoo, address, { currencies: ['USD', 'EUR', 'CAD'] })
  await odoo.send('run_until', `${TODAY}T12:00:00Z`)
  assert.deepEqual([await odoo.rates('EUR'), await odoo.rates('CAD')], [{ [TODAY]: 0.002 }, {}])
  assert.match((await notifications(odoo))[0]?.text ?? '', /^CAD: http\S+ no responde a tiempo/)
})

test('the failures of a closed port, an unknown name, a redirect and a cut answer are sentences', async (t) => {
  const port = 'http://127.0.0.1:9'
  await assertSentence(
    t,
    port,
    `${port} refuses connections: the server does not run, or its port is another`,
  )
  const unknown = 'http://rates.invalid'
  await assertSentence(t, unknown, `the name in ${unknown} has no address`)
  const front = await openFront(t, await openForClients())
  front.answers = Array(3).fill(redirect)
  const elsewhere = `${front.url} leads to another address: enter that one, with https if it has it`
  await assertSentence(t, front.url, elsewhere)
  front.answers = Array(9).fill(cut)
  await assertSentence(t, front.url, `${front.url} breaks off its answer. Does it speak https?`)
})

/** Runs the wizard and the job against an address, and expects the sentence of both. */
async function assertSentence(t: TestContext, address: string, sentence: string): Promise<void> {
  const odoo = startOdoo(t, 16, module)
  await odoo.send('limit', { ATTEMPTS: 1, ...(sentence.endsWith('in time') && { TIMEOUT: 0.5 }) })
  const partner = await odoo.find('res.partner', [['name', '=', 'Costa SA']])
  await odoo.execute('res.partner', 'write', partner, [{ lang: 'en_US' }])
  const provider = await addProvider(odoo, address, { currencies: ['USD', 'EUR'] })
  const message = `USD, EUR: ${sentence}`
  await assert.rejects(odoo.runWizard(provider, TODAY, TODAY), { message })
  await odoo.send('run_until', `${TODAY}T12:00:00Z`)
  const [told] = await odoo.messages()
  assert.equal(told?.text, message)
  assert.match(told?.body ?? '', /^<p>[^<>]+<\/p>$/)
  assert.doesNotMatch(message, /[<>]|Errno|urlopen|Error|html|nginx/)
}
