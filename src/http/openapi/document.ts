// OpenAPI documents, generated from the endpoints, so that both always agree. The APIs of other services have a
// document of their own.

import { providerNames, REQUIRED_PROVIDERS } from '../../providers/list.ts'
import { VERSION } from '../../runtime/assets.ts'
import type { Api } from '../endpoint/api.ts'
import type { AnyEndpoint, Tag } from '../endpoint/endpoint.ts'
import { RESPONSE_HEADERS } from './headers.ts'
import { createOperation } from './operation.ts'
import { createSchemas, type JsonSchema, type Schemas } from './schemas.ts'
import { createWebhooks } from './webhooks.ts'

const TAGS: Readonly<Record<Tag, string>> = {
  Rates: 'Exchange rates and conversions. With an API key.',
  History: 'Histories, exports and corrections of rates. With an API key.',
  Documents: 'Documents that an ERP uploads for the AI agents of its companies. With a bearer token.',
  Agents: 'Companies and their agents, and MCP for the agents. With a bearer token or an API key.',
  Server: 'State of the server and of its data, and sessions of the page.',
  Compatibility: 'The same rates in the shapes of other services, for programs that already speak these.',
}
const ALL_TAGS = Object.keys(TAGS) as Tag[]
const COMPAT = '/compat/'
const COMPAT_DOCUMENT = '/openapi-compat.json'

/** Creates OpenAPI 3.1 of the APIs, without those of other services and tables in one form (decisions#description). */
export function createOpenapi(apis: readonly Api[]): JsonSchema {
  const schemas = createSchemas()
  const ownApis = selectEndpoints(apis, (one) => !isCompat(one) && !isForm(one, apis))
  const paths = createPaths(ownApis, schemas)
  const hasCompat = apis.some(({ endpoints }) => endpoints.some(isCompat))
  return {
    openapi: '3.1.0',
    info: {
      title: 'cambista',
      description:
        `Exchange rates of the ${providerNames(REQUIRED_PROVIDERS)}, and documents for AI agents. ` +
        `Served by cambista ${VERSION}.` +
        (hasCompat ? ` The APIs in the shapes of other services: \`${COMPAT_DOCUMENT}\`.` : ''),
      ...INFO,
    },
    ...SERVERS,
    tags: ALL_TAGS.filter((name) => name !== 'Compatibility').map(describeTag),
    paths,
    webhooks: createWebhooks(schemas),
    components: createComponents(ownApis, schemas, paths),
  }
}

/** Creates OpenAPI 3.1 of the APIs that have the shapes of other services. */
export function createCompatOpenapi(apis: readonly Api[]): JsonSchema {
  const schemas = createSchemas()
  const compatApis = selectEndpoints(apis, isCompat)
  const paths = createPaths(compatApis, schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'cambista: APIs of other services',
      description:
        `Exchange rates of the ${providerNames(REQUIRED_PROVIDERS)} in the shapes of other services. ` +
        'Programs written for these work here after a change of their address. ' +
        `Served by cambista ${VERSION}. Its own APIs: \`/openapi.json\`.`,
      ...INFO,
    },
    ...SERVERS,
    tags: [describeTag('Compatibility')],
    paths,
    components: createComponents(compatApis, schemas, paths),
  }
}

const INFO = {
  version: VERSION,
  contact: { name: 'The operator of this server' },
  license: { name: 'MIT', identifier: 'MIT' },
}
const SERVERS = { servers: [{ url: '.', description: 'This server' }] }

function describeTag(name: Tag): JsonSchema {
  return { name, description: TAGS[name] }
}

function isCompat({ path }: AnyEndpoint): boolean {
  return path.startsWith(COMPAT)
}

/** Returns true for a table in one form: the endpoint of the table has its media type too. */
function isForm({ path, contentTypes = [] }: AnyEndpoint, apis: readonly Api[]): boolean {
  const table = path.replace(/\.(csv|ndjson)$/, '')
  const hasForm = (one: AnyEndpoint) =>
    one.path === table && contentTypes.some((type) => one.contentTypes?.includes(type))
  return table !== path && apis.some(({ endpoints }) => endpoints.some(hasForm))
}

/** Returns the APIs with some endpoints, without those that have none. */
function selectEndpoints(apis: readonly Api[], isWanted: (endpoint: AnyEndpoint) => boolean): Api[] {
  return apis
    .map((api) => ({ ...api, endpoints: api.endpoints.filter(isWanted) }))
    .filter(({ endpoints }) => endpoints.length > 0)
}

function createPaths(apis: readonly Api[], schemas: Schemas): Record<string, JsonSchema> {
  const paths = new Map<string, JsonSchema>()
  const ids = new Set<string>()
  for (const api of apis) {
    for (const endpoint of api.endpoints) {
      const operations = paths.getOrInsertComputed(endpoint.path, () => ({}))
      const id = operationId(endpoint, ids)
      operations[endpoint.method.toLowerCase()] = createOperation(endpoint, api, schemas, id)
    }
  }
  return Object.fromEntries(paths)
}

/** Returns the components that the paths reference. */
function createComponents(
  apis: readonly Api[],
  schemas: Schemas,
  paths: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const text = JSON.stringify(paths)
  const headers = Object.entries(RESPONSE_HEADERS).filter(([name]) =>
    text.includes(`"#/components/headers/${name}"`),
  )
  return {
    schemas: schemas.named(),
    headers: Object.fromEntries(headers),
    securitySchemes: Object.fromEntries(
      apis.flatMap(({ credentials }) => (credentials ? [[credentials.name, credentials.scheme]] : [])),
    ),
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
