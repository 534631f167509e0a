// Answers as CSV and NDJSON, chosen by Accept or by the extension of the path (decisions#csv).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorDetail, openApp, validationItems } from '../support.ts'

const app = await openApp({ backfillFrom: '2026-01-01' })
await app.sync()
const CSV = 'text/csv; charset=utf-8'
const NDJSON = 'application/x-ndjson; charset=utf-8'

const PATHS: [path: string, query: string][] = [
  ['/api/v1/rates', '?on=2026-03-15'],
  ['/api/v1/series/2/history', '?from=2026-03-10'],
  ['/api/v1/convert', '?amount=1500.50&from=JPY&to=CRC&on=2026-03-15'],
  ['/api/v1/history', '?base=EUR&quote=CRC&from=2026-01-05&every=week&stat=mean'],
]

type Row = Record<string, unknown>

/** The rows of the JSON: the answer, its elements or its points. */
async function readRows(path: string): Promise<Row[]> {
  const body = await app.json<Row[] | { points: Row[] } | Row>(path)
  if (Array.isArray(body)) return body
  return 'points' in body ? (body.points as Row[]) : [body]
}

async function readText(path: string, type: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await app.get(path, headers)
  // Response.text() would remove a byte order mark.
  const text = Buffer.from(await response.arrayBuffer()).toString()
  assert.equal(response.status, 200, `${path}: ${text}`)
  assert.equal(response.headers.get('content-type'), type)
  assert.equal(response.headers.get('cache-control'), 'private, no-cache')
  return text
}

for (const [path, query] of PATHS) {
  test(`${path} as NDJSON has the rows of the JSON`, async () => {
    const text = await readText(`${path}.ndjson${query}`, NDJSON)
    assert.ok(text.endsWith('\n'))
    const lines = text.trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      await readRows(path + query),
    )
    assert.equal(await readText(path + query, NDJSON, { accept: 'application/x-ndjson' }), text)
  })

  test(`${path} as CSV has the rows of the JSON, under the names of its fields`, async () => {
    const text = await readText(`${path}.csv${query}`, CSV)
    const [head = '', ...lines] = text.trimEnd().split('\n')
    const names = head.split(',')
    const rows = await readRows(path + query)
    assert.equal(lines.length, rows.length)
    for (const [at, line] of lines.entries()) {
      const row = rows[at] ?? {}
      assert.deepEqual(
        line.split(','),
        names.map((name) => String(row[name] ?? '')),
      )
      assert.deepEqual(
        Object.keys(row).filter((name) => !names.includes(name)),
        [],
      )
    }
    assert.equal(await readText(path + query, CSV, { accept: 'text/csv, application/json' }), text)
  })

  test(`${path} in the dialect of Costa Rica has the same values`, async () => {
    const plain = await readText(`${path}.csv${query}`, CSV)
    const local = await readText(`${path}.csv${query}&dialect=es-CR`, CSV)
    assert.ok(local.startsWith('\ufeff') && local.endsWith('\r\n'))
    const unlocal = local
      .slice(1)
      .replaceAll('\r\n', '\n')
      .replaceAll(',', '.')
      .replaceAll(';', ',')
      .replaceAll(/\b(\d\d)\/(\d\d)\/(\d{4})\b/g, '$3-$2-$1')
    assert.equal(unlocal, plain)
    assert.notEqual(local, plain)
    assert.equal(await readText(`${path}.csv${query}&dialecto=ES-cr`, CSV), local)
    assert.equal(await readText(`${path}${query}&dialect=es-CR`, CSV, { accept: 'text/csv' }), local)
  })

  test(`${path} as a file is cached, compressed and rejected as its JSON is`, async () => {
    for (const end of ['.csv', '.ndjson']) {
      const response = await app.get(path + end + query)
      const etag = response.headers.get('etag') ?? ''
      assert.match(etag, /^"/)
      assert.equal((await app.get(path + end + query, { 'if-none-match': etag })).status, 304)
      assert.notEqual((await app.get(path + query)).headers.get('etag'), etag)
      assert.equal((await app.get(`${path}${end}${query}&datum=1`)).status, 422)
      assert.equal((await fetch(`${app.app.url}${path}${end}${query}`)).status, 401)
    }
  })
}

test('the extension of the path overrides Accept', async () => {
  const path = '/api/v1/rates.csv?base=USD'
  assert.equal(await readText(path, CSV, { accept: 'application/json' }), await readText(path, CSV))
})

test('a table without rows has its header', async () => {
  assert.equal(
    await readText('/api/v1/series/3/history.csv?from=2026-03-21&to=2026-03-22', CSV),
    'rate_date,value,rounded_to\n',
  )
  assert.equal(await readText('/api/v1/series/3/history.ndjson?from=2026-03-21&to=2026-03-22', NDJSON), '')
})

test('partial and rounded_to are empty without a value', async () => {
  const [, first, second] = (
    await readText('/api/v1/history.csv?base=USD&quote=CRC&from=2026-02-02&every=month', CSV)
  ).split('\n')
  assert.match(first ?? '', /^2026-02-01,2026-02-28,[\d.]+,true,$/)
  assert.match(second ?? '', /^2026-03-01,2026-03-24,[\d.]+,true,$/)
  const [, whole] = (
    await readText('/api/v1/history.csv?base=USD&quote=CRC&from=2026-02-01&every=month', CSV)
  ).split('\n')
  assert.match(whole ?? '', /^2026-02-01,2026-02-28,[\d.]+,,$/)
})

test('legs are JSON in a cell', async () => {
  const query = 'amount=1&from=JPY&to=CRC&on=2026-03-15&details=true'
  const text = await readText(`/api/v1/convert.csv?${query}`, CSV)
  const [head = '', line = ''] = text.split('\n')
  assert.ok(head.endsWith(',rounded_to,legs'))
  const [, legs = ''] = /,"(\[.*\])"$/.exec(line) ?? []
  const { legs: expected } = await app.json<{ legs: unknown }>(`/api/v1/convert?${query}`)
  assert.deepEqual(JSON.parse(legs.replaceAll('""', '"')), expected)
})

test('separator and decimal sign can be chosen, if they differ', async () => {
  const of = async (query: string) =>
    (await readText(`/api/v1/series/2/history.csv?from=2026-03-24&${query}`, CSV)).split('\n')
  const [, plain = ''] = await of('_=1')
  assert.deepEqual(await of('sep=;&decimal=,'), [
    'rate_date;value;rounded_to',
    plain.replaceAll(',', ';').replace('.', ','),
    '',
  ])
  assert.deepEqual(await of('sep=%09'), ['rate_date\tvalue\trounded_to', plain.replaceAll(',', '\t'), ''])
  const messages = async (query: string) =>
    (await validationItems(app, `/api/v1/series/2/history.csv?${query}`)).map(({ msg }) => msg)
  const sep = 'sep must be a comma, ; or a tab, and another sign than decimal'
  const both = 'sep and decimal are both a comma: send sep=; or decimal=.'
  for (const query of ['decimal=,', 'decimal=,&sep=,', 'dialect=es-CR&sep=,'])
    assert.deepEqual(await messages(query), [both], query)
  assert.deepEqual(await messages('dialect=de-DE&decimal=x&sep=|'), [
    'dialect must be es-CR',
    'decimal must be . or ,',
    sep,
  ])
})

test('forms without a dialect reject one, and answers that are no table have no extension', async () => {
  assert.equal((await app.get('/api/v1/rates.ndjson?dialect=es-CR')).status, 422)
  for (const path of ['/api/v1/rates/latest.csv', '/api/v1/series.csv', '/api/v1/rates.txt']) {
    await errorDetail(app, path, 404)
  }
  await errorDetail(app, '/api/v1/series/999/history.csv', 404)
})
