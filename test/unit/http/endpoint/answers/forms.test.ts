import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Forms, jsonForm, negotiateForm } from '../../../../../src/http/endpoint/answers/forms.ts'

const FORMS: Forms<number, undefined> = [
  jsonForm((value) => JSON.stringify(value)),
  { name: 'csv', contentType: 'text/csv; charset=utf-8', encode: (value) => `value\n${value}\n` },
  { name: 'ndjson', contentType: 'application/x-ndjson', encode: (value) => `${value}\n` },
]

for (const [accept, name] of [
  [null, 'json'],
  ['*/*', 'json'],
  ['text/html,application/xhtml+xml;q=0.9', 'json'],
  ['text/csv', 'csv'],
  ['TEXT/CSV; header=present, */*;q=0.1', 'csv'],
  ['application/x-ndjson,application/json', 'ndjson'],
  ['application/json,text/csv', 'json'],
] as const) {
  test(`a client that accepts ${accept ?? 'any form'} gets ${name}`, () => {
    assert.equal(negotiateForm(accept, FORMS).name, name)
  })
}
