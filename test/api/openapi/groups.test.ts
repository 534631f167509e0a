// Names, groups and paths of the description, and the description of the APIs in the shapes of other services.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { openShapes } from '../compat/support.ts'
import { send } from '../support.ts'
import type { Document, Operation } from './description.ts'

type Listed = Operation & { path: string }
type Described = Document & {
  info: { description: string }
  tags: { name: string; description: string }[]
  components: { headers: Record<string, unknown> }
}

const GROUPS = ['Rates', 'History', 'Documents', 'Agents', 'Server']
const TABLES = ['/api/v1/series/{series_id}/history', '/api/v1/rates', '/api/v1/convert', '/api/v1/history']

const app = await openShapes()
const document = await readDocument(app, '/openapi.json')
const compat = await readDocument(app, '/openapi-compat.json')
const ownOperations = listOperations(document)
const isCompat = ({ path }: { path: string }) => path.startsWith('/compat/')

test('a description is compressed, and has one tag for one text', async (t) => {
  const fetchDescription = (server: TestApp, headers: Record<string, string>) =>
    fetch(`${server.app.url}/openapi.json`, { headers: { 'accept-encoding': 'identity', ...headers } })
  const plain = await fetchDescription(app, {})
  const packed = await fetchDescription(app, { 'accept-encoding': 'gzip' })
  assert.equal(packed.headers.get('content-encoding'), 'gzip')
  assert.ok(Number(packed.headers.get('content-length')) < Number(plain.headers.get('content-length')) / 5)
  assert.equal(await packed.text(), await plain.text())
  const etag = packed.headers.get('etag') ?? ''
  assert.equal((await fetchDescription(app, { 'if-none-match': etag })).status, 304)
  const withoutShapes = await startTestApp(t)
  assert.equal((await fetchDescription(withoutShapes, { 'if-none-match': etag })).status, 200)
})

test('each operation of the reference has a name of its own, of at most five words', () => {
  const names = ownOperations.map(({ summary }) => summary)
  assert.deepEqual(
    names.filter((name) => name.split(' ').length > 5 || !/^[A-Z][^.:,;]+$/.test(name)),
    [],
  )
  assert.equal(new Set(names).size, names.length)
})

test('the reference has five groups, and each of its operations is in one of them', () => {
  assert.deepEqual(
    document.tags.map(({ name }) => name),
    GROUPS,
  )
  for (const { path, tags } of ownOperations)
    assert.ok(tags.length === 1 && GROUPS.includes(tags[0] ?? ''), path)
  for (const name of GROUPS)
    assert.ok(
      ownOperations.some(({ tags }) => tags[0] === name),
      name,
    )
})

test('the description has no path of another service, and of one form those of all documents alone', () => {
  const others = ownOperations.filter((one) => isCompat(one) || /\.(csv|ndjson)$/.test(one.path))
  assert.deepEqual(
    others.map(({ path }) => path),
    ['/api/v1/documents.csv', '/api/v1/documents.ndjson'],
  )
})

test('CSV and NDJSON are media types of the operation of a table', () => {
  const read = (path: string) => Object.keys(document.paths[path]?.get?.responses[200]?.content ?? {})
  for (const path of TABLES)
    assert.deepEqual(read(path), ['application/json', 'text/csv', 'application/x-ndjson'], path)
  assert.deepEqual(read('/api/v1/export'), ['text/csv', 'application/x-ndjson'])
})

test('/openapi-compat.json has the paths of other services alone', () => {
  assert.ok(listOperations(compat).length > 50)
  assert.ok(listOperations(compat).every(isCompat))
  assert.notEqual(compat.info.title, document.info.title)
  assert.notEqual(compat.info.description, document.info.description)
  assert.deepEqual(
    compat.tags.map(({ name }) => name),
    ['Compatibility'],
  )
})

test('/compat/valor describes each of its parameters', async () => {
  const { body } = await send(`${app.app.url}/compat/valor?zzzzzz=1`)
  const [, names = ''] = /: there are (.+) and key$/.exec(body) ?? []
  const { parameters = [] } = compat.paths['/compat/valor']?.get ?? {}
  const described = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  assert.deepEqual(described.toSorted(), names.split(', ').toSorted())
})

test('answers that may be rounded describe X-Rounded-To', () => {
  for (const path of [
    '/compat/valor',
    '/compat/frankfurter/v1/latest',
    '/compat/frankfurter/v2/rates',
    '/compat/currencylayer/timeframe',
    '/compat/bccr/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/{operation}',
    '/compat/ecb/stats/eurofxref/eurofxref-daily.xml',
  ])
    assert.ok(compat.paths[path]?.get?.responses[200]?.headers?.['X-Rounded-To'], path)
})

test('the two descriptions name each other', () => {
  assert.match(document.info.description, /`\/openapi-compat\.json`/)
  assert.match(compat.info.description, /`\/openapi\.json`/)
})

test('each component of a description has a reference', () => {
  for (const one of [document, compat]) {
    const text = JSON.stringify(one)
    for (const kind of ['schemas', 'headers'] as const) {
      for (const name of Object.keys(one.components[kind]))
        assert.ok(text.includes(`"#/components/${kind}/${name}"`), `${one.info.title}: ${name}`)
    }
  }
})

test('/openapi.json has no link of other services that a server does not answer for', async (t) => {
  const other = await startTestApp(t)
  const { info } = await readDocument(other, '/openapi.json')
  assert.doesNotMatch(info.description, /compat/)
  assert.deepEqual((await readDocument(other, '/openapi-compat.json')).paths, {})
})

async function readDocument({ app: { url } }: TestApp, path: string): Promise<Described> {
  const { status, body } = await send(url + path)
  assert.equal(status, 200, body)
  return JSON.parse(body)
}

function listOperations({ paths }: Described): Listed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, ...operation })),
  )
}
