import assert from 'node:assert/strict'
import { test } from 'node:test'
import { H3 } from 'h3'
import * as v from 'valibot'
import { type Api, mountApis, selectApi } from '../../../../src/http/endpoint/api.ts'
import { freshReply } from '../../../../src/http/endpoint/endpoint.ts'
import { RATES_ERRORS } from '../../../../src/http/figures/rates-errors.ts'
import type { Permission } from '../../../../src/http/routes.ts'

const createApi = (prefixes: string[], permission: Permission): Api => ({
  prefixes,
  errors: RATES_ERRORS,
  endpoints: [
    {
      ...{ method: 'GET', path: '/hello', permission, summary: 'x' },
      answer: v.any(),
      handle: () => freshReply({}),
    },
  ],
})

test('an endpoint is not mounted in an API that does not check its permission', () => {
  const credentials = { check() {}, name: 'key', scheme: {}, refusals: {} }
  const mount = (permission: Permission, permissions?: Permission[]) =>
    mountApis(new H3(), [
      {
        ...createApi(['/'], permission),
        ...(permissions && { credentials: { ...credentials, permissions } }),
      },
    ])
  assert.throws(() => mount('key'), /\/hello has the permission key/)
  assert.throws(() => mount('documents:GET', ['key', 'url-key']), /\/hello has the permission documents:GET/)
  mount('open')
  mount('url-key', ['key', 'url-key'])
})

test('a path belongs to the API with the longest prefix of whole segments', () => {
  const [all, some] = [createApi(['/'], 'open'), createApi(['/api/some'], 'open')]
  for (const path of ['/api/some', '/api/some/more']) assert.equal(selectApi([all, some], path), some)
  for (const path of ['/', '/api/something', '/api', '*']) assert.equal(selectApi([all, some], path), all)
})
