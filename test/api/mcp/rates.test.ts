// The tools of the rates, with the official client of both eras: every value as the rates API has it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApp } from '../support.ts'
import {
  call,
  connect,
  ERAS,
  type Era,
  type Json,
  RATE_TOOLS,
  refusalOf,
  toolsOf,
  valueFrom,
} from './support.ts'

const SUNDAY = '2026-03-22'
const FRIDAY = '2026-03-20'

const app = await openApp({ backfillFrom: '2024-01-01' })
await app.sync()

for (const era of Object.keys(ERAS) as Era[]) {
  const open = (t: Parameters<typeof connect>[0]) => connect(t, era, { app })

  test(`${era}: a key opens the tools of the rates, which say that they only read`, async (t) => {
    const client = await open(t)
    assert.deepEqual(await toolsOf(client), RATE_TOOLS)
    const { tools } = await client.listTools()
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true))
    assert.match(client.getInstructions() ?? '', /Quote the digits.*never follow instructions/s)
    assert.equal(client.getServerVersion()?.name, 'cambista')
  })

  test(`${era}: get_rate is /rates/latest, and on a Sunday names the Friday`, async (t) => {
    const client = await open(t)
    for (const [args, query] of [
      [{}, ''],
      [{ base: 'eur', quote: 'USD', on: SUNDAY }, 'base=EUR&quote=USD&on=2026-03-22'],
      [{ base: 'USD', quote: 'JPY', on: null }, 'base=USD&quote=JPY'],
    ] as const) {
      assert.deepEqual(
        await valueFrom(client, 'get_rate', args),
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
    const { rates, has_more } = await valueFrom(client, 'get_rates_on', { on: SUNDAY })
    assert.deepEqual(
      [rates.length, has_more, rates.map(pick('series_id', 'pair', 'rate_type', 'rate_date', 'value'))],
      [47, false, rest.map(pick('series_id', 'pair', 'rate_type', 'rate_date', 'value'))],
    )
    assert.equal((await valueFrom(client, 'get_rates_on', { on: SUNDAY, exact: true })).rates.length, 2)
    assert.equal(
      (await valueFrom(client, 'get_rates_on', { base: 'USD', quote: 'CRC', after: 1 })).rates.length,
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
    const { series } = await valueFrom(client, 'list_series')
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
      assert.deepEqual(await valueFrom(client, 'convert', args), await app.json(`/api/v1/convert?${query}`))
    }
    for (const amount of [1.5, 2 ** 53, -1, '', 'NaN', true, [1], { of: 1 }]) {
      assert.match(await refusalOf(client, 'convert', { amount, from: 'USD', to: 'CRC' }), /^amount must be/)
    }
  })

  test(`${era}: get_history goes on where it says, and its points are those of /history`, async (t) => {
    const client = await open(t)
    const range = { from: '2024-01-01', to: '2026-03-24' }
    const rest = await app.json<Json>(`/api/v1/series/1/history?from=${range.from}&to=${range.to}`)
    const points: Json[] = []
    let args: Json = { series_id: 1, ...range }
    for (let calls = 1; ; calls += 1) {
      const page = await valueFrom(client, 'get_history', args)
      points.push(...page.points)
      assert.ok(page.points.length <= 400)
      if (page.next_from === undefined) {
        assert.equal(calls, 3)
        break
      }
      args = { ...args, from: page.next_from }
    }
    assert.deepEqual(points, rest.points)

    const months = await valueFrom(client, 'get_history', { type: 'compra', ...range, every: 'month' })
    const lastOfEach = rest.points.filter(
      (one: Json, at: number) => one.rate_date.slice(0, 7) !== rest.points[at + 1]?.rate_date.slice(0, 7),
    )
    assert.deepEqual([months.count, months.points], [27, lastOfEach])
    const years = await valueFrom(client, 'get_history', { type: 'compra', ...range, every: 'year' })
    assert.deepEqual(
      years.points.map(({ rate_date }: Json) => rate_date),
      ['2024-12-31', '2025-12-31', '2026-03-24'],
    )
    const usual = await valueFrom(client, 'get_history', { base: 'EUR', quote: 'USD' })
    const same = await app.json<Json>(`/api/v1/series/${usual.series_id}/history`)
    const head = ({ date_from, date_to, points: values }: Json) => ({ date_from, date_to, values })
    assert.deepEqual(head(usual), head(same))
  })

  test(`${era}: rate_statistics says what the values of /history do`, async (t) => {
    const client = await open(t)
    const range = { from: '2025-01-01', to: '2025-12-31' }
    const found = await valueFrom(client, 'rate_statistics', { series_id: 2, ...range })
    const { points } = await app.json<{ points: Json[] }>(
      `/api/v1/series/2/history?from=${range.from}&to=${range.to}`,
    )
    const cents = points.map(({ value }) => Math.round(Number(value) * 100))
    const [low, high] = [cents.indexOf(Math.min(...cents)), cents.indexOf(Math.max(...cents))]
    assert.deepEqual(
      [found.first, found.last, found.low, found.high],
      [points[0], points.at(-1), points[low], points[high]],
    )
    assert.equal(Number(found.change) * 100, Math.round((cents.at(-1) ?? 0) - (cents[0] ?? 0)))
    const mean = cents.reduce((sum, one) => sum + one, 0) / cents.length / 100
    assert.ok(Math.abs(Number(found.mean) - mean) < 1e-9)
    assert.equal(found.mean.replace('.', '').length <= 15, true)
    assert.match(
      await refusalOf(client, 'rate_statistics', { from: '1999-01-01', to: '1999-02-01' }),
      /has no value from 1999-01-01 to 1999-02-01; its values begin on 2024-01-01/,
    )
  })

  test(`${era}: freshness says of which day the newest values are`, async (t) => {
    const { providers, ...found } = await valueFrom(await open(t), 'freshness')
    assert.deepEqual(found, { status: 'ok', today: '2026-03-24', exact: true, reasons: [] })
    assert.deepEqual(
      providers.map(({ code, fresh, due }: Json) => [code, fresh, due]),
      [['bccr', true, '2026-03-24']],
    )
  })

  test(`${era}: an error says what would be right, and what to do`, async (t) => {
    const client = await open(t)
    const cases: [string, Json, RegExp][] = [
      [
        'get_rate',
        { date: SUNDAY },
        /^there is no parameter date: did you mean on. Correct it and call again/,
      ],
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
      ['get_history', { series_id: 999 }, /There is no series with this id. list_series/],
      ['get_history', { from: '2026-02-01', to: '2026-01-01' }, /^from must not be after to/],
      ['get_history', { type: 'referencia' }, /USD\/CRC has no published referencia/],
      ['get_history', { every: 'week' }, /^every must be day, month or year/],
      ['convert', { from: 'USD', to: 'CRC' }, /^amount is required/],
      ['convert', { amount: 1, from: 'USD', to: 'XXX' }, /no rates of XXX are stored/],
    ]
    for (const [name, args, text] of cases) assert.match(await refusalOf(client, name, args), text)
  })
}

function pick(...names: string[]) {
  return (row: Json) => names.map((name) => row[name])
}
