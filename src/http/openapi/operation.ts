// One operation: what it takes, and every status that it is ever answered with.

import type { Api, Credentials } from '../api/api.ts'
import { type AnyEndpoint, refusesUnknown } from '../api/endpoint.ts'
import { mediaTypeOf } from '../api/forms.ts'
import { answerExample, type RequestExample, requestExample } from './examples.ts'
import { REQUEST_HEADERS, type ResponseHeader, refsOf } from './headers.ts'
import { type JsonSchema, jsonSchema, type Schemas } from './schemas.ts'

type Responses = Record<string, JsonSchema>

const JSON_ONLY = 'application/json'
const BYTES = { '*/*': { schema: { contentMediaType: 'application/octet-stream' } } }
/** What any request may be answered with, whatever it asks for. */
const ALWAYS = {
  400: 'The request is not well-formed HTTP',
  408: 'The request did not arrive in time',
  431: 'The headers are too large',
  500: 'A defect of the server: its log has the cause, under the id in X-Request-Id',
  503: 'Too much is under way, or the storage does not answer: try again in a moment',
}
const OF_BODIES = {
  400: 'The body is not what it must be, or the request is not well-formed HTTP',
  413: 'The body is too large, or too much of it would have to be held in memory',
  415: 'The body is in a coding that is not understood',
}

export function operationOf(endpoint: AnyEndpoint, api: Api, schemas: Schemas, id: string): JsonSchema {
  const needed = endpoint.open ? undefined : api.credentials
  const { summary, about = summary } = endpoint
  const example = requestExample(endpoint.path, endpoint.method)
  const withExample = (parameter: JsonSchema) => {
    const value = example.parameters[String(parameter.name)]
    return value === undefined ? parameter : { ...parameter, example: value }
  }
  return {
    operationId: id,
    summary,
    description: about,
    tags: [endpoint.tag ?? api.tag ?? 'Operation'],
    security: needed ? [{ [needed.name]: [] }] : [],
    parameters: [
      ...[
        ...(endpoint.params ? parametersOf('path', endpoint.params) : namedIn(endpoint.path)),
        ...parametersOf('query', endpoint.query),
        ...Object.entries(endpoint.takes ?? {}).map(([name, description]) =>
          textParameter('query', name, description),
        ),
      ].map(withExample),
      ...(endpoint.reads ?? []).map((name) => ({
        name,
        in: 'header',
        required: false,
        ...REQUEST_HEADERS[name],
      })),
    ],
    ...(endpoint.body ? { requestBody: bodyOf(endpoint, schemas, example) } : {}),
    responses: withAnswer(id, responsesOf(endpoint, api, needed, schemas)),
  }
}

/** The real answer to the example of an operation, in its 200. */
function withAnswer(id: string, responses: Responses): Responses {
  const example = answerExample(id)
  const content = responses[200]?.content as Record<string, JsonSchema> | undefined
  const described = example && content?.[example.type]
  if (described) described.example = example.value
  return responses
}

function bodyOf(endpoint: AnyEndpoint, schemas: Schemas, example: RequestExample) {
  const { body, bodyTypes = [JSON_ONLY], rawBody, about, summary } = endpoint
  const schema = body && schemas.of(body)
  const exampleOf = (type: string) =>
    example.body?.[type] === undefined ? {} : { example: example.body[type] }
  return {
    description: about ?? summary,
    required: true,
    content: {
      ...Object.fromEntries(bodyTypes.map((type) => [type, { schema, ...exampleOf(type) }])),
      ...(rawBody ? BYTES : {}),
    },
  }
}

function responsesOf(
  endpoint: AnyEndpoint,
  { errors, refusals: common }: Api,
  needed: Credentials | undefined,
  schemas: Schemas,
): Responses {
  const strict = refusesUnknown(endpoint)
  const unknown = strict ? ', or that this path does not have, unless its name begins with _' : ''
  const refusals: Record<string, string> = {
    ...ALWAYS,
    ...(endpoint.body ? OF_BODIES : {}),
    ...needed?.refusals,
    ...common,
    ...(endpoint.notFound ? { 404: endpoint.notFound } : {}),
    ...(endpoint.gone ? { 410: endpoint.gone } : {}),
    ...(strict || endpoint.query ? { 422: `A parameter that is invalid${unknown}` } : {}),
    ...endpoint.refusals,
  }
  const responses: Responses = { 200: answerOf(endpoint, schemas) }
  for (const [status, description] of Object.entries(endpoint.also ?? {})) {
    const headers = refsOf([
      'X-Request-Id',
      'ETag',
      ...(status === '206' ? (['Content-Range'] as const) : []),
    ])
    const content = status === '206' ? { content: contentOf(endpoint, schemas) } : {}
    responses[status] = { description, headers, ...content }
  }
  const types = [errors.contentType ?? JSON_ONLY, ...(errors.otherTypes ?? [])].map(mediaTypeOf)
  for (const [status, description] of Object.entries(refusals)) {
    const schema = schemas.of(status === '422' ? errors.invalid : errors.schema)
    responses[status] = {
      description,
      headers: headersOf(status),
      content: Object.fromEntries(types.map((type) => [type, { schema }])),
    }
  }
  if (endpoint.unavailable) {
    const anyOf = [schemas.of(endpoint.answer), schemas.of(errors.schema)]
    const content = { [JSON_ONLY]: { schema: { anyOf } } }
    responses[503] = { description: endpoint.unavailable, headers: headersOf('503'), content }
  }
  return responses
}

function answerOf(endpoint: AnyEndpoint, schemas: Schemas): JsonSchema {
  const headers: ResponseHeader[] = ['X-Request-Id']
  if (endpoint.reads?.includes('If-None-Match')) headers.push('ETag', 'Age')
  if (endpoint.sends) headers.push(...endpoint.sends)
  if (endpoint.binary) headers.push('Accept-Ranges', 'Content-Disposition')
  return { description: 'The answer', headers: refsOf(headers), content: contentOf(endpoint, schemas) }
}

function contentOf(endpoint: AnyEndpoint, schemas: Schemas): JsonSchema {
  if (endpoint.binary) return BYTES
  const { contentTypes = [JSON_ONLY] } = endpoint
  const schema = schemas.of(endpoint.answer)
  const ofType = (type: string) => (type === JSON_ONLY ? { schema } : { schema: { type: 'string' } })
  return Object.fromEntries(contentTypes.map(mediaTypeOf).map((type) => [type, ofType(type)]))
}

function headersOf(status: string): JsonSchema {
  const own: Record<string, ResponseHeader[]> = {
    401: ['WWW-Authenticate'],
    416: ['Content-Range'],
    429: ['Retry-After'],
    503: ['Retry-After'],
  }
  return refsOf(['X-Request-Id', ...(own[status] ?? [])])
}

function parametersOf(where: 'path' | 'query', schema: AnyEndpoint['params']): JsonSchema[] {
  if (!schema) return []
  const { properties = {}, required = [] } = jsonSchema(schema)
  const shown = Object.entries(properties as Record<string, JsonSchema>).filter(([, one]) => !one.synonym)
  return shown.map(([name, { description, examples: _, ...rest }]) => {
    // A default is the text that a client would have sent; here it has the type that is described.
    if (rest.type !== 'string' && typeof rest.default === 'string') rest.default = JSON.parse(rest.default)
    return { name, in: where, required: (required as string[]).includes(name), description, schema: rest }
  })
}

function textParameter(where: 'path' | 'query', name: string, description: string): JsonSchema {
  return { name, in: where, required: where === 'path', description, schema: { type: 'string' } }
}

/** The parameters in a path that no schema describes. */
function namedIn(path: string): JsonSchema[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return names.map((name) => textParameter('path', name, 'As that service has it'))
}
