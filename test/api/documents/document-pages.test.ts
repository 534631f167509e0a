// Pages of the list of documents: ascending for programs, descending for people (decisions#reading). Every
// answer has the next cursor, and clients that follow it skip and repeat nothing.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../../support/directory.ts'

type Page = {
  documents: { id: number; company_id: number }[]
  next_after?: number
  next_before?: number
  has_more: boolean
}

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

const upload = async (count: number) => {
  const documents = Array.from({ length: count }, (_, at) => pdf(`content ${at}`))
  assert.equal((await post(app, CREATE, batch(...documents))).status, 200)
}
const list = async (query: string): Promise<Page> => {
  const response = await read(app, `/api/v1/documents${query}`)
  assert.equal(response.status, 200, query)
  return (await response.json()) as Page
}
const pageIds = ({ documents }: Page) => documents.map(({ id }) => id)

test('an empty list has a cursor too', async () => {
  assert.deepEqual(await list(''), { status: 'success', documents: [], next_after: 0, has_more: false })
  assert.equal((await list('?after=7')).next_after, 7)
  assert.deepEqual(await list('?order=desc'), {
    status: 'success',
    documents: [],
    next_before: 0,
    has_more: false,
  })
  assert.equal((await list('?order=desc&before=7')).next_before, 7)
})

test('the cursor is the last id of the page, and has_more is set', async () => {
  await upload(5)
  const first = await list('?limit=3')
  assert.deepEqual([pageIds(first), first.next_after, first.has_more], [[1, 2, 3], 3, true])
  const second = await list('?limit=3&after=3')
  assert.deepEqual([pageIds(second), second.next_after, second.has_more], [[4, 5], 5, false])
  const third = await list('?limit=3&after=5')
  assert.deepEqual([pageIds(third), third.next_after, third.has_more], [[], 5, false])
  assert.deepEqual([(await list('?limit=5')).has_more, (await list('?limit=4')).has_more], [false, true])
  assert.equal('next_before' in first, false)
})

test('order=desc begins with the newest, and continues before the last id of the page', async () => {
  const first = await list('?order=desc&limit=3')
  assert.deepEqual([pageIds(first), first.next_before, first.has_more], [[5, 4, 3], 3, true])
  const second = await list('?order=desc&limit=3&before=3')
  assert.deepEqual([pageIds(second), second.next_before, second.has_more], [[2, 1], 1, false])
  const third = await list('?order=desc&before=1')
  assert.deepEqual([pageIds(third), third.next_before, third.has_more], [[], 1, false])
  assert.equal('next_after' in first, false)
  assert.deepEqual(pageIds(await list('?order=desc&before=4&company_id=1&agent_id=1')), [3, 2, 1])
  assert.deepEqual(pageIds(await list('?order=asc&limit=2')), [1, 2])
})

test('a loop with after=next_after during uploads reads each document once', async () => {
  const handled: number[] = []
  let after = 0
  const poll = async () => {
    const page = await list(`?limit=4&after=${after}`)
    handled.push(...pageIds(page))
    after = page.next_after as number
    return page
  }
  const uploads = (async () => {
    for (let time = 0; time < 10; time++) await upload(1 + (time % 7))
  })()
  let areUploadsDone = false
  uploads.then(() => {
    areUploadsDone = true
  })
  while (!areUploadsDone || (await poll()).has_more) await poll()
  await uploads
  const newest = (await list('?order=desc&limit=1')).documents[0]?.id ?? 0
  assert.deepEqual(
    handled,
    Array.from({ length: newest }, (_, at) => at + 1),
  )
})

test('after and before beyond every document are valid cursors', async () => {
  const most = Number.MAX_SAFE_INTEGER
  assert.deepEqual([(await list('?after=0')).documents[0]?.id, (await list('?after=0')).next_after], [1, 39])
  assert.deepEqual(pageIds(await list(`?after=${most}`)), [])
  assert.equal((await list(`?after=${most}`)).next_after, most)
  assert.equal((await list(`?order=desc&limit=1&before=${most}`)).documents[0]?.id, 39)
})

for (const [query, words] of [
  ['order=up', /order must be asc or desc/],
  ['order=DESC', /order must be asc or desc/],
  ['order=', /order must be asc or desc/],
  ['order=desc&before=x', /before must be an integer/],
  ['after=-1', /after must be an integer from 0 to 9007199254740991/],
  ['after=99999999999999999999', /after must be an integer from 0 to 9007199254740991/],
  ['order=desc&before=-1', /before must be an integer from 0 to/],
  ['order=desc&before=9007199254740992', /before must be an integer from 0 to/],
  ['before=7', /before goes with order=desc: without it pages are asked for with after/],
  ['order=asc&before=7', /before goes with order=desc/],
  ['order=desc&after=7', /after goes with order=asc: with order=desc pages are asked for with before/],
] as const) {
  test(`?${query} is a 422 with the right form`, async () => {
    const response = await read(app, `/api/v1/documents?${query}`)
    assert.equal(response.status, 422)
    const { status, message } = (await response.json()) as Record<string, string>
    assert.equal(status, 'error')
    assert.match(message ?? '', words)
  })
}
