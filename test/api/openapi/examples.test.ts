// Examples of the description: each is answered, and the shown answers are real.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOKENS } from '../../support/directory.ts'
import type { Document } from './description.ts'
import { openExamples, sendExamples, UNSENT } from './examples.ts'
import { describedType, shownAnswer } from './requests.ts'

const { app, document } = await openExamples()
const answers = await sendExamples({ app, document })
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
const { paths } = await app.json<Document>('/openapi.json')
const ownOperations = Object.values(paths).flatMap((methods) => Object.values(methods))

test('each example of the description is answered with 200 and content', () => {
  assert.equal(answers.length, operations.length - Object.keys(UNSENT).length)
  for (const { id, status, text } of answers) {
    assert.equal(status, 200, `${id}: ${text.slice(0, 300)}`)
    assert.doesNotMatch(text, /^(\s*|\[\]|\{\})$/, id)
    assert.doesNotMatch(text, /"(points|rates|series|documents|revisions)":\[\]/, id)
  }
})

test('the description has real answers to its examples', () => {
  for (const exchange of answers) {
    const example = shownAnswer(exchange)
    const content = exchange.operation.responses[200]?.content?.[describedType(exchange)] as
      | { example?: unknown }
      | undefined
    assert.deepEqual(
      content?.example,
      example?.value,
      `${exchange.id}: run node test/api/openapi/examples.ts`,
    )
  }
})

test('each JSON request and answer of the reference has an example, and so has each table in CSV and NDJSON', () => {
  for (const { operationId, requestBody, responses } of ownOperations) {
    const contents = { ...responses[200]?.content }
    const isTicket = operationId === 't_ticket' // a ticket is for one of several media types
    for (const [type, content] of Object.entries({ ...requestBody?.content, ...(!isTicket && contents) }))
      assert.ok('example' in content, `${operationId}: ${type}`)
  }
})

test('each operation of the reference has a command, except those with the cookie of the page', () => {
  const without = ownOperations.filter((one) => !('x-codeSamples' in one))
  assert.deepEqual(without.map(({ operationId }) => operationId).sort(), [
    'delete_session',
    'get_session',
    'session',
    'session_code',
    'session_ticket',
    't_ticket',
  ])
})

test('the form of an upload is answered as its example describes it', async () => {
  const { requestBody } = operations.find(({ operationId }) => operationId === 'documents') ?? {}
  const content = requestBody?.content['multipart/form-data'] as { example?: object } | undefined
  const { file = [], ...ids }: { file?: string[] } = content?.example ?? {}
  const form = new FormData()
  for (const [name, value] of Object.entries(ids)) form.set(name, String(value))
  for (const text of file) form.append('file', new Blob([text], { type: 'text/plain' }), 'nota.txt')
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  const reply = await fetch(`${app.app.url}/api/v1/documents`, { method: 'POST', headers, body: form })
  assert.equal(reply.status, 200, await reply.text())
})

test('the example of /convert multiplies its own digits', () => {
  const convert = operations.find(({ operationId }) => operationId === 'convert')
  const content = convert?.responses[200]?.content?.['application/json'] as { example?: unknown } | undefined
  const example = content?.example as Record<string, string>
  assert.equal(new Set([example.amount, example.rate, example.result]).size, 3)
  assert.ok(Math.abs(Number(example.amount) * Number(example.rate) - Number(example.result)) < 1e-6)
})

test('each operation with required parameters has an example of each', () => {
  for (const { operationId, parameters } of operations) {
    if (operationId in UNSENT) continue
    for (const one of parameters.filter(({ required }) => required)) {
      assert.ok('example' in one, `${operationId}: ${one.name}`)
    }
  }
})

test('each JSON answer has a named schema, except the description itself and those of other services', () => {
  for (const { operationId, tags, responses } of ownOperations) {
    if (tags.includes('Compatibility') || operationId === 'openapi_json') continue
    const schema = responses[200]?.content?.['application/json']?.schema
    if (schema) assert.match(JSON.stringify(schema.items ?? schema), /#\/components\/schemas\//, operationId)
  }
})

test('no parameter of the description is a synonym, and no example has a filter that may match nothing', () => {
  for (const { operationId, parameters } of operations) {
    assert.ok(!parameters.some(({ name }) => name === 'dialecto'), operationId)
    for (const one of parameters) assert.ok(!('examples' in one.schema), `${operationId}: ${one.name}`)
  }
})
