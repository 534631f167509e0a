import * as v from 'valibot'
import type { Api } from '../endpoint/api.ts'
import { type AnyEndpoint, get } from '../endpoint/endpoint.ts'

/**
 * OpenAPI 3.1 of all APIs, and of those in the shapes of other services. `apis` also loads the ones that are loaded on
 * first use.
 */
export function openapiEndpoints(apis: () => Promise<readonly Api[]>): AnyEndpoint[] {
  const shared = { answer: v.looseObject({}) }
  return [
    get({
      ...shared,
      path: '/openapi.json',
      about: 'OpenAPI 3.1 of everything that this server answers.',
      handle: createHandler(apis, 'createOpenapi'),
    }),
    get({
      ...shared,
      path: '/openapi-compat.json',
      about: 'OpenAPI 3.1 of the APIs that have the shapes of other services.',
      handle: createHandler(apis, 'createCompatOpenapi'),
    }),
  ]
}

/** Creates a handler that generates its document at the first request, not at the start. */
function createHandler(
  apis: () => Promise<readonly Api[]>,
  generator: 'createOpenapi' | 'createCompatOpenapi',
): () => Promise<{ body: string }> {
  let document: Promise<string> | undefined
  const generate = async () => {
    const generators = await import('./document.ts') // loads a generator of JSON schemas
    return JSON.stringify(generators[generator](await apis()))
  }
  return async () => {
    document ??= generate()
    return { body: await document }
  }
}
