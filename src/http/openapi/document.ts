// OpenAPI document, generated from the endpoints, so that both always agree.

import { PROVIDERS, providerNames } from '../../providers/list.ts'
import { VERSION } from '../../runtime/assets.ts'
import type { Api } from '../endpoint/api.ts'
import type { AnyEndpoint, Tag } from '../endpoint/endpoint.ts'
import { RESPONSE_HEADERS } from './headers.ts'
import { createOperation } from './operation.ts'
import { createSchemas, type JsonSchema } from './schemas.ts'

const TAGS: Readonly<Record<Tag, string>> = {
  Rates: 'Exchange rates, their histories and conversions. With an API key.',
  Documents: 'What an ERP sends for the AI agents of its companies. With a bearer token.',
  Agents: 'Companies, their agents, and what these do. With a bearer token.',
  Operation: 'Whether the server is well and its data fresh.',
  Compatibility: 'The same rates in the shapes of other services, for programs that already speak these.',
}

/** Creates OpenAPI 3.1 of the APIs. */
export function createOpenapi(apis: readonly Api[]): JsonSchema {
  const schemas = createSchemas()
  const paths = new Map<string, JsonSchema>()
  const ids = new Set<string>()
  for (const api of apis) {
    for (const endpoint of api.endpoints) {
      const operations = paths.getOrInsertComputed(endpoint.path, () => ({}))
      operations[endpoint.method.toLowerCase()] = createOperation(
        endpoint,
        api,
        schemas,
        operationId(endpoint, ids),
      )
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'cambista',
      version: '0.1.0',
      description:
        `Exchange rates of the ${providerNames(PROVIDERS)}, and documents for AI agents. ` +
        `Served by cambista ${VERSION}.`,
      contact: { name: 'The operator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: schemas.named(),
      headers: RESPONSE_HEADERS,
      securitySchemes: Object.fromEntries(
        apis.flatMap(({ credentials }) => (credentials ? [[credentials.name, credentials.scheme]] : [])),
      ),
    },
  }
}

/** Unique id of an operation from its path; a second one of the path begins with the method. */
function operationId({ path, method }: AnyEndpoint, ids: Set<string>): string {
  const words = path
    .replace(/^\/api\/v1\//, '')
    .replace(/\W+/g, '_')
    .replace(/^_|_$/g, '')
  const id = ids.has(words) ? `${method.toLowerCase()}_${words}` : words
  ids.add(id)
  return id
}
