// The TRM of Colombia: contract suite over a captured answer, ranges of days, and rows that are rejected.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FetchFailure } from '../../../../src/providers/provider.ts'
import { readRanges } from '../../../../src/providers/trm/ranges.ts'
import { trm } from '../../../../src/providers/trm/trm.ts'
import { startFaultySource } from '../../../contract/faulty-source.ts'
import { testProvider } from '../../../contract/provider.ts'

const captured = readFileSync(
  join(import.meta.dirname, '../../../fixtures/trm/trm-2026-03-16-24.json'),
  'utf8',
)
const LIMIT = { code: 'TRM', mostRows: 100, today: '2026-03-18' }
const ask = (from: string, to: string) => ({ table: 'TRM', indicator: 'TRM', window: { from, to } })

const range = (valor: string, from: string, to: string, unidad = 'COP') => ({
  ...{ valor, unidad },
  ...{ vigenciadesde: `${from}T00:00:00.000`, vigenciahasta: `${to}T00:00:00.000` },
})

testProvider('trm', {
  provider: trm,
  token: undefined,
  valid: {
    ask: ask('2026-03-16', '2026-03-24'),
    body: captured,
    values: [
      ['TRM', '2026-03-17', '3691.9'],
      ['TRM', '2026-03-18', '3689.97'],
      ['TRM', '2026-03-19', '3704.17'],
      ['TRM', '2026-03-20', '3692.48'],
      ['TRM', '2026-03-21', '3704.87'],
      ['TRM', '2026-03-22', '3704.87'],
      ['TRM', '2026-03-23', '3704.87'],
      ['TRM', '2026-03-24', '3704.87'],
    ],
  },
  empty: { ask: ask('1970-01-01', '1970-12-31'), body: '[]' },
  rewrite: ({ value, day }) =>
    captured.replace(/(?<="valor":")[^"]+/g, value).replace(/\d{4}-\d\d-\d\d(?=T)/g, day),
  rewriteRows: (change) =>
    `[${change((JSON.parse(captured) as unknown[]).map((row) => JSON.stringify(row))).join()}]`,
  strangers: [captured.replaceAll('"COP"', '"EUR"')],
  wrong: [
    '{"code":"query.soql.no-such-column","error":true,"message":"No such column: valr"}',
    '{}',
    '[[]]',
    JSON.stringify([range('1.02', '2026-03-17', '2026-03-17', 'EUR')]),
    JSON.stringify([range('3700', '2026-03-18', '2026-03-17')]),
    JSON.stringify([range('3700', '2026-03-03', '2026-03-18')]),
    '[{"valor":"3700","unidad":"COP","vigenciadesde":"2026-03-17","vigenciahasta":"2026-03-17T00:00:00.000"}]',
    '[{"valor":"3700","unidad":"COP","vigenciadesde":"2026-02-30T00:00:00.000","vigenciahasta":"2026-03-17T00:00:00.000"}]',
    '[{"valor":"3700","unidad":"COP","vigenciadesde":"2026-03-17T05:00:00.000","vigenciahasta":"2026-03-17T05:00:00.000"}]',
    '[{"valor":"3700","unidad":"COP"}]',
  ],
})

/** The captured rows that are valid on a day from the first to the last. */
function capturedRows(from: string, to: string): string {
  const rows = JSON.parse(captured) as ReturnType<typeof range>[]
  return JSON.stringify(
    rows.filter((one) => one.vigenciadesde.slice(0, 10) <= to && one.vigenciahasta >= from),
  )
}

async function open(t: TestContext, body: string, headers: Record<string, string> = {}) {
  const source = await startFaultySource(t, { body, headers })
  const settings = { url: `${source.url}/`, token: undefined, paceMs: 0, userAgent: 'cambista/test' }
  return {
    source,
    connection: trm.connect(settings, new AbortController().signal, { sleep: async () => undefined }),
  }
}

test('a window requests the rows that are valid on one of its days', async (t) => {
  const { source, connection } = await open(t, capturedRows('2026-03-22', '2026-03-23'))
  await connection.read(ask('2026-03-22', '2026-03-23'))
  const [seen] = source.seen
  const { pathname, searchParams } = new URL(seen?.path ?? '', source.url)
  assert.equal(pathname, '/resource/32sa-8pi3.json')
  assert.deepEqual(Object.fromEntries(searchParams), {
    $select: 'valor,unidad,vigenciadesde,vigenciahasta',
    $where: "vigenciadesde <= '2026-03-23T00:00:00.000' AND vigenciahasta >= '2026-03-22T00:00:00.000'",
    $order: 'vigenciadesde ASC',
    $limit: '50000',
  })
})

test('a range over an edge of the window has the days within it alone', async (t) => {
  const days = async (from: string, to: string) => {
    const { connection } = await open(t, capturedRows(from, to))
    return (await connection.read(ask(from, to))).observations.map(({ day, value }) => `${day} ${value}`)
  }
  assert.deepEqual(await days('2026-03-22', '2026-03-23'), ['2026-03-22 3704.87', '2026-03-23 3704.87'])
  assert.deepEqual(await days('2026-03-20', '2026-03-21'), ['2026-03-20 3692.48', '2026-03-21 3704.87'])
})

test('readRanges returns both values of overlapping ranges, which the sync rejects', async () => {
  const rows = [range('3700', '2026-03-17', '2026-03-18'), range('3701', '2026-03-18', '2026-03-18')]
  const observations = await readRanges(JSON.stringify(rows), { from: '2026-03-17', to: '2026-03-18' }, LIMIT)
  assert.deepEqual(
    observations.map(({ day, value }) => `${day} ${value}`),
    ['2026-03-17 3700', '2026-03-18 3700', '2026-03-18 3701'],
  )
})

test('readRanges leaves out a row without a value', async () => {
  const rows = [
    { ...range('', '2026-03-17', '2026-03-17'), valor: null },
    range('N/A', '2026-03-18', '2026-03-18'),
  ]
  assert.deepEqual(
    await readRanges(JSON.stringify(rows), { from: '2026-03-17', to: '2026-03-18' }, LIMIT),
    [],
  )
})

const faults: [title: string, body: string, message: RegExp][] = [
  [
    'an error object',
    '{"code":"too-many","error":true,"message":"slow down"}',
    /^the answer is an error: too-many: slow down$/,
  ],
  [
    'a unit',
    JSON.stringify([range('1', '2026-03-17', '2026-03-17', 'USD')]),
    /^"unidad" is not COP but "USD"$/,
  ],
  [
    'a long range',
    JSON.stringify([range('1', '2026-03-03', '2026-03-18')]),
    /^the range from 2026-03-03 to 2026-03-18/,
  ],
  [
    'a range before the window',
    JSON.stringify([range('1', '2026-03-15', '2026-03-16')]),
    /^days from 2026-03-17 were requested, a row is of 2026-03-16$/,
  ],
  [
    'a range after the window',
    JSON.stringify([range('1', '2026-03-18', '2026-03-19')]),
    /^days to 2026-03-17 were requested, a row is of 2026-03-18$/,
  ],
  [
    'a cut list',
    JSON.stringify([1, 2, 3].map(() => range('1', '2026-03-17', '2026-03-17'))),
    /has 3 rows, so it may be cut$/,
  ],
]
for (const [title, body, message] of faults) {
  test(`the failure of readRanges names ${title}`, async () => {
    await assert.rejects(
      readRanges(body, { from: '2026-03-17', to: '2026-03-17' }, { ...LIMIT, mostRows: 3 }),
      (error) => {
        assert.ok(error instanceof FetchFailure)
        assert.match(error.message, message)
        return true
      },
    )
  })
}

test('readRanges refuses ranges with a hole, and those that end before a begun day of the window', async () => {
  const window = { from: '2026-03-16', to: '2026-03-20' }
  const day = (date: string) => range('3700', date, date)
  const read = (rows: unknown[], today: string) =>
    readRanges(JSON.stringify(rows), window, { ...LIMIT, today })
  const [first, second, third] = [day('2026-03-17'), day('2026-03-18'), day('2026-03-19')]
  assert.equal((await read([third, first, second, second], '2026-03-19')).length, 4, 'in any order')
  await assert.rejects(read([first, third], '2026-03-19'), { message: 'no range has 2026-03-18' })
  await assert.rejects(read([first, second], '2026-03-19'), { message: 'no range has 2026-03-19' })
  await assert.rejects(read([first, second, third], '2026-04-01'), { message: 'no range has 2026-03-20' })
  assert.deepEqual(await read([], '2026-03-19'), [])
})

test('outdated data are a notice, once a run', async (t) => {
  const { connection } = await open(t, captured, { 'X-Soda2-Data-Out-Of-Date': 'true' })
  await connection.read(ask('2026-03-16', '2026-03-24'))
  await connection.read(ask('2026-03-16', '2026-03-24'))
  assert.deepEqual(
    connection.notices().map(({ message }) => message),
    ['TRM: the open data of Colombia are being updated (X-Soda2-Data-Out-Of-Date)'],
  )
  assert.deepEqual(connection.notices(), [])
})
