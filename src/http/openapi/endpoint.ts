import * as v from 'valibot'
import type { Api } from '../endpoint/api.ts'
import { type AnyEndpoint, get } from '../endpoint/endpoint.ts'

/** `GET /openapi.json`: OpenAPI 3.1 of the APIs, lazy ones included. */
export function openapiEndpoint(apis: () => Promise<readonly Api[]>): AnyEndpoint {
  let document: Promise<string> | undefined // generated at the first request, not at the start
  const make = async () => {
    const { createOpenapi } = await import('./document.ts') // loads a generator of JSON schemas
    return JSON.stringify(createOpenapi(await apis()))
  }
  return get({
    path: '/openapi.json',
    about: 'OpenAPI 3.1 of everything that this server answers.',
    answer: v.looseObject({}),
    async handle() {
      document ??= make()
      return { body: await document }
    },
  })
}
