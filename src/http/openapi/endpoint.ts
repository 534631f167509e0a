import { hash } from 'node:crypto'
import * as v from 'valibot'
import { createAnswerCache, REVALIDATED, type Revision } from '../endpoint/answers/answer-cache.ts'
import { JSON_TYPE } from '../endpoint/answers/forms.ts'
import type { Api } from '../endpoint/api.ts'
import { type AnyEndpoint, type Endpoint, get, type QuerySchema } from '../endpoint/endpoint.ts'

/**
 * OpenAPI 3.1 of all APIs, and of those in the shapes of other services. `apis` also loads the ones that are loaded on
 * first use.
 */
export function openapiEndpoints(apis: () => Promise<readonly Api[]>): AnyEndpoint[] {
  const shared = { answer: v.looseObject({}), ...REVALIDATED }
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
): Endpoint<QuerySchema, v.GenericSchema, 'GET'>['handle'] {
  const answers = createAnswerCache()
  let document: Promise<{ data: Revision; body: string }> | undefined
  const generate = async () => {
    const generators = await import('./document.ts') // loads a generator of JSON schemas
    const body = JSON.stringify(generators[generator](await apis()))
    // The options of the server are in the document, so the version alone does not identify it.
    return { body, data: { epoch: hash('sha256', body).slice(0, 16), revision: 0 } }
  }
  return async ({ event }) => {
    document ??= generate()
    const { data, body } = await document
    return answers.reply(event, data, { key: generator, contentType: JSON_TYPE, make: () => ({ body }) })
  }
}
