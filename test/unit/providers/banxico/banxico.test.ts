// Banco de México: contract suite over a captured answer, titles, missing values, and tokens.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { banxico } from '../../../../src/providers/banxico/banxico.ts'
import { readSieAnswer } from '../../../../src/providers/banxico/series.ts'
import { canonicalNumber } from '../../../../src/values/decimal.ts'
import { type Manner, startFaultySource } from '../../../contract/faulty-source.ts'
import { testProvider } from '../../../contract/provider.ts'

type Series = { idSerie: string; titulo: string; datos?: { fecha: string; dato: string }[] }

const FILE = join(import.meta.dirname, '../../../fixtures/banxico/sie-five-series-2026-03-01-15.json')
const captured = readFileSync(FILE, 'utf8')
const { series } = (JSON.parse(captured) as { bmx: { series: Series[] } }).bmx
const TOKEN = 'a'.repeat(64)
const ask = (from: string, to: string) => ({ table: 'banxico', indicator: undefined, window: { from, to } })
const WINDOW = ask('2026-03-01', '2026-03-15')
const isoDay = (text: string) => text.split('/').reverse().join('-')
const answer = (...all: Partial<Series>[]) => JSON.stringify({ bmx: { series: all } })
const refused = '{"error":{"url":"x","mensaje":"Token inválido.","detalle":"El token no es válido."}}'

testProvider('banxico', {
  provider: banxico,
  token: TOKEN,
  valid: {
    ask: WINDOW,
    body: captured,
    values: series.flatMap(({ idSerie, datos = [] }) =>
      datos.map(({ fecha, dato }): [string, string, string] => [
        idSerie,
        isoDay(fecha),
        canonicalNumber(dato) ?? '',
      ]),
    ),
  },
  empty: {
    ask: ask('2026-03-14', '2026-03-15'),
    body: answer(...series.map(({ idSerie, titulo }) => ({ idSerie, titulo }))),
  },
  rewrite: ({ value, day }) =>
    captured
      .replace(/(?<="dato":")[^"]+/g, value)
      .replace(/(?<="fecha":")[^"]+/g, (text) => day(isoDay(text)).split('-').reverse().join('/')),
  // A row is an id with a value.
  rewriteRows: (change) => {
    const all = series.flatMap(({ idSerie, datos = [] }) =>
      datos.map((one) => `${idSerie} ${JSON.stringify(one)}`),
    )
    const byId = Map.groupBy(change(all), (row) => row.slice(0, row.indexOf(' ')))
    return answer(
      ...series.map(({ idSerie, titulo }) => ({
        ...{ idSerie, titulo },
        datos: (byId.get(idSerie) ?? []).map((row) => JSON.parse(row.slice(row.indexOf(' ')))),
      })),
    )
  },
  mayLackRows: true,
  strangers: [
    captured.replaceAll('SF43718', 'SF60653'),
    captured.replace('SF43718', 'x').replace('SF46410', 'SF43718').replace('"x"', '"SF46410"'),
    answer(...series.map((one, at) => ({ ...one, idSerie: series[(at + 1) % 5]?.idSerie ?? '' }))),
  ],
  wrong: ['{"bmx":{}}', '{"bmx":{"series":{}}}', '[]', answer({ ...series[0], datos: ['x'] as never })],
})

async function open(t: TestContext, manner: Manner, token: string | null = TOKEN) {
  const source = await startFaultySource(t, manner)
  const settings = { url: source.url, token: token ?? undefined, paceMs: 0, userAgent: 'cambista/test' }
  const connection = banxico.connect(settings, new AbortController().signal, { sleep: async () => undefined })
  return { source, connection }
}

test('the captured answer has ten days of five series', () => {
  assert.deepEqual(
    series.map(({ idSerie, datos }) => `${idSerie} ${datos?.length}`),
    ['SF43718 10', 'SF46406 10', 'SF46410 10', 'SF60632 10', 'SF46407 10'],
  )
})

test('a window requests the five series with the token in a header', async (t) => {
  const { source, connection } = await open(t, { body: captured })
  await connection.read(WINDOW)
  assert.equal(
    source.seen[0]?.path,
    '/SieAPIRest/service/v1/series/SF43718,SF46410,SF46407,SF46406,SF60632/datos/2026-03-01/2026-03-15',
  )
  assert.equal(JSON.parse(source.seen[0]?.headers ?? '{}')['bmx-token'], TOKEN)
})

/** The captured series of these indexes, without values. */
const withoutRows = (indexes: number[]) => indexes.map((at) => ({ ...series[at], datos: [] }))

test('readSieAnswer refuses an answer without one of the series', async () => {
  for (const { idSerie } of series) {
    const rest = series.filter((one) => one.idSerie !== idSerie)
    await assert.rejects(readSieAnswer(answer(...rest), WINDOW.window), {
      message: `the answer has no ${idSerie}`,
    })
  }
})

test('N/E is no value, thousands commas are removed, and `datos` may be absent', async () => {
  const dollar = { ...series[0], datos: [{ fecha: '01/10/2026', dato: 'N/E' }] }
  const pound = { ...series[4], datos: [{ fecha: '02/10/2026', dato: '1,023.4500' }] }
  const { observations, listed } = await readSieAnswer(answer(dollar, pound, ...withoutRows([1, 2, 3])), {
    from: '2026-10-01',
    to: '2026-10-02',
  })
  assert.deepEqual(observations, [
    { code: 'SF46407', day: '2026-10-02', value: '1023.4500', roundedTo: undefined },
  ])
  assert.deepEqual(
    listed.map(({ code }) => code),
    ['SF43718', 'SF46407', 'SF46406', 'SF46410', 'SF60632'],
  )
})

test('a series with the title of another is not stored, not covered, and named', async (t) => {
  const swapped = { ...series[4], titulo: 'Respecto al peso mexicano Yen japonés' }
  const { connection } = await open(t, { body: answer(series[0] ?? {}, swapped, ...withoutRows([1, 2, 3])) })
  const { observations, listed, leftOut } = await connection.read(WINDOW)
  assert.deepEqual(
    [new Set(observations.map(({ code }) => code)), leftOut],
    [new Set(['SF43718']), ['SF46407']],
  )
  assert.deepEqual(
    listed.map(({ code }) => code),
    ['SF43718', 'SF46406', 'SF46410', 'SF60632'],
  )
  assert.deepEqual(connection.notices(), [
    {
      message: 'banxico: SF46407 is not esterlina but "Respecto al peso mexicano Yen japonés", not stored',
    },
  ])
})

test('without a token nothing is requested, and the message names where to make one', async (t) => {
  for (const token of [null, '', ' ', 'contraseña con espacios']) {
    const { source, connection } = await open(t, { body: captured }, token)
    await assert.rejects(
      connection.read(WINDOW),
      /banxico: .*token.*SieAPIRest\/service\/v1\/token .*--banxico-token-file/,
    )
    assert.equal(source.seen.length, 0)
  }
})

const refusals: [title: string, manner: Manner][] = [
  ['HTTP 401', { status: 401, body: '' }],
  ['HTTP 403', { status: 403, body: '' }],
  ['HTTP 400 with an error', { status: 400, body: refused }],
  ['HTTP 200 with an error', { body: refused }],
]
for (const [title, manner] of refusals) {
  test(`${title} refuses the token: no more requests in the run, and advice`, async (t) => {
    const { source, connection } = await open(t, manner)
    await assert.rejects(connection.read(WINDOW))
    source.manner = { body: captured }
    await assert.rejects(connection.read(WINDOW))
    assert.equal(source.seen.length, 1)
    const [notice, ...others] = connection.notices()
    assert.equal(others.length, 0)
    assert.deepEqual([notice?.token, notice?.isRefused], [true, true])
    assert.match(
      notice?.message ?? '',
      /^banxico: the token was refused: make one at https:\/\/www\.banxico\.org\.mx\//,
    )
  })
}

test('HTTP 400 without an error is no refusal of the token', async (t) => {
  const { source, connection } = await open(t, { status: 400, body: 'Bad Request' })
  await assert.rejects(connection.read(WINDOW), /banxico: HTTP 400: Bad Request$/)
  source.manner = { body: captured }
  assert.equal((await connection.read(WINDOW)).observations.length, 50)
  assert.deepEqual(connection.notices(), [])
})

test('the message of an error has its words', async (t) => {
  const { connection } = await open(t, { status: 400, body: refused })
  await assert.rejects(
    connection.read(WINDOW),
    /banxico: HTTP 400: Token inválido\.: El token no es válido\.$/,
  )
})
