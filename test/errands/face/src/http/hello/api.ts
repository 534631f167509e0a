import * as v from 'valibot'
import type { Keyring } from '../access/auth.ts'
import type { Api } from '../endpoint/api.ts'
import { get, post } from '../endpoint/endpoint.ts'
import type { ErrorShape } from '../endpoint/error-shape.ts'

const PLAIN_ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  body: (status, message) => JSON.stringify({ no: status, why: message }),
  schema: v.object({ no: v.number(), why: v.string() }),
  invalid: v.object({ no: v.number(), why: v.string() }),
}

export function helloApi({ keyring }: { keyring: Keyring }): Api {
  const query = v.object({ key: v.string(), name: v.optional(v.string(), 'you') })
  const answer = v.string()
  return {
    prefixes: ['/hello'],
    errors: PLAIN_ERRORS,
    credentials: {
      permissions: ['any-key'],
      check: (event) =>
        keyring.withLookUp(() => {
          keyring.checkKey(event.url.searchParams.get('key'))
        }),
      name: 'KeyInQuery',
      scheme: { type: 'apiKey', in: 'query', name: 'key' },
      refusals: { 401: 'The key is missing or unknown' },
    },
    endpoints: [
      get({
        path: '/hello',
        query,
        answer,
        handle: ({ query }) => ({ body: JSON.stringify(`hello, ${query.name}`) }),
      }),
      post({
        path: '/hello',
        query,
        answer,
        handle: ({ query }) => ({ body: JSON.stringify(`HELLO, ${query.name.toUpperCase()}`) }),
      }),
      get({
        path: '/',
        answer,
        handle: () => ({ body: 'come in', headers: { 'content-type': 'text/plain' } }),
      }),
    ],
  }
}
