// The description of the APIs, made from their endpoints, so that it cannot drift from them.

import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { VERSION } from '../../assets.ts'
import { namesOf, PROVIDERS } from '../../providers/list.ts'
import type { Api } from './api.ts'
import { type AnyEndpoint, get, refusesUnknown } from './endpoint.ts'

type JsonSchema = Record<string, unknown>

/** `GET /openapi.json`: OpenAPI 3.1 of the APIs. */
export function openapiEndpoint(apis: () => readonly Api[]): AnyEndpoint {
  let document: string | undefined // made when it is first asked for: a start need not wait for it
  return get({
    path: '/openapi.json',
    summary: 'This description',
    open: true,
    answer: v.looseObject({}),
    handle() {
      document ??= JSON.stringify(openapiOf(apis()))
      return { body: document }
    },
  })
}

function openapiOf(apis: readonly Api[]): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'cambista',
      version: '0.1.0',
      description:
        `Exchange rates of the ${namesOf(PROVIDERS)}, and documents for AI agents. ` +
        `Served by cambista ${VERSION}.`,
    },
    paths: pathsOf(apis),
    components: {
      securitySchemes: Object.fromEntries(
        apis.flatMap(({ credentials }) => (credentials ? [[credentials.name, credentials.scheme]] : [])),
      ),
    },
  }
}

function pathsOf(apis: readonly Api[]): JsonSchema {
  const paths = new Map<string, JsonSchema>()
  for (const api of apis) {
    for (const endpoint of api.endpoints) {
      const operations = paths.getOrInsertComputed(endpoint.path, () => ({}))
      operations[endpoint.method.toLowerCase()] = operationOf(endpoint, api)
    }
  }
  return Object.fromEntries(paths)
}

function operationOf(endpoint: AnyEndpoint, { credentials, errors }: Api): JsonSchema {
  const { path } = endpoint
  const needed = endpoint.open ? undefined : credentials
  const parameters = [...parametersOf('path', endpoint.params), ...parametersOf('query', endpoint.query)]
  const responses: JsonSchema = { 200: answerOf(endpoint) }
  const fails = (status: number, description: string) => {
    responses[status] = response(description, errors.schema)
  }
  if (endpoint.body) {
    fails(400, 'The body is not what it must be')
    fails(408, 'The body did not arrive in time')
    fails(413, 'The body is too large, or too much of it would have to be held in memory')
    fails(415, 'The body is in a coding that is not understood')
  }
  for (const [status, words] of Object.entries(needed?.refusals ?? {})) fails(Number(status), words)
  if (endpoint.notFound) fails(404, endpoint.notFound)
  if (endpoint.gone) fails(410, endpoint.gone)
  const strict = refusesUnknown(endpoint)
  if (strict || endpoint.query) {
    const unknown = strict ? ', or that this path does not have, unless its name begins with _' : ''
    responses[422] = response(`A parameter that is invalid${unknown}`, errors.invalid)
  }
  if (endpoint.unavailable) responses[503] = response(endpoint.unavailable, endpoint.answer)
  return {
    summary: endpoint.summary,
    operationId: path
      .replace(/^\/api\/v1\//, '')
      .replace(/\W+/g, '_')
      .replace(/^_|_$/g, ''),
    ...(needed ? { security: [{ [needed.name]: [] }] } : {}),
    parameters,
    ...(endpoint.body ? { requestBody: { required: true, content: json(endpoint.body) } } : {}),
    responses,
  }
}

function answerOf(endpoint: AnyEndpoint): JsonSchema {
  if (endpoint.binary) return { description: 'The bytes', content: { 'application/octet-stream': {} } }
  const { contentTypes = ['application/json'] } = endpoint
  const schema = jsonSchema(endpoint.answer)
  const described = contentTypes.map((type) => [type, type === 'application/json' ? { schema } : {}])
  return { description: 'The answer', content: Object.fromEntries(described) }
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
