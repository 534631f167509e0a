import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { H3Event } from 'h3'
import { createUrlCache } from '../../../../../src/http/endpoint/answers/url-cache.ts'
import { KEY_NAMES } from '../../../../../src/http/endpoint/url-key.ts'

const TODAY = { today: '2026-03-24', form: 'json' }
const asking = (url: string) => ({ runtime: { node: { req: { url }, res: {} } } }) as unknown as H3Event

test('a URL has its cached key for the day and the form of its request', () => {
  const cache = createUrlCache()
  const request = asking('/api/v1/rates/latest')
  assert.equal(cache.findKey(request, TODAY), undefined)
  cache.store(request, TODAY, 'latest of the 24th')
  assert.equal(cache.findKey(request, TODAY), 'latest of the 24th')
  assert.equal(cache.findKey(asking('/api/v1/rates/latest?base=EUR'), TODAY), undefined)
  assert.equal(cache.findKey(request, { ...TODAY, today: '2026-03-25' }), undefined)
  assert.equal(cache.findKey(request, { ...TODAY, form: 'csv' }), undefined)
})

test('cached URLs are few and short', () => {
  const cache = createUrlCache()
  const long = asking(`/api/v1/rates?${'on=2026-03-24&'.repeat(20)}`)
  cache.store(long, TODAY, 'key')
  assert.equal(cache.findKey(long, TODAY), undefined)
  const numbered = (at: number) => asking(`/api/v1/rates/latest?amount=${at}`)
  for (let at = 0; at <= 10_000; at += 1) cache.store(numbered(at), TODAY, 'key')
  assert.equal(cache.findKey(numbered(0), TODAY), undefined)
  assert.equal(cache.findKey(numbered(10_000), TODAY), 'key')
})

const names = KEY_NAMES.flatMap((name) => [name, `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`])
for (const name of names) {
  test(`a URL with ${name} is not cached`, () => {
    const cache = createUrlCache()
    const request = asking(`/api/v1/rates?on=2026-03-24&${name}=cbk_secret`)
    cache.store(request, TODAY, 'key')
    assert.equal(cache.findKey(request, TODAY), undefined)
  })
}
