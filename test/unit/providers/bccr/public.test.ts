import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readPublicAnswer, unsynchronizedDays } from '../../../../src/providers/bccr/public.ts'
import { FetchFailure, type Window } from '../../../../src/providers/provider.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../../../fixtures/bccr/${name}`, import.meta.url), 'utf8')

/** Reads an answer to a request for any days. */
const readAnswer = (body: string) => readPublicAnswer(body, {})

test('readPublicAnswer reads an indicator with the digits of the source', async () => {
  assert.deepEqual(await readAnswer(fixture('public-series-317.json')), {
    listed: [{ code: '317', name: 'Tipo cambio compra' }],
    observations: [
      { code: '317', day: '2026-09-17', value: '443.43', roundedTo: undefined },
      { code: '317', day: '2026-09-18', value: '443.2', roundedTo: undefined },
      { code: '317', day: '2026-09-19', value: '496.44000000', roundedTo: undefined },
    ],
  })
})

test('readPublicAnswer reads a table, and lists indicators without values', async () => {
  const answer = await readAnswer(fixture('public-table-520.json'))
  assert.deepEqual(
    answer.listed.map(({ code }) => code),
    ['333', '21766', '99001'],
  )
  assert.deepEqual(
    answer.observations.map(({ code, day, value }) => [code, day, value]),
    [
      ['333', '2026-09-17', '1.17530000'],
      ['333', '2026-09-18', '1.17460000'],
      ['21766', '2026-09-18', '26345.00000000'],
    ],
  )
})

test('readPublicAnswer reads a captured table with a Sunday', async () => {
  assert.deepEqual(await readAnswer(fixture('public-table-491.json')), {
    listed: [{ code: '318', name: 'Tipo cambio venta' }],
    observations: [{ code: '318', day: '2026-02-08', value: '496.44000000', roundedTo: undefined }],
  })
})

test('readPublicAnswer lists an indicator with null rows only', async () => {
  const row = '{"fecha":"2026-01-01","valorDatoPorPeriodo":null}'
  const body = wrapEntries(`{"codigoIndicador":"333","nombreIndicador":"Euro","series":[${row}]}`)
  assert.deepEqual(await readAnswer(body), {
    listed: [{ code: '333', name: 'Euro' }],
    observations: [],
  })
})

const WINDOW = { from: '2024-02-01', to: '2024-04-30' }
const unsynchronized: [title: string, status: number, message: string, days: Window | undefined][] = [
  [
    'some days',
    503,
    'Los días del 2024-02-20 al 2024-03-04 no se han sincronizado.',
    { from: '2024-02-20', to: '2024-03-04' },
  ],
  [
    'one day',
    503,
    'Los días del 2024-02-20 al 2024-02-20 no se han sincronizado.',
    { from: '2024-02-20', to: '2024-02-20' },
  ],
  [
    'days beyond the window',
    503,
    'Los días del 1983-01-01 al 2024-02-03 no se han sincronizado.',
    { from: '2024-02-01', to: '2024-02-03' },
  ],
  [
    'days outside of the window',
    503,
    'Los días del 1983-01-01 al 1983-02-03 no se han sincronizado.',
    undefined,
  ],
  ['days that do not exist', 503, 'Los días del 2024-02-30 al 2024-03-04 no se han sincronizado.', undefined],
  [
    'days in the wrong order',
    503,
    'Los días del 2024-03-04 al 2024-02-20 no se han sincronizado.',
    undefined,
  ],
  ['another status', 400, 'Los días del 2024-02-20 al 2024-03-04 no se han sincronizado.', undefined],
  ['another message', 503, 'Servicio en mantenimiento del 2024-02-20 al 2024-03-04.', undefined],
]
for (const [title, status, message, days] of unsynchronized) {
  test(`unsynchronizedDays reads ${title}`, () => {
    const body = JSON.stringify({ CodigoError: String(status), Mensaje: message })
    assert.deepEqual(unsynchronizedDays(status, body, WINDOW), days)
  })
}

test('readPublicAnswer accepts an answer without data', async () => {
  assert.deepEqual(await readAnswer(fixture('public-no-data.json')), { listed: [], observations: [] })
  const empty = wrapEntries('{"codigoIndicador":"317","nombreIndicador":"x","series":[]}')
  assert.deepEqual(await readAnswer(empty), { listed: [{ code: '317', name: 'x' }], observations: [] })
})

const rows: [title: string, row: string, observed: [day: string, value: string] | undefined][] = [
  [
    'digits beyond a float',
    '{"fecha":"2026-01-02","valorDatoPorPeriodo":0.12345678901234567890}',
    ['2026-01-02', '0.12345678901234567890'],
  ],
  [
    'an exponent, as written',
    '{"fecha":"2026-01-02","valorDatoPorPeriodo":1.5E-05}',
    ['2026-01-02', '1.5E-05'],
  ],
  ['a quoted number', '{"fecha":"2026-01-02","valorDatoPorPeriodo":" 496.44 "}', ['2026-01-02', '496.44']],
  ['a null value', '{"fecha":"2026-01-02","valorDatoPorPeriodo":null}', undefined],
  ['an absent value', '{"fecha":"2026-01-02"}', undefined],
  [
    'a time after the day',
    '{"fecha":"2026-01-02T00:00:00-06:00","valorDatoPorPeriodo":1}',
    ['2026-01-02', '1'],
  ],
  [
    'a value that is no number, for others to reject',
    '{"fecha":"2026-01-02","valorDatoPorPeriodo":"n.d."}',
    ['2026-01-02', 'n.d.'],
  ],
  [
    'keys of a prototype',
    '{"__proto__":{"fecha":"x"},"fecha":"2026-01-02","valorDatoPorPeriodo":1}',
    ['2026-01-02', '1'],
  ],
]
for (const [title, row, observed] of rows) {
  test(`readPublicAnswer reads a row with ${title}`, async () => {
    const { observations } = await readAnswer(wrapEntries(`{"codigoIndicador":"317","series":[${row}]}`))
    assert.deepEqual(
      observations.map(({ day, value }) => [day, value]),
      observed ? [observed] : [],
    )
  })
}

test('readPublicAnswer reads codes that are texts or numbers', async () => {
  const answer = await readAnswer(
    wrapEntries('{"codigoIndicador":318,"series":[{"fecha":"2026-01-02","valorDatoPorPeriodo":2}]}'),
  )
  assert.equal(answer.observations[0]?.code, '318')
})

test('readPublicAnswer lists a repeated indicator once', async () => {
  const twice =
    '{"codigoIndicador":"317","nombreIndicador":"a"},{"codigoIndicador":"317","nombreIndicador":"b"}'
  assert.deepEqual((await readAnswer(wrapEntries(twice))).listed, [{ code: '317', name: 'a' }])
})

test('readPublicAnswer skips a heading, without code and rows', async () => {
  assert.deepEqual((await readAnswer(wrapEntries('{"nombreIndicador":"Europa","series":null}'))).listed, [])
})

const failures: [title: string, body: string, message: RegExp][] = [
  ['a page in HTML', '<html>Mantenimiento</html>', /not JSON/],
  ['an empty body', '', /not JSON/],
  ['a body that nests too deep', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, /nests too deep/],
  ['a number', '1', /neither "estado" nor "datos"/],
  ['a list', '[]', /neither "estado" nor "datos"/],
  ['another object', '{"mensaje":"x"}', /neither "estado" nor "datos"/],
  ['an object whose prototype says datos', '{"__proto__":{"datos":[]}}', /neither "estado" nor "datos"/],
  ['a false estado', '{"estado":false,"mensaje":"x","datos":[]}', /estado/],
  ['no datos', '{"estado":true,"mensaje":"x"}', /"datos" is not a list/],
  ['datos that is null', '{"estado":true,"datos":null}', /"datos" is not a list/],
  ['datos that is an object', '{"estado":true,"datos":{}}', /"datos" is not a list/],
  ['an indicator that is none', wrapEntries('7'), /not an indicator/],
  ['series that is no list', wrapEntries('{"codigoIndicador":"317","series":{}}'), /"series" is not a list/],
  ['a row that is none', wrapEntries('{"codigoIndicador":"317","series":[7]}'), /not a row/],
  ['an odd day', wrapRow('{"fecha":"02/01/2026","valorDatoPorPeriodo":1}'), /has no day, but "02\/01\/2026"/],
  ['an absent day', wrapRow('{"valorDatoPorPeriodo":1}'), /has no day, but ""/],
  ['an absent day without a value', wrapRow('{"valorDatoPorPeriodo":null}'), /has no day, but ""/],
  [
    'a day only in a prototype',
    wrapRow('{"__proto__":{"fecha":"2026-01-02"},"valorDatoPorPeriodo":1}'),
    /no day/,
  ],
  ['a nested value', wrapRow('{"fecha":"2026-01-02","valorDatoPorPeriodo":{"a":1}}'), /not a decimal/],
  [
    'values of nobody',
    wrapEntries('{"series":[{"fecha":"2026-01-02","valorDatoPorPeriodo":1}]}'),
    /codigoIndicador/,
  ],
]
for (const [title, body, message] of failures) {
  test(`readPublicAnswer rejects ${title}`, async () => {
    await assert.rejects(
      () => readAnswer(body),
      (error) => error instanceof FetchFailure && message.test(error.message),
    )
  })
}

test('readPublicAnswer leaves rows later than tomorrow to the sync, and refuses other days', async () => {
  const body = wrapRow('{"fecha":"2026-01-05","valorDatoPorPeriodo":1}')
  const days = { from: '2026-01-01', to: '2026-01-03' }
  const { observations } = await readPublicAnswer(body, { ...days, tomorrow: '2026-01-04' })
  assert.equal(observations.length, 1)
  const message = 'days to 2026-01-03 were requested, a row is of 2026-01-05'
  for (const tomorrow of ['2026-01-05', undefined])
    await assert.rejects(readPublicAnswer(body, { ...days, tomorrow }), { message })
  await assert.rejects(readPublicAnswer(body, { from: '2026-01-06', to: '2026-01-07' }), {
    message: 'days from 2026-01-06 were requested, a row is of 2026-01-05',
  })
})

function wrapRow(row: string): string {
  return wrapEntries(`{"codigoIndicador":"317","series":[${row}]}`)
}

function wrapEntries(entries: string): string {
  return `{"estado":true,"mensaje":"Consulta exitosa","datos":[${entries}]}`
}
