// What the API answers over a database of schema 3 that was brought up to date: what it answered before, text for text,
// but for rounded values, holes and half a day, which are told now (decisions 2.6).

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addDays, type IsoDate } from '../../src/dates.ts'
import { bccr } from '../../src/providers/bccr/bccr.ts'
import { fixedClock, startTestApp, type TestApp, temporaryDirectory } from '../support/app.ts'
import { createMemoryBank, daysFrom } from '../support/rates/memory-bank.ts'
import {
  FIRST,
  IDS,
  type OldAnswer,
  type OldSeries,
  oldRules,
  oldSeries,
  REVISIONS,
  runsOfOld,
  TODAY,
  writeSchema3,
  YESTERDAY,
} from '../support/schema-3.ts'
import { runCommand } from '../support/terminal.ts'

const NOON = `${TODAY}T12:00:00Z`
const LAST = '2999-12-31'
const USUAL = 3 // a series that has nothing of its own
/** Days long ago that both sides of the dollar have. */
const ISLAND = { from: '1990-02-01', to: '1990-02-28' }

/** Days that were covered, all those with something of their own among them, and days before and after all. */
const AS_BEFORE = [
  '1900-01-01',
  '1990-01-31',
  ...daysFrom(ISLAND.from, ISLAND.to),
  ...daysFrom(FIRST, '2024-03-05'),
  ...daysFrom('2025-07-01', '2025-08-10'),
  ...daysFrom('2025-12-20', addDays(TODAY, 10)),
  LAST,
]

async function openUpgraded(t: TestContext, series: readonly OldSeries[]): Promise<TestApp> {
  const dataDir = temporaryDirectory(t)
  writeSchema3(dataDir, series)
  return startTestApp(t, { dataDir, now: NOON, backfillFrom: FIRST })
}

async function textOf(app: TestApp, path: string): Promise<OldAnswer> {
  const response = await app.get(`/api/v1${path}`)
  return { status: response.status, text: withoutAdditions(await response.text()) }
}

/** An answer of today without what the program of then did not say: days in the future, and holes. */
function withoutAdditions(text: string): string {
  return text.replace(',"future":true', '').replace(/,"holes":\[[^\]]*\]/, '')
}

/** Not deepEqual of all of them at once: the text of a difference would be megabytes. */
async function checkEach(app: TestApp, questions: Iterable<[path: string, expected: OldAnswer]>) {
  let count = 0
  for (const [path, expected] of questions) {
    assert.deepEqual(await textOf(app, path), expected, path)
    count += 1
  }
  return count
}

/** Each series with all of its days in one interval, of exact values. */
function wholeSeries(): OldSeries[] {
  const series = oldSeries()
  const usual = series.find(({ id }) => id === USUAL)
  assert.ok(usual)
  return series.map((one) => {
    const { covered, values } = one.rateType === 'referencia' ? usual : { ...one, values: inside(one) }
    return { ...one, covered, values, enabled: true }
  })
}

function inside({ covered, values }: OldSeries): OldSeries['values'] {
  return new Map([...values].filter(([day]) => covered && day >= covered.from && day <= covered.to))
}

/** The series that are exact and whole, so that nothing of them is told otherwise now. */
const isPlain = ({ id }: OldSeries) => id !== IDS.eur && id !== IDS.jpy

test('of exact and covered days every answer is that of before, byte for byte', async (t) => {
  const series = oldSeries()
  const app = await openUpgraded(t, series)
  const old = oldRules(series)

  await t.test('/series and /sync/runs', async () => {
    await checkEach(app, [
      ['/series', old.series()],
      ['/sync/runs?limit=200', { status: 200, text: JSON.stringify(runsOfOld().toReversed()) }],
    ])
  })
  await t.test('the list of revisions', async () => {
    const { out } = await runCommand(['revision', 'list', '--data-dir', app.dataDir])
    const [, ...lines] = out.trim().split('\n')
    assert.equal(lines.length, REVISIONS.length)
    for (const [at, [, ...cells]] of REVISIONS.entries()) {
      assert.match(lines[at] ?? '', new RegExp(`^${cells.join(' .*')}`))
    }
  })
  await t.test('/rates/latest', async () => {
    const count = await checkEach(
      app,
      AS_BEFORE.map((on) => [`/rates/latest?on=${on}`, old.latest(on)]),
    )
    assert.ok(count > 200)
  })
  await t.test('/rates with exact=true, of which nothing is carried over', async () => {
    await checkEach(
      app,
      AS_BEFORE.filter((on) => on > '2026').map((on) => [`/rates?on=${on}&exact=true`, old.rates(on, true)]),
    )
  })
  await t.test('/rates', async () => {
    const whole = AS_BEFORE.filter((on) => on > '2026' && (on <= '2026-03-13' || on >= YESTERDAY))
    await checkEach(
      app,
      whole.map((on) => [`/rates?on=${on}`, old.rates(on)]),
    )
  })
  await t.test('/rates of a pair', async () => {
    for (const one of series.filter(isPlain)) {
      const alone = oldRules(series.filter(({ base, quote }) => base === one.base && quote === one.quote))
      const pair = `base=${one.base}&quote=${one.quote}`
      const days = [FIRST, '2024-02-29', '2025-08-03', '2026-01-17', '2026-03-22', '2026-03-24', LAST]
      await checkEach(
        app,
        days.map((on) => [`/rates?on=${on}&${pair}`, alone.rates(on)]),
      )
    }
  })
  await t.test('/convert', async () => {
    const ways: [path: string[], type: 'compra' | 'venta'][] = [
      [['USD', 'CRC'], 'venta'],
      [['CRC', 'USD'], 'compra'],
      [['GBP', 'USD', 'CRC'], 'venta'],
      [['CRC', 'USD', 'AUD'], 'compra'],
      [['CHF', 'USD', 'XDR'], 'venta'],
    ]
    const days = AS_BEFORE.filter((on, at) => at % 5 === 0 || on > '2026-03-10')
    for (const [path, type] of ways) {
      const query = `amount=15000.5&from=${path[0]}&to=${path.at(-1)}&type=${type}`
      await checkEach(
        app,
        days.map((on) => [`/convert?${query}&on=${on}`, old.convert('15000.5', path, type, on)]),
      )
    }
  })
  await t.test('history', async () => {
    const ranges = [
      ['1983-01-01', LAST],
      ['2025-06-28', '2025-08-05'],
      ['1990-02-27', '2024-01-02'],
    ] as const
    for (const { id } of series.filter(({ id }) => id !== IDS.eur)) {
      await checkEach(
        app,
        ranges.map(([from, to]) => [
          `/series/${id}/history?from=${from}&to=${to}`,
          old.history(id, from, to),
        ]),
      )
    }
  })
})

test('a value that is rounded says so now, and is otherwise as before', async (t) => {
  const series = oldSeries()
  const app = await openUpgraded(t, series)
  const old = oldRules(series)
  const marked = ({ status, text }: OldAnswer, pattern: RegExp) => ({
    status,
    text: text.replace(pattern, '$&,"rounded_to":4'),
  })
  const [range, on] = ['from=2025-12-29&to=2026-01-02', '2025-12-31']
  const euro = oldRules(series.filter(({ id }) => id === IDS.eur))
  await checkEach(app, [
    [
      `/series/${IDS.eur}/history?${range}`,
      marked(old.history(IDS.eur, '2025-12-29', '2026-01-02'), /"2025-[-\d]*","value":"[\d.]*"/g),
    ],
    [`/rates?on=${on}&base=EUR`, marked(euro.rates(on), /"value":"[\d.]*"/)],
    [
      `/convert?amount=1&from=EUR&to=CRC&on=${on}`,
      marked(old.convert('1', ['EUR', 'USD', 'CRC'], 'venta', on), /"via_pivot":true/),
    ],
    [`/rates?on=2026-01-02&base=EUR`, euro.rates('2026-01-02')],
  ])
})

test('the first sync after it reads the newest days, of which the bank has corrected nothing', async (t) => {
  const series = wholeSeries()
  const dataDir = temporaryDirectory(t)
  writeSchema3(dataDir, series)
  const clock = fixedClock(NOON)
  const memory = createMemoryBank(clock, { catalogue: bccr.catalogue })
  for (const { code, name, values } of series) {
    memory.listed.set(code, name)
    memory.publish[code] = (day) => values.get(day)?.value
  }
  const app = await startTestApp(t, { dataDir, clock, backfillFrom: FIRST, providers: [memory.provider] })
  const { run } = await app.sync()
  assert.deepEqual([run.status, run.message, run.inserted, run.updated], ['ok', null, 0, 0])
  const tomorrow = addDays(TODAY, 1)
  const window = { from: addDays(TODAY, -15), to: tomorrow }
  assert.deepEqual(
    memory.asked.map(({ again: _, ...ask }) => ask),
    [
      { table: '1', indicator: '317', window },
      { table: '1', indicator: '318', window },
      { table: '520', indicator: undefined, window: { ...window, from: addDays(YESTERDAY, -15) } },
    ],
  )
  const old = oldRules(series)
  for (const on of ['2024-01-01', '2026-03-22', TODAY, tomorrow, LAST]) {
    await checkEach(app, [
      [`/rates?on=${on}`, old.rates(on)],
      [`/rates/latest?on=${on}`, old.latest(on)],
    ])
  }
})

test('between an old interval and what lies outside of it is a hole now', async (t) => {
  const series = oldSeries()
  const app = await openUpgraded(t, series)
  const old = oldRules(series)
  const notSynchronized = (from: IsoDate, to: IsoDate): OldAnswer => ({
    status: 404,
    text: JSON.stringify({ detail: `the days from ${from} to ${to} have not been synchronized` }),
  })
  const dollarOf = (side: 'compra' | 'venta') => oldRules(series.filter(({ id }) => id === IDS[side]))

  // One side has three days more of the island than the other, and the days before the interval.
  const ventaAlone = (on: IsoDate): OldAnswer => {
    const { status, text } = old.latest(on)
    return { status, text: text.replace(/}$/, ',"missing":["compra"]}') }
  }
  await checkEach(app, [
    ['/rates/latest?on=1990-03-01', ventaAlone('1990-03-01')],
    ['/rates/latest?on=1990-03-03', ventaAlone('1990-03-03')],
    ['/rates/latest?on=1990-03-04', notSynchronized('1990-03-04', '1990-03-04')],
    ['/rates/latest?on=2010-05-05', notSynchronized('1990-03-04', '2010-05-05')],
    ['/rates/latest?on=2023-12-29', notSynchronized('1990-03-04', '2023-12-29')],
    ['/rates/latest?on=2023-12-30', ventaAlone('2023-12-30')],
    ['/rates/latest?on=2023-12-31', ventaAlone('2023-12-31')],
    ['/convert?amount=1&from=USD&to=CRC&on=2010-05-05', notSynchronized('1990-03-04', '2010-05-05')],
    [
      '/convert?amount=1&from=USD&to=CRC&type=compra&on=2010-05-05',
      notSynchronized('1990-03-01', '2010-05-05'),
    ],
    ['/convert?amount=1&from=JPY&to=CRC&on=2026-03-15', notSynchronized('2026-03-14', '2026-03-15')],
    ['/rates?on=1990-03-03&quote=CRC', dollarOf('venta').rates('1990-03-03')],
    ['/rates?on=1990-02-28&quote=CRC', old.rates('1990-02-28')],
    ['/rates?on=2010-05-05', { status: 200, text: '[]' }],
  ])

  // The yen has working days beyond its interval: each week of them is known, the days between are not.
  const yen = oldRules(series.filter(({ id }) => id === IDS.jpy))
  const empty = { status: 200, text: '[]' }
  await checkEach(
    app,
    daysFrom('2026-03-10', '2026-03-30').map((on) => [
      `/rates?on=${on}&quote=JPY`,
      ['2026-03-14', '2026-03-15', '2026-03-21', '2026-03-22'].includes(on) ? empty : yen.rates(on),
    ]),
  )
})

test('half a day that a sync of before left is not shown alone any more', async (t) => {
  const tomorrow = addDays(TODAY, 1)
  const series = oldSeries().map((one) =>
    one.id === IDS.compra
      ? {
          ...one,
          covered: { from: FIRST, to: tomorrow },
          values: new Map([...one.values, [tomorrow, { value: '499', roundedTo: null }]]),
        }
      : one,
  )
  const app = await openUpgraded(t, series)
  const old = oldRules(series)
  assert.match(old.latest(tomorrow).text, /"compra":"499","venta":null/)
  const today = old.latest(TODAY)
  await checkEach(app, [
    [`/rates/latest?on=${TODAY}`, today],
    [`/rates/latest?on=${tomorrow}`, today],
    [`/rates/latest?on=${LAST}`, today],
    [
      `/convert?amount=2&from=USD&to=CRC&type=compra&on=${LAST}`,
      old.convert('2', ['USD', 'CRC'], 'compra', LAST),
    ],
    [`/rates?on=${tomorrow}&quote=CRC`, oldRules(series.slice(0, 2)).rates(tomorrow)],
  ])
})
