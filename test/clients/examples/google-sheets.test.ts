// The Google Sheets example, run in Node with fakes of the services of Apps Script.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { KEY, openForClients, runProgram, TODAY, worth } from '../support.ts'
import { openFront, testConnector, writeExample } from './connectors.ts'

const PROGRAM = new URL('../programs/apps-script.mjs', import.meta.url).pathname
const lasting = { after: (work: () => void) => after(work) } as TestContext
const app = await openForClients()
const file = await writeExample(lasting, 'google-sheets')

await testConnector('google-sheets', (file) => [process.execPath, PROGRAM, file])

/** Evaluates calls of the functions of a cell. */
async function evaluate(t: TestContext, script: string) {
  const front = await openFront(t, app)
  const env = { CAMBISTA_URL: front.url, CAMBISTA_KEY: KEY, CAMBISTA_SCRIPT: script }
  const { value, lifetimes } = await runProgram<{ value: unknown; lifetimes: number[] }>(
    'apps-script.mjs',
    [file],
    env,
  )
  return { value, lifetimes, requests: front.requests.length }
}

test('the functions of a cell return a number, the digits as a text, an amount and a day', async (t) => {
  const venta = await worth(app, 'USD', 'CRC')
  const compra = await worth(app, 'USD', 'CRC', 'compra')
  const { value } = await evaluate(
    t,
    `[CAMBISTA('USD', 'CRC', '${TODAY}'), CAMBISTA('USD', 'CRC', new Date('${TODAY}T06:00:00Z'), 'compra', 'text'),
      CAMBISTA_CONVERT(0.1, 'USD', 'CRC'), CAMBISTA_DAY('EUR', 'CRC', '2026-03-22')]`,
  )
  const query = new URLSearchParams({ amount: '0.1', from: 'USD', to: 'CRC', on: TODAY, decimals: '2' })
  const { result } = await app.json<{ result: string }>(`/api/v1/convert?${query}`)
  assert.deepEqual(value, [venta, String(compra), Number(result), '2026-03-20'])
})

test('a repeated cell makes one request, and a past day is cached for longer than today', async (t) => {
  const script = `['${TODAY}', '${TODAY}', '2026-03-20', '2026-03-20'].map((day) => CAMBISTA('USD', 'CRC', day)).length`
  assert.deepEqual(await evaluate(t, script), { value: 4, lifetimes: [300, 21600], requests: 2 })
})
