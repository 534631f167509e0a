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
const GROUPS = ['Rates', 'History', 'Documents', 'Agents', 'Server'] as const
const COMPAT = '/compat/'
const FORM_TYPES: Readonly<Record<string, string>> = { csv: '"text/csv":', ndjson: '"application/x-ndjson":' }
const COMPAT_DOCUMENT = '/openapi-compat.json'

/** Creates OpenAPI 3.1 of the APIs, without the paths of other services and those of one form (decisions 1.11). */
export function createOpenapi(apis: readonly Api[]): JsonSchema {
  const schemas = createSchemas()
  const ownApis = selectEndpoints(apis, (path) => !isCompat(path))
  const paths = omitForms(createPaths(ownApis, schemas))
  const hasCompat = apis.some(({ endpoints }) => endpoints.some(({ path }) => isCompat(path)))
  return {
    openapi: '3.1.0',
    info: {
      title: 'cambista',
      description:
        `Exchange rates of the ${providerNames(REQUIRED_PROVIDERS)}, and documents for AI agents. ` +
        `Served by cambista ${VERSION}.` +
        (hasCompat
          ? ` The APIs in the shapes of other services: [${COMPAT_DOCUMENT}](${COMPAT_DOCUMENT}).`
          : ''),
      ...INFO,
    },
    ...SERVERS,
    tags: GROUPS.map(describeTag),
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
        `Served by cambista ${VERSION}. Its own APIs: [/openapi.json](/openapi.json).`,
      ...INFO,
    },
    ...SERVERS,
    tags: [describeTag('Compatibility')],
    paths,
    components: createComponents(compatApis, schemas, paths),
  }
}

const INFO = {
  version: '0.1.0',
  contact: { name: 'The operator of this server' },
  license: { name: 'MIT', identifier: 'MIT' },
}
const SERVERS = { servers: [{ url: '/', description: 'This server' }] }

function describeTag(name: Tag): JsonSchema {
  return { name, description: TAGS[name] }
}

function isCompat(path: string): boolean {
  return path.startsWith(COMPAT)
}

/** Returns the APIs with the endpoints of some paths, without those that have none. */
function selectEndpoints(apis: readonly Api[], isWanted: (path: string) => boolean): Api[] {
  return apis
    .map((api) => ({ ...api, endpoints: api.endpoints.filter(({ path }) => isWanted(path)) }))
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

/** Omits the paths of a table in one form. The operation of the table has its media type. */
function omitForms(paths: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const isForm = (path: string) => {
    const [, table = '', name = ''] = /^(.+)\.(csv|ndjson)$/.exec(path) ?? []
    return name !== '' && JSON.stringify(paths[table] ?? '').includes(FORM_TYPES[name] ?? '')
  }
  return Object.fromEntries(Object.entries(paths).filter(([path]) => !isForm(path)))
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
