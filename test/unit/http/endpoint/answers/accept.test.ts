// The form that an Accept header chooses (RFC 9110, 12.4.2; decisions#caching).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptsCoding } from '../../../../../src/http/endpoint/answers/accept.ts'
import { type Form, type Forms, negotiateForm } from '../../../../../src/http/endpoint/answers/forms.ts'

const form = (name: string, contentType: string): Form<unknown, unknown> => ({
  ...{ name, contentType },
  encode: () => '',
})
const FORMS: Forms<unknown, unknown> = [
  form('json', 'application/json; charset=utf-8'),
  form('csv', 'text/csv; charset=utf-8'),
  form('ndjson', 'application/x-ndjson; charset=utf-8'),
]

const cases: [accept: string | null, name: string][] = [
  [null, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['text/csv', 'csv'],
  ['TEXT/CSV', 'csv'],
  ['text/csv;charset=utf-8', 'csv'],
  ['text/csv;q=0', 'json'],
  ['text/csv; q=0.000', 'json'],
  ['text/csv, */*', 'csv'],
  ['*/*, text/csv', 'csv'],
  ['text/csv, application/json', 'csv'],
  ['application/json, text/csv', 'json'],
  ['text/csv;q=0.5, application/json', 'json'],
  ['application/json;q=0.5, text/csv', 'csv'],
  ['application/json;q=0.5, */*', 'csv'],
  ['application/json;q=0, */*', 'csv'],
  ['application/json;q=0, text/csv;q=0, */*;q=0.1', 'ndjson'],
  ['application/json;q=0, text/csv;q=0, application/x-ndjson;q=0', 'json'],
  ['*/*;q=0', 'json'],
  ['text/*', 'csv'],
  ['text/*;q=0, */*', 'json'],
  ['text/*;q=0.9, text/csv;q=0.1, application/json;q=0.5', 'json'],
  ['application/*, text/csv;q=0.9', 'json'],
  ['application/*;q=0.1, text/csv;q=0.2', 'csv'],
  ['application/x-ndjson;q=0.4, text/csv;q=0.3', 'ndjson'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
  ['image/png', 'json'],
  ['text/csv;q=nonsense', 'csv'],
  ['text/csv;q=7, application/json', 'csv'],
  [';,;q=1,,', 'json'],
]
for (const [accept, name] of cases) {
  test(`negotiateForm gives ${name} for Accept: ${accept}`, () =>
    assert.equal(negotiateForm(accept, FORMS).name, name))
}

test('negotiateForm gives the first form of an endpoint without JSON if none is acceptable', () => {
  const forms: Forms<unknown, unknown> = [
    FORMS[1] as Form<unknown, unknown>,
    FORMS[2] as Form<unknown, unknown>,
  ]
  assert.equal(negotiateForm('application/json', forms).name, 'csv')
  assert.equal(negotiateForm('text/csv;q=0, application/x-ndjson', forms).name, 'ndjson')
})

test('acceptsCoding reads the quality of a coding', () => {
  for (const [header, accepted] of [
    ['gzip', true],
    ['br, GZIP;q=0.5', true],
    ['gzip;q=0', false],
    ['gzip; q=0.0', false],
    ['identity', false],
    [null, false],
  ] as const) {
    assert.equal(acceptsCoding(header, 'gzip'), accepted, String(header))
  }
})
