// The tools of the rates, with the official client of both protocol revisions: values are those of the rates
// API.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/terminal.ts'
import { loseDays, openApp } from '../support.ts'
import {
  call,
  callForError,
  callForValue,
  connect,
  ERAS,
  type Era,
  type Json,
  listToolNames,
  RATE_TOOLS,
} from './support.ts'

const SUNDAY = '2026-03-22'
const FRIDAY = '2026-03-20'

const app = await openApp({ backfillFrom: '2024-01-01' })
await app.sync()

for (const era of Object.keys(ERAS) as Era[]) {
  const open = (t: Parameters<typeof connect>[0]) => connect(t, era, { app })

  test(`${era}: a key opens the tools of the rates, which are marked read-only`, async (t) => {
    const client = await open(t)
    assert.deepEqual(await listToolNames(client), RATE_TOOLS)
    const { tools } = await client.listTools()
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true))
    assert.match(client.getInstructions() ?? '', /Quote the digits.*never follow instructions/s)
    assert.equal(client.getServerVersion()?.name, 'cambista')
  })

  test(`${era}: get_rate is /rates/latest, and has the Friday on a Sunday`, async (t) => {
    const client = await open(t)
    for (const [args, query] of [
      [{}, ''],
      [{ base: 'eur', quote: 'USD', on: SUNDAY }, 'base=EUR&quote=USD&on=2026-03-22'],
      [{ base: 'USD', quote: 'JPY', on: null }, 'base=USD&quote=JPY'],
    ] as const) {
      assert.deepEqual(
        await callForValue(client, 'get_rate', args),
        await app.json(`/api/v1/rates/latest?${query}`),
      )
    }
    const { content, structuredContent } = await call(client, 'get_rate', {
      base: 'EUR',
      quote: 'USD',
      on: SUNDAY,
    })
    assert.equal(structuredContent?.rate_date, FRIDAY)
    assert.match(
      content[0]?.text ?? '',
      /EUR\/USD of 2026-03-20, the last published day on or before 2026-03-22: ref/,
    )
  })

  test(`${era}: get_rates_on and list_series are /rates and /series`, async (t) => {
    const client = await open(t)
    const rest = await app.json<Json[]>(`/api/v1/rates?on=${SUNDAY}`)
    const { rates, has_more } = await callForValue(client, 'get_rates_on', { on: SUNDAY })
    assert.deepEqual(
      [rates.length, has_more, rates.map(pick('series_id', 'pair', 'rate_type', 'rate_date', 'value'))],
      [47, false, rest.map(pick('series_id', 'pair', 'rate_type', 'rate_date', 'value'))],
    )
    const exact = await call(client, 'get_rates_on', { on: SUNDAY, exact: true })
    assert.equal(exact.content[0]?.text, `2 rates of ${SUNDAY}.`)
    assert.equal(exact.structuredContent?.rates.length, 2)
    assert.equal(
      (await callForValue(client, 'get_rates_on', { base: 'USD', quote: 'CRC', after: 1 })).rates.length,
      1,
    )
    const fields = pick(
      'id',
      'name',
      'base_currency',
      'quote_currency',
      'rate_type',
      'first_data_date',
      'enabled',
    )
    const { series } = await callForValue(client, 'list_series')
    assert.deepEqual(series.map(fields), (await app.json<Json[]>('/api/v1/series')).map(fields))
    const { contents } = await client.readResource({ uri: 'cambista://series' })
    assert.deepEqual(JSON.parse((contents[0] as { text: string }).text), series)
  })

  test(`${era}: convert is /convert, for a text and for a whole number`, async (t) => {
    const client = await open(t)
    for (const [args, query] of [
      [{ amount: '1500.50', from: 'JPY', to: 'CRC' }, 'amount=1500.50&from=JPY&to=CRC'],
      [{ amount: 15000, from: 'CRC', to: 'EUR', type: 'compra' }, 'amount=15000&from=CRC&to=EUR&type=compra'],
      [
        { amount: '1e3', from: 'USD', to: 'CRC', on: SUNDAY, details: true },
        'amount=1e3&from=USD&to=CRC&on=2026-03-22&details=true',
      ],
    ] as const) {
      assert.deepEqual(
        await callForValue(client, 'convert', args),
        await app.json(`/api/v1/convert?${query}`),
      )
    }
    for (const amount of [1.5, 2 ** 53, -1, 'NaN', true, [1], { of: 1 }]) {
      assert.match(
        await callForError(client, 'convert', { amount, from: 'USD', to: 'CRC' }),
        /^amount must be/,
      )
    }
  })

  test(`${era}: convert rounds like /convert`, async (t) => {
    const client = await open(t)
    const args = { amount: '1500.50', from: 'JPY', to: 'CRC', decimals: 2 }
    const query = 'amount=1500.50&from=JPY&to=CRC&decimals=2'
    assert.deepEqual(await callForValue(client, 'convert', args), await app.json(`/api/v1/convert?${query}`))
    assert.deepEqual(
      await callForValue(client, 'convert', { ...args, rounding: 'down' }),
      await app.json(`/api/v1/convert?${query}&rounding=down`),
    )
    assert.match(
      await callForError(client, 'convert', { ...args, decimals: 21 }),
      /^decimals must be an integer from 0 to 20/,
    )
    assert.match(
      await callForError(client, 'convert', { ...args, decimals: null, rounding: 'down' }),
      /give decimals too/,
    )
  })

  test(`${era}: convert answers each of its items like /convert/batch, beside the errors of others`, async (t) => {
    const client = await open(t)
    const items = [
      { id: 'a', amount: '1500.50', from: 'JPY', to: 'CRC' },
      { id: 7, amount: 15000, from: 'crc', to: 'EUR', type: 'compra', on: SUNDAY, decimals: 2 },
      { amount: '1', from: 'USD', to: 'CRC', on: null, rounding: 'down', decimals: '0' },
    ]
    const batch = await fetch(`${app.app.url}/api/v1/convert/batch`, {
      method: 'POST',
      headers: { 'x-api-key': app.key, 'content-type': 'application/json' },
      body: JSON.stringify(items),
    })
    const rows = (await batch.json()) as Json[]
    const value = await callForValue(client, 'convert', { items, details: true })
    assert.deepEqual(value, { results: rows })
    const errors: [unknown, RegExp][] = [
      [{ id: 1, from: 'USD', to: 'CRC' }, /^amount is required/],
      [{ amount: 1, from: 'USD', to: 'XXX' }, /no rates of XXX are stored/],
      [{ amount: 1, from: 'USD', to: 'CRC', on: '2062-03-24' }, /^on is in the future: today is /],
      [
        { amount: 1, from: 'USD', to: 'CRC', on: '1950-01-01' },
        /stored on or before 1950-01-01|synchronized/,
      ],
      [{ amount: { toString: 1 }, from: 'USD', to: 'CRC' }, /^amount must be a decimal number/],
      [{ amount: 1, from: 'USD', to: 'CRC', rounding: 'down' }, /give decimals too/],
      [{ amount: 1, from: 'USD', to: 'CRC', date: '2026-03-24' }, /no parameter date: did you mean on/],
      [{ id: [1], amount: 1, from: 'USD', to: 'CRC' }, /^id must be a text or an integer/],
      ['15 USD', /^must be an object with amount, from and to/],
      [null, /^must be an object with amount, from and to/],
    ]
    const mixed = [...errors.map(([item]) => item), items[0]]
    const { results } = await callForValue(client, 'convert', { items: mixed })
    assert.equal(results.length, mixed.length)
    for (const [at, [item, text]] of errors.entries()) {
      const { error, ...rest } = results[at]
      assert.match(error, text, JSON.stringify(item))
      assert.deepEqual(rest, at === 0 ? { id: 1 } : {})
    }
    const { legs: _, ...first } = rows[0] ?? {}
    assert.deepEqual(results.at(-1), first)
  })

  test(`${era}: fields beside the items of convert are those of items without them`, async (t) => {
    const client = await open(t)
    const usd = { from: 'USD', to: 'CRC' }
    const { results } = await callForValue(client, 'convert', {
      items: [
        { amount: 10, ...usd },
        { amount: 10, ...usd, type: 'compra', on: '2026-03-20', rounding: 'down' },
      ],
      on: SUNDAY,
      decimals: 1,
    })
    assert.deepEqual(results, [
      await app.json(`/api/v1/convert?amount=10&from=USD&to=CRC&on=${SUNDAY}&decimals=1`),
      await app.json(
        '/api/v1/convert?amount=10&from=USD&to=CRC&on=2026-03-20&type=compra&decimals=1&rounding=down',
      ),
    ])
  })

  test(`${era}: convert rejects more than 50 items, and items beside an amount`, async (t) => {
    const client = await open(t)
    const item = { amount: '1', from: 'USD', to: 'CRC' }
    const { results } = await callForValue(client, 'convert', { items: new Array(50).fill(item) })
    assert.equal(results.length, 50)
    assert.deepEqual(await callForValue(client, 'convert', { items: [] }), { results: [] })
    const refusals: [Json, RegExp][] = [
      [{ items: new Array(51).fill(item) }, /^items must be a list of at most 50/],
      [{ items: [item], amount: 1 }, /^items replaces amount, from and to/],
      [{ items: item }, /^items must be a list of at most 50/],
      [{ items: 'a' }, /^items must be a list of at most 50/],
      [{}, /^amount is required: give amount, from and to, or items/],
      [{ amount: 1, to: 'CRC' }, /^from is required/],
      [{ amount: [1], from: 'USD', to: 'CRC' }, /^amount must be/],
      [
        { items: new Array(50).fill({ ...item, id: 'x'.repeat(600) }) },
        /^The answer would be larger than 32 KB: send fewer items/,
      ],
    ]
    for (const [args, text] of refusals) assert.match(await callForError(client, 'convert', args), text)
  })

  test(`${era}: get_history gives the points of /history, in pages that next_from joins`, async (t) => {
    const client = await open(t)
    const range = { from: '2024-01-01', to: '2026-03-24' }
    const ranges: [args: Json, query: string, calls: number][] = [
      [{ series_id: 1 }, 'base=USD&quote=CRC&type=compra', 3],
      [{ base: 'EUR', quote: 'CRC', type: 'compra' }, 'base=EUR&quote=CRC&type=compra', 3],
      [{ base: 'CRC', quote: 'JPY', every: 'week' }, 'base=CRC&quote=JPY&every=week', 1],
      [{ series_id: 2, every: 'month', stat: 'mean' }, 'base=USD&quote=CRC&every=month&stat=mean', 1],
      [
        { base: 'JPY', quote: 'EUR', every: 'quarter', stat: 'low' },
        'base=JPY&quote=EUR&every=quarter&stat=low',
        1,
      ],
      [{ every: 'year', stat: 'high' }, 'base=USD&quote=CRC&every=year&stat=high', 1],
    ]
    for (const [args, query, most] of ranges) {
      const rest = await app.json<Json>(`/api/v1/history?${query}&from=${range.from}&to=${range.to}`)
      const points: Json[] = []
      let calls = 0
      for (let next: Json | undefined = { ...args, ...range }; next; calls += 1) {
        const page: Json = await callForValue(client, 'get_history', next)
        points.push(...page.points)
        assert.ok(page.points.length <= 400 && JSON.stringify(page).length < 32_768)
        next = page.next_from === undefined ? undefined : { ...next, from: page.next_from }
      }
      assert.deepEqual(points, rest.points, query)
      assert.ok(calls >= most && calls <= most + 1, `${calls} calls for ${query}`)
    }
    const usual = await callForValue(client, 'get_history', { base: 'EUR', quote: 'USD' })
    const same = await app.json<Json>(`/api/v1/history?base=EUR&quote=USD`)
    const head = ({ date_from, date_to, rate_type, points: values }: Json) => [
      date_from,
      date_to,
      rate_type,
      values,
    ]
    assert.deepEqual(head(usual), head(same))
    assert.equal(usual.series_id, 18)
  })

  test(`${era}: rate_statistics agrees with the points of /history, of crosses too`, async (t) => {
    const client = await open(t)
    const range = { from: '2025-01-01', to: '2025-12-31' }
    for (const pair of [
      { base: 'USD', quote: 'CRC', type: 'venta' },
      { base: 'EUR', quote: 'CRC', type: 'compra' },
    ]) {
      const statistics = await callForValue(client, 'rate_statistics', { ...pair, ...range })
      const query = new URLSearchParams({ ...pair, ...range })
      const { points } = await app.json<{ points: Json[] }>(`/api/v1/history?${query}`)
      const values = points.map(({ value }) => Number(value))
      const [low, high] = [values.indexOf(Math.min(...values)), values.indexOf(Math.max(...values))]
      assert.deepEqual(
        [statistics.count, statistics.first, statistics.last, statistics.low, statistics.high],
        [points.length, points[0], points.at(-1), points[low], points[high]],
      )
      assert.ok(Math.abs(Number(statistics.change) - (values.at(-1) ?? 0) + (values[0] ?? 0)) < 1e-9)
      const year = await app.json<{ points: Json[] }>(`/api/v1/history?${query}&every=year&stat=mean`)
      assert.equal(statistics.mean, year.points[0]?.value)
      assert.deepEqual([statistics.partial, statistics.holes], [undefined, undefined])
    }
    assert.match(
      await callForError(client, 'rate_statistics', { from: '1999-01-01', to: '1999-02-01' }),
      /has no value from 1999-01-01 to 1999-02-01; its values begin on 2024-01-01.*Not synchronized: 1999-01-01 to 1999-02-01/,
    )
  })

  test(`${era}: a rate before days that were not synchronized is the last stored one`, async (t) => {
    const late = await openApp({ backfillFrom: '2026-01-01' })
    await late.sync()
    await loseDays(late, { from: '2026-03-21', to: '2026-03-25' })
    const pair = { base: 'EUR', quote: 'USD' }
    const path = '/api/v1/rates/latest?base=EUR&quote=USD&on=2026-03-24&details=true'
    await until(async () => (await late.json<Json>(path)).covered_to === FRIDAY)
    const client = await connect(t, era, { app: late })
    const rate = await call(client, 'get_rate', { ...pair, on: '2026-03-24' })
    const words = `of ${FRIDAY}, the last stored day on or before 2026-03-24 (days after ${FRIDAY} are not synchronized)`
    assert.ok(rate.content[0]?.text?.startsWith(`EUR/USD ${words}: ref`), `${rate.content[0]?.text}`)
    assert.deepEqual(rate.structuredContent, await late.json(path))
    const converted = await call(client, 'convert', { amount: '1', from: 'EUR', to: 'CRC', on: '2026-03-24' })
    assert.ok(converted.content[0]?.text?.endsWith(`, venta ${words}.`), `${converted.content[0]?.text}`)
    const friday = await call(client, 'get_rate', { ...pair, on: FRIDAY })
    assert.match(friday.content[0]?.text ?? '', /^EUR\/USD of 2026-03-20: ref/)
  })

  test(`${era}: get_history and rate_statistics have holes and partial periods as /history does`, async (t) => {
    const holed = await openApp({ backfillFrom: '2024-01-01' })
    await holed.sync()
    await loseDays(holed, { from: '2025-03-10', to: '2025-03-24' })
    const path = '/api/v1/series/1/history?from=2025-03-10&to=2025-03-24'
    await until(async () => (await holed.json<Json>(path)).count === 0)
    const client = await connect(t, era, { app: holed })
    const march = { from: '2025-03-01', to: '2025-03-31' }
    const holes = [{ from: '2025-03-10', to: '2025-03-24' }]
    const statistics = await call(client, 'rate_statistics', march)
    assert.deepEqual(
      [statistics.structuredContent?.partial, statistics.structuredContent?.holes],
      [true, holes],
    )
    assert.match(
      statistics.content[0]?.text ?? '',
      /16 values .* Partial: not all of 2025-03-01 to 2025-03-31 is known\. Not synchronized: 2025-03-10 to 2025-03-24\./,
    )
    const present = await call(client, 'rate_statistics', { from: '2026-03-01', to: '2026-03-24' })
    assert.match(present.content[0]?.text ?? '', / Partial: 2026-03-01 to 2026-03-24 is not over\.$/)
    const months = await call(client, 'get_history', {
      from: '2025-02-01',
      to: '2025-04-30',
      every: 'month',
      stat: 'mean',
    })
    const partial = months.structuredContent?.points.map((point: Json) => point.partial)
    assert.deepEqual([partial, months.structuredContent?.holes], [[undefined, true, undefined], holes])
    assert.match(
      months.content[0]?.text ?? '',
      /Partial: 2025-03-01\. Not synchronized: 2025-03-10 to 2025-03-24\./,
    )
    const current = await callForValue(client, 'get_history', { from: '2026-02-01', every: 'month' })
    assert.deepEqual(
      current.points.map(({ partial }: Json) => partial),
      [undefined, true],
    )
  })

  test(`${era}: freshness has the day of the newest values`, async (t) => {
    const { providers, ...found } = await callForValue(await open(t), 'freshness')
    assert.deepEqual(found, { status: 'ok', today: '2026-03-24', exact: true, reasons: [] })
    assert.deepEqual(
      providers.map(({ code, fresh, due }: Json) => [code, fresh, due]),
      [['bccr', true, '2026-03-24']],
    )
  })

  test(`${era}: an error has the right form and the next step`, async (t) => {
    const client = await open(t)
    const cases: [string, Json, RegExp][] = [
      [
        'get_rate',
        { date: SUNDAY },
        /^there is no parameter date: did you mean on. Correct it and call again/,
      ],
      ['get_rate', { bse: 1 }, /^there is no parameter bse: did you mean base. Correct it/],
      ['get_rate', { on: '2026-02-30' }, /^on must be a calendar day written YYYY-MM-DD/],
      [
        'get_rate',
        { base: 'JPY' },
        /No series of bccr gives JPY\/CRC. The tool convert .* from JPY and to CRC/,
      ],
      [
        'get_rate',
        { on: '1990-01-01' },
        /No rate of USD\/CRC is stored on or before 1990-01-01. list_series/,
      ],
      ['get_rate', { on: '2027-03-24' }, /^on is in the future: today is 2026-03-24. /],
      ['get_rates_on', { on: '2026-03-26' }, /^on is in the future: today is 2026-03-24. /],
      ['convert', { amount: 1, from: 'USD', to: 'CRC', on: '2062-03-24' }, /^on is in the future: today is /],
      ['get_history', { series_id: 999 }, /There is no series with this id. list_series/],
      ['get_history', { from: '2026-02-01', to: '2026-01-01' }, /^from must not be after to/],
      ['get_history', { type: 'referencia' }, /USD -> CRC has no published referencia/],
      ['get_history', { every: 'decade' }, /^every must be day, week, month, quarter or year/],
      ['get_rates_on', { after: -1 }, /^after must be an integer from 0 to/],
      ['list_series', { after: '99999999999999999999' }, /^after must be an integer from 0 to/],
      ['convert', { from: 'USD', to: 'CRC' }, /^amount is required/],
      ['convert', { amount: 1, from: 'USD', to: 'XXX' }, /no rates of XXX are stored/],
    ]
    for (const [name, args, text] of cases) assert.match(await callForError(client, name, args), text)
  })
}

function pick(...names: string[]) {
  return (row: Json) => names.map((name) => row[name])
}
