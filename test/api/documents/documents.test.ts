import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, post, read, TOKENS, tokenName } from '../../support/directory.ts'

const NAME = '../../etc/Factura N.º 7 "é" 日本.pdf'
const bytes = Buffer.from(Array.from({ length: 1000 }, (_, at) => at % 256))
const sha256 = createHash('sha256').update(bytes).digest('hex')

let app: TestApp
let id = 0
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
  const document = { name: NAME, mimetype: 'text/html', base64: bytes.toString('base64') }
  const response = await post(app, CREATE, batch(document, document, document))
  id = ((await response.json()) as { created_documents: { id: number }[] }).created_documents[0]?.id ?? 0
  await post(app, CREATE, { ...batch(document), company_id: 2, agent_id: 3, owner_id: 2 })
})

type List = { documents: { id: number; company_id: number }[]; next_after: number; has_more: boolean }
const list = async (query: string) => (await (await read(app, `/api/v1/documents${query}`)).json()) as List

test('a row has all fields of a document', async () => {
  const response = await read(app, `/api/v1/documents/${id}`)
  assert.deepEqual(await response.json(), {
    id,
    name: NAME,
    mimetype: 'text/html',
    size: 1000,
    sha256,
    created_at: '2026-03-24T12:00:00.000Z',
    attachment_id: 1,
    agent_id: 1,
    owner_id: 1,
    company_id: 1,
    created_by: tokenName(TOKENS.all),
    state: 'new',
    attempts: 0,
    finished_at: null,
    note: null,
  })
})

test('the list continues after the last id, and marks its end', async () => {
  const first = await list('?limit=3')
  assert.deepEqual([first.documents.length, first.next_after], [3, first.documents[2]?.id])
  assert.equal(first.has_more, true)
  const second = await list(`?limit=3&after=${first.next_after}`)
  assert.deepEqual([second.documents.length, second.next_after], [1, second.documents[0]?.id])
  assert.equal(second.has_more, false)
  assert.equal((await list('?limit=4')).has_more, false)
})

test('the list is filtered by company and agent', async () => {
  assert.deepEqual(
    (await list('?company_id=2')).documents.map(({ company_id }) => company_id),
    [2],
  )
  assert.equal((await list('?agent_id=1')).documents.length, 3)
  assert.deepEqual((await list('?agent_id=3&company_id=1')).documents, [])
})

for (const query of [
  'limit=0',
  'limit=201',
  'limit=x',
  'after=',
  'company_id=a',
  'agent_id=1.5',
  'limit=%zz',
]) {
  test(`?${query} is a 422 in the format of this API`, async () => {
    const response = await read(app, `/api/v1/documents?${query}`)
    assert.equal(response.status, 422)
    const { status, message } = (await response.json()) as Record<string, string>
    assert.equal(status, 'error')
    assert.match(message ?? '', new RegExp(query.split('=')[0] ?? ''))
  })
}

test('the blob is returned to the last byte, as an attachment with its name', async () => {
  const response = await read(app, `/api/v1/documents/${id}/content`)
  assert.equal(response.status, 200)
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes)
  const { headers } = response
  assert.equal(headers.get('content-type'), 'text/html')
  assert.equal(headers.get('content-length'), '1000')
  assert.equal(headers.get('etag'), `"${sha256}"`)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  const disposition = headers.get('content-disposition') ?? ''
  assert.match(disposition, /^attachment; filename="/)
  const encoded = /filename\*=UTF-8''(\S+)/.exec(disposition)?.[1] ?? ''
  assert.equal(decodeURIComponent(encoded), '___.._etc_Factura N.º 7 "é" 日本.pdf')
})

test('HEAD has the headers of the blob and no body', async () => {
  const url = `${app.app.url}/api/v1/documents/${id}/content`
  const response = await fetch(url, { method: 'HEAD', headers: { authorization: `Bearer ${TOKENS.read}` } })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-length'), '1000')
  assert.equal((await response.arrayBuffer()).byteLength, 0)
})

test('HEAD ignores ranges', async () => {
  const url = `${app.app.url}/api/v1/documents/${id}/content`
  const headers = { authorization: `Bearer ${TOKENS.read}` }
  for (const range of ['bytes=0-9', 'bytes=5000-']) {
    const response = await fetch(url, { method: 'HEAD', headers: { ...headers, range } })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-range'), null)
    assert.equal(response.headers.get('content-length'), '1000')
  }
})

const ranges: [string, number, string | null, Buffer][] = [
  ['bytes=0-9', 206, 'bytes 0-9/1000', bytes.subarray(0, 10)],
  ['bytes=990-', 206, 'bytes 990-999/1000', bytes.subarray(990)],
  ['bytes=-5', 206, 'bytes 995-999/1000', bytes.subarray(995)],
  ['bytes=900-5000', 206, 'bytes 900-999/1000', bytes.subarray(900)],
  ['bytes=0-0', 206, 'bytes 0-0/1000', bytes.subarray(0, 1)],
  ['bytes=0-1,5-6', 200, null, bytes],
  ['bytes=nonsense', 200, null, bytes],
  ['lines=0-1', 200, null, bytes],
]
for (const [range, status, contentRange, expected] of ranges) {
  test(`Range ${range} is a ${status}`, async () => {
    const response = await read(app, `/api/v1/documents/${id}/content`, { range })
    assert.equal(response.status, status)
    assert.equal(response.headers.get('content-range'), contentRange)
    assert.equal(response.headers.get('content-length'), String(expected.length))
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), expected)
  })
}

test('a range outside the blob is a 416 with its length', async () => {
  const response = await read(app, `/api/v1/documents/${id}/content`, { range: 'bytes=1000-' })
  assert.equal(response.status, 416)
  assert.equal(response.headers.get('content-range'), 'bytes */1000')
  assert.equal(((await response.json()) as { status: string }).status, 'error')
})

test('If-Range with another ETag gives the whole blob', async () => {
  const path = `/api/v1/documents/${id}/content`
  const whole = await read(app, path, { range: 'bytes=0-9', 'if-range': '"other"' })
  assert.equal(whole.status, 200)
  const same = await read(app, path, { range: 'bytes=0-9', 'if-range': `"${sha256}"` })
  assert.equal(same.status, 206)
})

test('If-None-Match with the digest of the blob gives 304', async () => {
  const headers = { 'if-none-match': `"x", W/"${sha256}"` }
  const response = await read(app, `/api/v1/documents/${id}/content`, headers)
  assert.equal(response.status, 304)
  assert.equal(await response.text(), '')
})

for (const path of ['999', '-1', '99999999999999999999', '999/content']) {
  test(`document ${path} is a 404`, async () => {
    const response = await read(app, `/api/v1/documents/${path}`)
    assert.equal(response.status, 404)
    const body = { status: 'not found', message: 'Document not found', reason: 'no_document' }
    assert.deepEqual(await response.json(), body)
  })
}

test('reading needs a token for documents:GET', async () => {
  for (const path of ['', `/${id}`, `/${id}/content`]) {
    const url = `/api/v1/documents${path}`
    assert.equal((await read(app, url, { authorization: `Bearer ${TOKENS.read}` })).status, 200)
    assert.equal((await read(app, url, { authorization: `Bearer ${TOKENS.upload}` })).status, 403)
    assert.equal((await fetch(app.app.url + url)).status, 401)
    assert.equal((await app.get(url)).status, 401, 'a key of the rates API opened it')
  }
})
