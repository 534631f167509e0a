import * as v from 'valibot'
import type { Api } from '../endpoint/api.ts'
import { type AnyEndpoint, get } from '../endpoint/endpoint.ts'

/** `GET /openapi.json`: OpenAPI 3.1 of all APIs, also of those that are loaded on first use. */
export function openapiEndpoint(apis: () => Promise<readonly Api[]>): AnyEndpoint {
  let document: Promise<string> | undefined // generated at the first request, not at the start
  const generate = async () => {
    const { createOpenapi } = await import('./document.ts') // loads a generator of JSON schemas
    return JSON.stringify(createOpenapi(await apis()))
  }
  return get({
    path: '/openapi.json',
    about: 'OpenAPI 3.1 of everything that this server answers.',
    answer: v.looseObject({}),
    async handle() {
      document ??= generate()
      return { body: await document }
    },
  })
}
