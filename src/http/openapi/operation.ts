// OpenAPI of an operation: its parameters and every status of its answers.

import { baseMediaType } from '../endpoint/answers/forms.ts'
import type { Api, Credentials } from '../endpoint/api.ts'
import { type AnyEndpoint, refusesUnknown } from '../endpoint/endpoint.ts'
import { answerExample, type RequestExample, requestExample } from './examples.ts'
import { headerRefs, REQUEST_HEADERS, type ResponseHeader } from './headers.ts'
import { codeSamples } from './samples.ts'
import { type JsonSchema, jsonSchema, type Schemas } from './schemas.ts'

type Responses = Record<string, JsonSchema>

const JSON_ONLY = 'application/json'
const ANY_TYPE = '*/*'
const BYTES = { schema: { contentMediaType: 'application/octet-stream' } }
/** Errors of any request, by status. */
const COMMON_ERRORS = {
  400: 'The request is not well-formed HTTP',
  408: 'The request did not arrive in time',
  431: 'The headers are too large',
  500: 'A defect of the server: its log has the cause, under the id in X-Request-Id',
  503: 'Too much is under way, or the storage does not answer: try again in a moment',
}
/** Errors of a request with a body, by status. */
const BODY_ERRORS = {
  400: 'The body is not what it must be, or the request is not well-formed HTTP',
  413: 'The body is too large, or too much of it would have to be held in memory',
  415: 'The body is in a coding that is not understood',
}

/** Describes an endpoint. `id`: name of the operation, unique in the document. Adds its schemas to `schemas`. */
export function createOperation(endpoint: AnyEndpoint, api: Api, schemas: Schemas, id: string): JsonSchema {
  const credentials = endpoint.permission === 'open' ? undefined : api.credentials
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
    tags: [endpoint.tag ?? api.tag ?? 'Server'],
    security: credentials ? [{ [credentials.name]: [] }] : [],
    parameters: [
      ...[
        ...(endpoint.params
          ? createParameters('path', endpoint.params)
          : pathTemplateParameters(endpoint.path)),
        ...createParameters('query', endpoint.query),
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
    ...(endpoint.body ? { requestBody: requestBody(endpoint, schemas, example) } : {}),
    responses: withExamples(id, createResponses(endpoint, api, credentials, schemas)),
    ...codeSamples({ ...endpoint, credentials: credentials?.name, example }),
  }
}

/** Adds real answers to the 200 of an operation: its JSON, and those that paths with `.csv` and `.ndjson` have. */
function withExamples(id: string, responses: Responses): Responses {
  const content = responses[200]?.content as Record<string, JsonSchema> | undefined
  for (const name of [`${id}_csv`, `${id}_ndjson`, id]) {
    const example = answerExample(name)
    const described = example && content?.[example.type]
    if (described) described.example = example.value
  }
  return responses
}

function requestBody(endpoint: AnyEndpoint, schemas: Schemas, example: RequestExample) {
  const { body, bodyTypes = [JSON_ONLY], rawBody, about, summary } = endpoint
  const schema = body && schemas.of(body)
  const bodyExample = (type: string) =>
    example.body?.[type] === undefined ? {} : { example: example.body[type] }
  return {
    description: about ?? summary,
    required: true,
    content: {
      ...Object.fromEntries(bodyTypes.map((type) => [type, { schema, ...bodyExample(type) }])),
      ...(rawBody && { [ANY_TYPE]: { ...BYTES, ...bodyExample(ANY_TYPE) } }),
    },
  }
}

function createResponses(
  endpoint: AnyEndpoint,
  { errors, refusals: apiRefusals }: Api,
  credentials: Credentials | undefined,
  schemas: Schemas,
): Responses {
  const strict = refusesUnknown(endpoint)
  const unknown = strict ? ', or that this path does not have, unless its name begins with _' : ''
  const refusals: Record<string, string> = {
    ...COMMON_ERRORS,
    ...(endpoint.body ? BODY_ERRORS : {}),
    ...credentials?.refusals,
    ...apiRefusals,
    ...(endpoint.notFound ? { 404: endpoint.notFound } : {}),
    ...(endpoint.gone ? { 410: endpoint.gone } : {}),
    ...(strict || endpoint.query ? { 422: `A parameter that is invalid${unknown}` } : {}),
    ...endpoint.refusals,
  }
  const responses: Responses = { 200: successResponse(endpoint, schemas) }
  for (const [status, description] of Object.entries(endpoint.also ?? {})) {
    const headers = headerRefs([
      'X-Request-Id',
      'ETag',
      ...(status === '206' ? (['Content-Range'] as const) : []),
    ])
    const content = status === '206' ? { content: responseContent(endpoint, schemas) } : {}
    responses[status] = { description, headers, ...content }
  }
  const types = [errors.contentType ?? JSON_ONLY, ...(errors.otherTypes ?? [])].map(baseMediaType)
  for (const [status, description] of Object.entries(refusals)) {
    const schema = schemas.of((status === '422' && errors.invalid) || errors.schema)
    responses[status] = {
      description,
      headers: errorHeaders(status),
      content: Object.fromEntries(types.map((type) => [type, { schema }])),
    }
  }
  if (endpoint.unavailable) {
    const anyOf = [schemas.of(endpoint.answer), schemas.of(errors.schema)]
    const content = { [JSON_ONLY]: { schema: { anyOf } } }
    responses[503] = { description: endpoint.unavailable, headers: errorHeaders('503'), content }
  }
  return responses
}

function successResponse(endpoint: AnyEndpoint, schemas: Schemas): JsonSchema {
  const headers: ResponseHeader[] = ['X-Request-Id']
  if (endpoint.reads?.includes('If-None-Match')) headers.push('ETag', 'Age')
  if (endpoint.sends) headers.push(...endpoint.sends)
  if (endpoint.binary) headers.push('Accept-Ranges', 'Content-Disposition')
  return {
    description: 'The answer',
    headers: headerRefs(headers),
    content: responseContent(endpoint, schemas),
  }
}

function responseContent(endpoint: AnyEndpoint, schemas: Schemas): JsonSchema {
  if (endpoint.binary) return { [ANY_TYPE]: { ...BYTES } }
  const { contentTypes = [JSON_ONLY] } = endpoint
  const schema = schemas.of(endpoint.answer)
  const schemaByType = (type: string) => (type === JSON_ONLY ? { schema } : { schema: { type: 'string' } })
  return Object.fromEntries(contentTypes.map(baseMediaType).map((type) => [type, schemaByType(type)]))
}

function errorHeaders(status: string): JsonSchema {
  const headersByStatus: Record<string, ResponseHeader[]> = {
    401: ['WWW-Authenticate'],
    416: ['Content-Range'],
    429: ['Retry-After'],
    503: ['Retry-After'],
  }
  return headerRefs(['X-Request-Id', ...(headersByStatus[status] ?? [])])
}

function createParameters(where: 'path' | 'query', schema: AnyEndpoint['params']): JsonSchema[] {
  if (!schema) return []
  const { properties = {}, required = [] } = jsonSchema(schema)
  const visible = Object.entries(properties as Record<string, JsonSchema>).filter(([, one]) => !one.synonym)
  return visible.map(([name, { description, examples: _, ...rest }]) => {
    // A default is stored as the text of a URL; here it gets its described type.
    if (rest.type !== 'string' && typeof rest.default === 'string') rest.default = JSON.parse(rest.default)
    return { name, in: where, required: (required as string[]).includes(name), description, schema: rest }
  })
}

function textParameter(where: 'path' | 'query', name: string, description: string): JsonSchema {
  return { name, in: where, required: where === 'path', description, schema: { type: 'string' } }
}

/** Parameters of a path template without a schema. */
function pathTemplateParameters(path: string): JsonSchema[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return names.map((name) => textParameter('path', name, 'As that service has it'))
}
