import assert from 'node:assert/strict'
import { test } from 'node:test'
import { H3 } from 'h3'
import * as v from 'valibot'
import { type Api, apiOf, mountApis } from '../../../src/http/api/api.ts'
import { freshReply, get } from '../../../src/http/api/endpoint.ts'
import { RATES_ERRORS } from '../../../src/http/rates/errors.ts'

const apiWith = (prefixes: string[], open: boolean): Api => ({
  prefixes,
  errors: RATES_ERRORS,
  endpoints: [get({ path: '/hello', summary: 'x', open, answer: v.any(), handle: () => freshReply({}) })],
})

test('an endpoint that is not open is not mounted without credentials', () => {
  const mount = (open: boolean) => mountApis(new H3(), [apiWith(['/'], open)])
  assert.throws(() => mount(false), /\/hello is not open/)
  mount(true)
})

test('a path belongs to the API with the longest prefix of whole segments', () => {
  const [all, some] = [apiWith(['/'], true), apiWith(['/api/some'], true)]
  for (const path of ['/api/some', '/api/some/more']) assert.equal(apiOf([all, some], path), some)
  for (const path of ['/', '/api/something', '/api', '*']) assert.equal(apiOf([all, some], path), all)
})
