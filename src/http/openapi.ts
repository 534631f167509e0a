// The API's description, made from the endpoints as they were mounted, so that it cannot drift from them.

import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { VERSION } from '../assets.ts'
import { type AnyEndpoint, type Api, freshReply } from './api.ts'

const Detail = v.object({ detail: v.string() })

const HTTPValidationError = v.object({
  detail: v.array(
    v.object({
      loc: v.array(v.union([v.string(), v.number()])),
      msg: v.string(),
      type: v.string(),
      input: v.optional(v.any()),
      ctx: v.optional(v.looseObject({})),
    }),
  ),
})

type JsonSchema = Record<string, unknown>

/** Mounts `GET /openapi.json`: OpenAPI 3.1 of everything that is mounted before it. */
export function mountOpenapi(api: Api): void {
  const document = JSON.stringify(openapiOf(api.endpoints))
  api.get({
    path: '/openapi.json',
    summary: 'This description',
    open: true,
    answer: v.looseObject({}),
    handle: () => ({ ...freshReply(null), body: document }),
  })
}

function openapiOf(endpoints: readonly AnyEndpoint[]): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'cambista',
      version: '0.1.0',
      description: `Exchange rates of the Banco Central de Costa Rica. Served by cambista ${VERSION}.`,
    },
    paths: Object.fromEntries(endpoints.map((endpoint) => [endpoint.path, { get: operationOf(endpoint) }])),
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    },
  }
}

function operationOf(endpoint: AnyEndpoint): JsonSchema {
  const parameters = [...parametersOf('path', endpoint.params), ...parametersOf('query', endpoint.query)]
  const responses: JsonSchema = { 200: response('The answer', endpoint.answer) }
  if (!endpoint.open) responses[401] = response('Missing or invalid API key', Detail)
  if (endpoint.notFound) responses[404] = response(endpoint.notFound, Detail)
  if (parameters.length > 0) responses[422] = response('Invalid parameters', HTTPValidationError)
  return {
    summary: endpoint.summary,
    operationId: endpoint.path
      .replace(/^\/api\/v1\//, '')
      .replace(/\W+/g, '_')
      .replace(/^_|_$/g, ''),
    ...(endpoint.open ? {} : { security: [{ apiKey: [] }] }),
    parameters,
    responses,
  }
}

function parametersOf(where: 'path' | 'query', schema: v.GenericSchema | undefined): JsonSchema[] {
  if (!schema) return []
  const { properties = {}, required = [] } = jsonSchema(schema)
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: (required as string[]).includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }))
}

function response(description: string, schema: v.GenericSchema): JsonSchema {
  return { description, content: { 'application/json': { schema: jsonSchema(schema) } } }
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
