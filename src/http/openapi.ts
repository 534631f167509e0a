// The API's description, made from the endpoints as they were mounted, so that it cannot drift from them.

import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { VERSION } from '../assets.ts'
import type { AnyEndpoint, Api } from './api.ts'
import { familyOf } from './errors.ts'

const HTTPValidationError = v.object({
  detail: v.array(
    v.object({
      loc: v.array(v.union([v.string(), v.pipe(v.number(), v.integer())])),
      msg: v.string(),
      type: v.string(),
      input: v.optional(v.any()),
      ctx: v.optional(v.looseObject({})),
    }),
  ),
})

type JsonSchema = Record<string, unknown>

/** What a 401, a 404 and the like say, by the API that they come from. */
const ERRORS = {
  rates: v.object({ detail: v.string() }),
  documents: v.looseObject({ status: v.picklist(['error', 'not found']), message: v.string() }),
}

/** Mounts `GET /openapi.json`: OpenAPI 3.1 of everything that is mounted before it. */
export function mountOpenapi(api: Api): void {
  let document: string | undefined // made when it is first asked for: a start need not wait for it
  api.get({
    path: '/openapi.json',
    summary: 'This description',
    access: 'open',
    answer: v.looseObject({}),
    handle() {
      document ??= JSON.stringify(openapiOf(api.endpoints))
      return { body: document }
    },
  })
}

function openapiOf(endpoints: readonly AnyEndpoint[]): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'cambista',
      version: '0.1.0',
      description:
        'Exchange rates of the Banco Central de Costa Rica, and documents for AI agents. ' +
        `Served by cambista ${VERSION}.`,
    },
    paths: Object.fromEntries(
      endpoints.map((one) => [one.path, { [one.method.toLowerCase()]: operationOf(one) }]),
    ),
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'To a token of one company the agents and documents of others are not there: 404.',
        },
      },
    },
  }
}

function operationOf(endpoint: AnyEndpoint): JsonSchema {
  const { access = 'key', path } = endpoint
  const parameters = [...parametersOf('path', endpoint.params), ...parametersOf('query', endpoint.query)]
  const family = familyOf(path)
  const responses: JsonSchema = { 200: answerOf(endpoint) }
  const fails = (status: number, description: string) => {
    responses[status] = response(description, ERRORS[family])
  }
  if (endpoint.body) {
    fails(400, 'The body is not what it must be')
    fails(408, 'The body did not arrive in time')
    fails(413, 'The body is too large')
    fails(415, 'The body is in a coding that is not understood')
  }
  if (access === 'key') fails(401, 'Missing or invalid API key')
  else if (access !== 'open') {
    fails(401, 'Missing, invalid or expired token')
    fails(403, 'Token not allowed for this endpoint')
  }
  if (endpoint.notFound) fails(404, endpoint.notFound)
  if (parameters.length > 0) {
    if (family === 'rates') responses[422] = response('Invalid parameters', HTTPValidationError)
    else fails(422, 'Invalid parameters')
  }
  if (endpoint.unavailable) responses[503] = response(endpoint.unavailable, endpoint.answer)
  return {
    summary: endpoint.summary,
    operationId: path
      .replace(/^\/api\/v1\//, '')
      .replace(/\W+/g, '_')
      .replace(/^_|_$/g, ''),
    ...(access === 'open' ? {} : { security: [access === 'key' ? { apiKey: [] } : { bearer: [] }] }),
    parameters,
    ...(endpoint.body ? { requestBody: { required: true, content: json(endpoint.body) } } : {}),
    responses,
  }
}

function answerOf(endpoint: AnyEndpoint): JsonSchema {
  if (endpoint.binary) return { description: 'The bytes', content: { 'application/octet-stream': {} } }
  return response('The answer', endpoint.answer)
}

function parametersOf(where: 'path' | 'query', schema: v.GenericSchema | undefined): JsonSchema[] {
  if (!schema) return []
  const { properties = {}, required = [] } = jsonSchema(schema)
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...rest }]) => {
    // A default is the text that a client would have sent; here it has the type that is described.
    if (rest.type !== 'string' && typeof rest.default === 'string') rest.default = JSON.parse(rest.default)
    return {
      name,
      in: where,
      required: (required as string[]).includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

function response(description: string, schema: v.GenericSchema): JsonSchema {
  return { description, content: json(schema) }
}

function json(schema: v.GenericSchema): JsonSchema {
  return { 'application/json': { schema: jsonSchema(schema) } }
}

function jsonSchema(schema: v.GenericSchema): JsonSchema {
  // Checks in code (a real calendar day, a positive amount) have no JSON Schema; their descriptions say them.
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    typeMode: 'input',
    errorMode: 'ignore',
    target: 'draft-2020-12',
  })
  return rest
}
