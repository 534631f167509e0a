import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { H3Event } from 'h3'
import { createUrlCache } from '../../../../src/http/endpoint/url-cache.ts'
import { KEY_NAMES } from '../../../../src/http/endpoint/url-key.ts'

const TODAY = { today: '2026-03-24', form: 'json' }
const asking = (url: string) => ({ runtime: { node: { req: { url }, res: {} } } }) as unknown as H3Event

test('a URL has its cached key for the day and the form of its request', () => {
  const addresses = createUrlCache()
  const request = asking('/api/v1/rates/latest')
  assert.equal(addresses.keyOf(request, TODAY), undefined)
  addresses.remember(request, TODAY, 'latest of the 24th')
  assert.equal(addresses.keyOf(request, TODAY), 'latest of the 24th')
  assert.equal(addresses.keyOf(asking('/api/v1/rates/latest?base=EUR'), TODAY), undefined)
  assert.equal(addresses.keyOf(request, { ...TODAY, today: '2026-03-25' }), undefined)
  assert.equal(addresses.keyOf(request, { ...TODAY, form: 'csv' }), undefined)
})

test('cached URLs are few and short', () => {
  const addresses = createUrlCache()
  const long = asking(`/api/v1/rates?${'on=2026-03-24&'.repeat(20)}`)
  addresses.remember(long, TODAY, 'key')
  assert.equal(addresses.keyOf(long, TODAY), undefined)
  const numbered = (at: number) => asking(`/api/v1/rates/latest?amount=${at}`)
  for (let at = 0; at <= 10_000; at += 1) addresses.remember(numbered(at), TODAY, 'key')
  assert.equal(addresses.keyOf(numbered(0), TODAY), undefined)
  assert.equal(addresses.keyOf(numbered(10_000), TODAY), 'key')
})

const names = KEY_NAMES.flatMap((name) => [name, `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`])
for (const name of names) {
  test(`a URL with ${name} is not cached`, () => {
    const addresses = createUrlCache()
    const request = asking(`/api/v1/rates?on=2026-03-24&${name}=cbk_secret`)
    addresses.remember(request, TODAY, 'key')
    assert.equal(addresses.keyOf(request, TODAY), undefined)
  })
}
