// POST requests of providers: method, body, retries and pace as with GET.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { createRequester } from '../../../src/providers/request.ts'
import { startFaultySource } from '../../contract/faulty-source.ts'

const SECRET = 'a.secret'

function openRequester(waits: number[] = []) {
  const settings = { paceMs: 1000, userAgent: 'cambista/test', timeZone: 'America/Guatemala' }
  return createRequester(settings, new AbortController().signal, { sleep: async (ms) => void waits.push(ms) })
}

const order = (url: string) => ({
  ...{ name: 'range', url, method: 'POST' as const, body: '<ask/>', secrets: [SECRET] },
  headers: { Accept: 'text/xml', 'Content-Type': 'text/xml; charset=utf-8' },
})

test('a POST has the body and the headers of the request', async (t) => {
  const source = await startFaultySource(t, { body: '<answer/>' })
  assert.equal(await openRequester().get(order(source.url), (body) => body), '<answer/>')
  const [seen] = source.seen
  assert.deepEqual([seen?.method, seen?.body], ['POST', '<ask/>'])
  const headers = JSON.parse(seen?.headers ?? '{}')
  assert.deepEqual([headers['content-type'], headers.accept], ['text/xml; charset=utf-8', 'text/xml'])
})

test('a POST is retried three times with the same body, at the pace', async (t) => {
  const source = await startFaultySource(t, 'reset')
  const waits: number[] = []
  const hinted = { ...order(source.url), unreachableHint: ': try from another network' }
  await assert.rejects(
    openRequester(waits).get(hinted, (body) => body),
    (error) => {
      assert.ok(error instanceof FetchFailure)
      assert.match(
        error.message,
        /^range: 127\.0\.0\.1:\d+ cannot be reached \(.+\): try from another network$/,
      )
      return true
    },
  )
  assert.deepEqual(
    source.seen.map(({ method, body }) => [method, body]),
    Array.from({ length: 4 }, () => ['POST', '<ask/>']),
  )
  assert.ok(waits.filter((ms) => ms > 1400).length >= 3, String(waits))
})

test('a POST is never redirected, and its message has no secret', async (t) => {
  const location = `https://portal.example/${SECRET}`
  const source = await startFaultySource(t, { status: 307, headers: { Location: location }, body: '' })
  await assert.rejects(
    openRequester().get(order(source.url), (body) => body),
    /^FetchFailure: range: HTTP 307, a redirect to another host, "https:\/\/portal\.example\/\*\*\*"/,
  )
  assert.equal(source.seen.length, 1)
})
