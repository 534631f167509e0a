// Batches of conversions beside single requests over keep-alive connections, of the same currencies and days. Also the
// longest wait of a probe beside the batches.

import { addDays } from '../../../src/values/dates.ts'
import { type Figure, median } from '../figure.ts'
import { answersPerSecond, startProgram } from '../process.ts'

const ELEMENTS = 10_000
const ROUNDS = 7
const WARM = 10
const CLIENTS = 2 // the server works for one while the other reads its answer, as for the 32 of single requests
const BATCHES = 3 // per client and round
const CURRENCIES = ['USD', 'EUR', 'JPY', 'GBP', 'MXN', 'CHF', 'CAD']

/** `dataDir` has the history since 1983. */
export async function measureBatch(dataDir: string, key: string): Promise<Figure[]> {
  const server = await startProgram(dataDir)
  const origin = `http://127.0.0.1:${server.port}`
  const headers = { 'X-API-Key': key }
  const [ofAYear, ofDecades] = [batchBody(365), batchBody(15_000)]
  const batch = async (body = ofAYear) => {
    const answer = await fetch(`${origin}/api/v1/convert/batch`, { method: 'POST', headers, body })
    const size = (await answer.arrayBuffer()).byteLength // not parsed: the client has a thread of the machine, too
    if (!answer.ok || size < ELEMENTS * 100) throw new Error(`batch: ${answer.status}, ${size} bytes`)
  }
  const perSecond = async (body: string) => {
    const began = performance.now()
    const clients = Array.from({ length: CLIENTS }, async () => {
      for (let at = 0; at < BATCHES; at += 1) await batch(body)
    })
    await Promise.all(clients)
    return (CLIENTS * BATCHES * ELEMENTS * 1000) / (performance.now() - began)
  }
  const paths = CURRENCIES.map(
    (from) => `/api/v1/convert?amount={n}.25&from=${from}&to=CRC&on={day}&details=true`,
  )
  const order = { port: server.port, headers, paths }
  for (let at = 0; at < WARM; at += 1) await batch() // reads the columns, and is compiled
  await answersPerSecond({ ...order, ms: 500 })
  const times = {
    batch: [] as number[],
    decades: [] as number[],
    single: [] as number[],
    probe: [] as number[],
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    times.single.push(await answersPerSecond(order))
    times.batch.push(await perSecond(ofAYear))
    times.decades.push(await perSecond(ofDecades))
  }
  let areBatchesDone = false
  const batches = Promise.all([batch(), batch(), batch()]).then(() => {
    areBatchesDone = true
  })
  while (!areBatchesDone) {
    const began = performance.now()
    await (await fetch(`${origin}/healthz`)).arrayBuffer()
    times.probe.push(performance.now() - began)
  }
  await batches
  await server.stop()
  const [ours, single, slowest] = [median(times.batch), median(times.single), Math.max(...times.probe)]
  const decades = median(times.decades)
  const conversions = `${ours.toFixed(0)}/s`
  return [
    {
      work: "conversions in batches of 10,000 by two clients, a year's days (limit: 60,000/s)",
      ...{ ours: conversions, limit: '60000/s', measured: ours / 60_000, unit: '', must: { atLeast: 1 } },
    },
    {
      work: 'the same (limit: single requests)',
      ...{ ours: conversions, limit: `${single.toFixed(0)}/s`, measured: ours / single },
      ...{ unit: ' times', must: { atLeast: 5 } },
    },
    {
      work: 'the same, each on a day of its own in 40 years (limit: single requests)',
      ...{ ours: `${decades.toFixed(0)}/s`, limit: `${single.toFixed(0)}/s`, measured: decades / single },
      unit: ' times',
    },
    {
      work: 'slowest /healthz beside three batches (limit: 100 ms)',
      ...{
        ours: `${slowest.toFixed(1)} ms`,
        limit: '100 ms',
        measured: slowest / 100,
        unit: '',
        must: { atMost: 1 },
      },
    },
  ]
}

/** Returns the body of a batch: as many days, in all currencies. */
function batchBody(days: number): string {
  const elements = Array.from({ length: ELEMENTS }, (_, at) => ({
    id: at,
    amount: `${(at * 7919) % 100_000}.25`,
    from: CURRENCIES[at % CURRENCIES.length],
    to: 'CRC',
    on: addDays('1984-01-01', (at * 7919) % days),
  }))
  return JSON.stringify(elements)
}
