import * as v from 'valibot'
import type { Api } from '../api/api.ts'
import type { Keyring } from '../api/auth.ts'
import { get, post } from '../api/endpoint.ts'
import type { ErrorShape } from '../api/errors.ts'

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
        summary: 'A greeting',
        query,
        answer,
        handle: ({ query }) => ({ body: JSON.stringify(`hello, ${query.name}`) }),
      }),
      post({
        path: '/hello',
        summary: 'A louder greeting',
        query,
        answer,
        handle: ({ query }) => ({ body: JSON.stringify(`HELLO, ${query.name.toUpperCase()}`) }),
      }),
      get({
        path: '/',
        summary: 'The door',
        open: true,
        answer,
        handle: () => ({ body: 'come in', headers: { 'content-type': 'text/plain' } }),
      }),
    ],
  }
}
