// The examples of the description are right: each is answered, and the answers that it shows are real ones.

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

test('the description shows real answers to its examples', () => {
  for (const sent of answers) {
    const shown = shownAnswer(sent)
    const content = sent.operation.responses[200]?.content?.[sent.type] as { example?: unknown } | undefined
    assert.deepEqual(content?.example, shown?.value, `${sent.id}: run node test/api/openapi/examples.ts`)
  }
})

test('the example of /convert multiplies its own digits', () => {
  const convert = operations.find(({ operationId }) => operationId === 'convert')
  const content = convert?.responses[200]?.content?.['application/json'] as { example?: unknown } | undefined
  const example = content?.example as Record<string, string>
  assert.equal(new Set([example.amount, example.rate, example.result]).size, 3)
  assert.ok(Math.abs(Number(example.amount) * Number(example.rate) - Number(example.result)) < 1e-6)
})

test('each operation that takes required parameters has an example of each', () => {
  for (const { operationId, parameters } of operations) {
    if (operationId in UNSENT) continue
    for (const one of parameters.filter(({ required }) => required)) {
      assert.ok('example' in one, `${operationId}: ${one.name}`)
    }
  }
})

test('each answer in JSON has a named schema, but the description itself and those of other services', () => {
  for (const { operationId, tags, responses } of operations) {
    if (tags.includes('Compatibility') || operationId === 'openapi_json') continue
    const schema = responses[200]?.content?.['application/json']?.schema
    if (schema) assert.match(JSON.stringify(schema.items ?? schema), /#\/components\/schemas\//, operationId)
  }
})

test('no parameter of the description is a synonym, and no example is of a filter that may be empty', () => {
  for (const { operationId, parameters } of operations) {
    assert.ok(!parameters.some(({ name }) => name === 'dialecto'), operationId)
    for (const one of parameters) assert.ok(!('examples' in one.schema), `${operationId}: ${one.name}`)
  }
})
