// Examples of the description: each is answered, and the shown answers are real.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openExamples, sendExamples, shownAnswer, UNSENT } from './examples.ts'

const { app, document } = await openExamples()
const answers = await sendExamples({ app, document })
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

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
    const content = exchange.operation.responses[200]?.content?.[exchange.type] as
      | { example?: unknown }
      | undefined
    assert.deepEqual(
      content?.example,
      example?.value,
      `${exchange.id}: run node test/api/openapi/examples.ts`,
    )
  }
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
  for (const { operationId, tags, responses } of operations) {
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
