import * as v from 'valibot'
import type { Api } from '../api/api.ts'
import { type AnyEndpoint, get } from '../api/endpoint.ts'

/** `GET /openapi.json`: OpenAPI 3.1 of the APIs, those included that are loaded with their first request. */
export function openapiEndpoint(apis: () => Promise<readonly Api[]>): AnyEndpoint {
  let document: Promise<string> | undefined // made when it is first asked for: a start need not wait for it
  const make = async () => {
    const { openapiOf } = await import('./document.ts')
    return JSON.stringify(openapiOf(await apis()))
  }
  return get({
    path: '/openapi.json',
    summary: 'This description',
    about: 'OpenAPI 3.1 of everything that this server answers.',
    open: true,
    answer: v.looseObject({}),
    async handle() {
      document ??= make()
      return { body: await document }
    },
  })
}
