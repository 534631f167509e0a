import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPathSearch, credentialHint } from '../../../../src/http/endpoint/hints.ts'

const PATHS = [
  '/api/v1/rates/latest',
  '/api/v1/rates',
  '/api/v1/rates.csv',
  '/api/v1/series/{series_id}/history',
  '/api/v1/documents/{id}',
  '/healthz',
  '/',
]
const nearestPath = createPathSearch(PATHS)

for (const [path, nearest] of [
  ['/rate/latest', '/api/v1/rates/latest'],
  ['/rates/latest', '/api/v1/rates/latest'],
  ['/api/v1/rates/latest/', '/api/v1/rates/latest'],
  ['//api/v1//rates', '/api/v1/rates'],
  ['/API/V1/Rates', '/api/v1/rates'],
  ['/api/v1/serie/7/history', '/api/v1/series/7/history'],
  ['/api/v1/document/41', '/api/v1/documents/41'],
  ['/health', '/healthz'],
  ['/', undefined],
  ['/wp-login.php', undefined],
  ['/api/v2/rates/latest', undefined],
  ['/api/v1/rates/%41', undefined],
  [`/${'a'.repeat(200)}`, undefined],
] as const) {
  test(`the nearest path of ${path.slice(0, 40)} is ${nearest}`, () =>
    assert.equal(nearestPath(path), nearest))
}

for (const [headers, needed, hint] of [
  [{ 'x-api-key': 'cbt_1' }, 'key', /^X-API-Key has a token/],
  [
    { authorization: 'Bearer cbk_1' },
    'key',
    /^Authorization has a key \(cbk_…\): send it in the header X-API-Key$/,
  ],
  [{ authorization: 'Bearer cbt_1' }, 'key', /^Authorization has a token .* rates need a key/],
  [{ authorization: 'bearer  cbk_1' }, 'token', /^Authorization has a key .* documents need a token/],
  [{ 'x-api-key': 'cbk_1' }, 'token', /^X-API-Key has a key .* documents need a token/],
  [{ 'x-api-key': 'cbt_1' }, 'token', /^X-API-Key has a token .*: send it as Authorization/],
  [{ 'x-api-key': 'cbk_1', authorization: 'Bearer cbt_1' }, 'key', undefined],
  [{ 'x-api-key': 'cbk_1', authorization: 'Bearer cbt_1' }, 'token', undefined],
  [{ 'x-api-key': 'something' }, 'key', undefined],
  [{ apikey: 'cbk_1' }, 'key', /read the header apikey: send a key \(cbk_…\) in the header X-API-Key$/],
  [{ authorization: 'Basic Y2JrXzE=' }, 'key', /read Authorization: Basic: send a key \(cbk_…\) in/],
  [{ apikey: 'cbk_1', 'x-api-key': 'cbk_1' }, 'key', undefined],
  [{}, 'key', undefined],
  [{}, 'token', undefined],
] as const) {
  test(`credentialHint of ${JSON.stringify(headers)} for an endpoint that needs a ${needed}`, () => {
    const hintText = credentialHint(new Headers(headers as Record<string, string>), needed)
    if (hint) assert.match(hintText ?? '', hint)
    else assert.equal(hintText, undefined)
    assert.doesNotMatch(hintText ?? '', /_1/)
  })
}
