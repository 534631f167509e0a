// The live list of documents, rendered without a browser: its pages, and the count of documents that arrived.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../../../support/terminal.ts'
import { settle } from './settle.ts'

type Row = { id: number; state: string; finished_at?: string; lease_until: string; created_at: string }

const localStorage = { getItem: () => null, setItem() {}, removeItem() {} }
const document = Object.assign(new EventTarget(), { documentElement: { dataset: {} }, hidden: false })
Object.assign(globalThis, { localStorage, document, addEventListener() {} })

/** Ids above are claimed, the others new. */
let lastNewId: number
let newestId: number
let paths: string[]
/** Delays the answers of lists. */
let gate: Promise<void>
let idInUse = 0
/** End of all documents; undefined: they have none. */
let finishTime: string | undefined
/** Cursors of long polls, and the number of those that the server has not answered. */
let waits: number[]
let openWaits = 0

globalThis.fetch = async (input, options) => {
  const { pathname, searchParams } = new URL(String(input), 'http://localhost')
  // A long poll without arrivals.
  if (searchParams.has('wait')) {
    waits.push(Number(searchParams.get('after')))
    openWaits++
    await delay(60_000, undefined, { signal: options?.signal ?? undefined }).finally(() => openWaits--)
  }
  if (pathname !== '/api/v1/documents') return Response.json(row(Number(pathname.split('/').at(-1))))
  paths.push(String(input))
  const before = Number(searchParams.get('before') ?? newestId + 1)
  const length = Math.min(Number(searchParams.get('limit')), before - 1)
  const documents = Array.from({ length }, (_, at) => row(before - 1 - at))
  const edge = before - length
  await gate
  return Response.json({ documents, next_before: edge, has_more: edge > 1 })
}

const [WEB, PREACT] = ['../../../../src/web', 'preact'] as string[] // paths without types of a browser
const { h, render } = await import(`${PREACT}`)
const { useState } = await import(`${PREACT}/hooks`)
const { useLiveDocuments } = await import(`${WEB}/documents/live-documents.ts`)
const { refreshAll } = await import(`${WEB}/components/use-api.ts`)

let live: ReturnType<typeof useLiveDocuments>
let setSummary: (summary: object) => void

beforeEach(() => {
  paths = []
  lastNewId = 300
  newestId = 300
  gate = Promise.resolve()
  idInUse = 0
  finishTime = undefined
  waits = []
  setHidden(false)
})
afterEach(() => render(null, parent)) // aborts the long poll

const parent = {
  ...{ childNodes: [], firstChild: null, nodeType: 1, namespaceURI: '', ownerDocument: document },
  insertBefore() {},
  contains: () => true,
}

function setHidden(hidden: boolean): void {
  document.hidden = hidden
  document.dispatchEvent(new Event('visibilitychange'))
}

function row(id: number): Row {
  const times = { lease_until: '2999-01-01T00:00:00Z', created_at: '2026-11-01T00:00:00Z' }
  if (finishTime !== undefined) return { id, state: 'done', finished_at: finishTime, ...times }
  return { id, state: id > lastNewId ? 'claimed' : 'new', ...times }
}

async function openList(state: string, since = '') {
  const texts = { search: '', issuer: '', clave: '', since, until: '' }
  const selection = { company: 0, agent: 0, state, ...texts }
  const List = () => {
    const [summary, set] = useState(undefined)
    setSummary = set
    live = useLiveDocuments(selection, summary, (id: number) => id === idInUse)
    return null
  }
  render(h(List, {}), parent)
  await until(() => live.documents !== undefined)
}

const idsDown = (first: number, last: number) =>
  Array.from({ length: first - last + 1 }, (_, at) => first - at)
const ids = (): number[] => live.documents.map(({ id }: Row) => id)

test('loadMore requests a page once', async () => {
  await openList('')
  live.loadMore()
  live.loadMore()
  await until(() => ids().length > 50)
  await settle()
  assert.deepEqual([ids().length, new Set(ids()).size, paths.length], [100, 100, 2])
  live.loadMore()
  await until(() => ids().length > 100)
  assert.equal(new Set(ids()).size, 150)
})

test('loadMore beside a refresh leaves no gap', async () => {
  await openList('')
  live.loadMore()
  await until(() => ids().length === 100)
  const answers = Promise.withResolvers<void>()
  gate = answers.promise
  refreshAll()
  await until(() => paths.length === 3)
  live.loadMore()
  assert.equal(paths.length, 4)
  answers.resolve()
  await settle()
  assert.deepEqual([ids()[0], ids().at(-1)], [300, 301 - ids().length])
})

test('newCount counts no document that changes its state', async () => {
  lastNewId = 100
  await openList('waiting')
  await until(() => ids().length > 0)
  lastNewId = 150
  setSummary({ changed: 1, waiting: 150, working: 150 })
  await until(() => ids()[0] === 150)
  assert.equal(live.newCount, 0)
})

test('newCount counts documents that arrive', async () => {
  await openList('')
  newestId = 302
  setSummary({ changed: 1, waiting: 302, working: 0 })
  await until(() => ids()[0] === 302)
  assert.equal(live.newCount, 2)
})

test('a filtered list without room for a burst of documents ends where it was read', async () => {
  newestId = 2
  idInUse = 1
  await openList('', '2026-11-01')
  assert.deepEqual([ids(), live.hasMore], [[2, 1], false])
  newestId = 402
  setSummary({ changed: 1, waiting: 402, working: 0 })
  await until(() => ids()[0] === 402)
  assert.deepEqual(ids(), [...idsDown(402, 153), 1])
  assert.deepEqual([live.hasMore, live.scanEdge], [true, '2026-11-01T00:00:00Z'])
  idInUse = 0
  while (live.hasMore) {
    const { length } = ids()
    live.loadMore()
    await until(() => ids().length > length)
  }
  assert.deepEqual(ids(), idsDown(402, 1))
})

test('a list that grows by arrivals has 500 rows, and as many as the user loads', async () => {
  idInUse = 260
  await openList('')
  const addDocuments = async (count: number) => {
    newestId += count
    setSummary({ changed: newestId, waiting: newestId, working: 0 })
    await until(() => ids()[0] === newestId)
  }
  await addDocuments(200)
  await addDocuments(200)
  assert.deepEqual([ids(), live.newCount], [idsDown(700, 251), 400])
  await addDocuments(200)
  assert.deepEqual(ids(), [...idsDown(900, 401), 260])
  assert.deepEqual([live.hasMore, live.newCount], [true, 0])
  await addDocuments(1)
  assert.deepEqual(ids(), [...idsDown(901, 402), 260])
  live.loadMore()
  await until(() => ids().length === 551)
  await addDocuments(10)
  assert.deepEqual(ids(), [...idsDown(911, 362), 260])
})

test('an earlier answer does not replace a later one', async () => {
  await openList('')
  const earlier = Promise.withResolvers<void>()
  gate = earlier.promise
  setSummary({ changed: 1, waiting: 300, working: 0 })
  await until(() => paths.length === 2)
  lastNewId = 299
  gate = Promise.resolve()
  setSummary({ changed: 2, waiting: 299, working: 1 })
  await settle()
  assert.equal(paths.length, 2, 'two requests may overtake each other')
  earlier.resolve()
  await until(() => {
    setSummary({ changed: 2, waiting: 299, working: 1 }) // as at each poll
    return live.documents[0].state === 'claimed'
  })
  await settle()
  assert.equal(live.documents[0].state, 'claimed')
})

test('the list of documents that are done today is empty after midnight', async (t) => {
  finishTime = '2026-03-24T18:00:00.000Z'
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(finishTime) })
  await openList('today')
  const figures = { changed: 1, waiting: 0, working: 0 }
  setSummary({ ...figures, done_today: 300 })
  await until(() => paths.length > 1)
  await settle()
  assert.ok(ids().length > 0)
  finishTime = '2020-01-01T00:00:00Z'
  setSummary({ ...figures, done_today: 0 })
  await until(() => ids().length === 0)
})

test('a hidden list waits for no documents until it is shown', async () => {
  await openList('')
  await until(() => openWaits === 1)
  setHidden(true)
  await until(() => openWaits === 0)
  await settle()
  assert.deepEqual([waits, live.failure], [[300], undefined])
  setHidden(false)
  await until(() => openWaits === 1)
  assert.deepEqual(waits, [300, 300])
})

test('a list that is opened in a hidden tab reads its documents and waits for no others', async () => {
  setHidden(true)
  await openList('')
  await until(() => ids().length > 0)
  await settle()
  assert.deepEqual([ids().length, waits], [50, []])
})
