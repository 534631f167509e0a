// Reads an OpenAPI description: the schemas of an operation, and the validation of answers by them.

import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { ROUTES } from '../../../src/http/routes.ts'

export type Schema = Record<string, unknown> & {
  $ref?: string
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
}
export type Parameter = { name: string; in: string; required: boolean; description?: string; schema: Schema }
export type DescribedResponse = {
  description: string
  headers?: Record<string, unknown>
  content?: Record<string, { schema?: Schema }>
}
export type Operation = {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, DescribedResponse>
  'x-codeSamples'?: { lang: string; label: string; source: string }[]
}
export type Document = {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, unknown> }
}

export type Description = {
  document: Document
  /** A schema, with a reference replaced by its named schema. */
  resolveSchema(schema: Schema): Schema
  /** Compiles a schema of the document. */
  compileSchema(schema: Schema): ValidateFunction
  operation(path: string, method?: string): Operation
  /** The schema of a JSON answer. */
  answerSchema(path: string, status: number, method?: string): Schema
  /** @throws AssertionError if the answer does not match its description */
  checkAnswer(path: string, method: string, answer: { status: number; type: string; body: string }): void
}

const FORMS: readonly { ending: string; type: string; name: string; foreign: readonly string[] }[] = [
  { ending: '.csv', type: 'text/csv', name: 'CSV', foreign: [] },
  { ending: '.ndjson', type: 'application/x-ndjson', name: 'NDJSON', foreign: ['decimal', 'dialect', 'sep'] },
]
const NAMED = '#/components/schemas/'

export function readDescription(document: Document): Description {
  const ajv = new Ajv2020({ strict: false, formats: { date: isDate, 'date-time': isInstant } })
  ajv.addSchema({ $id: 'document', components: document.components }, 'document')
  const checks = new Map<Schema, ValidateFunction>()
  const absolute = (schema: Schema) =>
    JSON.parse(JSON.stringify(schema).replaceAll(`"${NAMED}`, `"document${NAMED}`))
  const compiled = (schema: Schema) => checks.getOrInsertComputed(schema, () => ajv.compile(absolute(schema)))
  const operation = (path: string, method = 'get') =>
    document.paths[path]?.[method] ?? assert.fail(`${method} ${path} is not described`)
  return {
    document,
    compileSchema: compiled,
    operation,
    resolveSchema: (schema) =>
      (schema.$ref ? document.components.schemas[schema.$ref.slice(NAMED.length)] : schema) ??
      assert.fail(schema.$ref),
    answerSchema: (path, status, method) =>
      operation(path, method).responses[status]?.content?.['application/json']?.schema ??
      assert.fail(`${status} of ${path} is not described`),
    checkAnswer(path, method, { status, type, body }) {
      const about = `${method} ${path}: ${status} ${type} ${body.slice(0, 300)}`
      const response = operation(path, method).responses[status] ?? assert.fail(`not described: ${about}`)
      if (response.content === undefined) return assert.equal(body, '', about)
      const [mediaType = ''] = type.split(';', 1)
      const content =
        response.content[mediaType] ?? response.content['*/*'] ?? assert.fail(`another type: ${about}`)
      if (mediaType !== 'application/json' || !content.schema) return
      const check = compiled(content.schema)
      assert.ok(check(JSON.parse(body)), `${JSON.stringify(check.errors)}: ${about}`)
    },
  }
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}

function isInstant(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) && !Number.isNaN(Date.parse(text))
}

/** Reads both descriptions of a server as one. */
export async function readDocuments(url: string): Promise<Document> {
  const read = async (path: string) => (await (await fetch(url + path)).json()) as Document
  const [own, compat] = [await read('/openapi.json'), await read('/openapi-compat.json')]
  const merge = <K extends keyof Document['components']>(kind: K) => ({
    ...compat.components[kind],
    ...own.components[kind],
  })
  const components = {
    ...own.components,
    ...{ schemas: merge('schemas'), securitySchemes: merge('securitySchemes') },
  }
  return { ...own, paths: { ...own.paths, ...compat.paths }, components }
}

/** The same with the paths of tables in one form, which no description has. */
export async function readAllPaths(url: string): Promise<Document> {
  const document = await readDocuments(url)
  const paths = { ...document.paths }
  for (const [path, { get }] of Object.entries(document.paths)) {
    for (const { ending, type, name, foreign } of FORMS) {
      const content = get?.responses[200]?.content?.[type]
      if (!get || !content || path + ending in paths || !(`GET ${path}${ending}` in ROUTES)) continue
      const answer = { description: '', content: { [type]: content } }
      const responses = { ...get.responses, 200: answer }
      const { 'x-codeSamples': _, ...described } = get
      const changes = {
        operationId: get.operationId + ending.replace('.', '_'),
        summary: `${get.summary}: ${name}`,
        parameters: get.parameters.filter((one) => !foreign.includes(one.name)),
        responses,
      }
      paths[path + ending] = { get: { ...described, ...changes } }
    }
  }
  return { ...document, paths }
}
