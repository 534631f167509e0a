// Retry-After of errors: the seconds that an error names, else the default of a 503.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { APILAYER_ERRORS } from '../../../../src/http/compat/keyed/apilayer.ts'
import { OXR_ERRORS } from '../../../../src/http/compat/keyed/oxr.ts'
import { DOCUMENTS_ERRORS } from '../../../../src/http/documents/documents-errors.ts'
import { type ErrorShape, errorAnswer } from '../../../../src/http/endpoint/error-shape.ts'
import { RATES_ERRORS } from '../../../../src/http/figures/rates-errors.ts'
import { AppError, type ErrorCode } from '../../../../src/runtime/errors.ts'

const SRC = join(import.meta.dirname, '../../../../src')
const SHAPES: [string, ErrorShape][] = [
  ['rates', RATES_ERRORS],
  ['documents', DOCUMENTS_ERRORS],
  ['OXR', OXR_ERRORS],
  ['currencylayer', APILAYER_ERRORS],
]
const CODES = [
  ...readFileSync(join(SRC, 'runtime/errors.ts'), 'utf8')
    .split('\n\n')
    .filter((block) => block.startsWith('export type ErrorCode'))
    .join()
    .matchAll(/\| '([\w-]+)'/g),
].map(([, code]) => code as ErrorCode)

/** Files that may write the head of an answer. */
const WRITERS = {
  'http/endpoint/answers/chunks.ts': 1, // headers that send.ts passed
  'http/endpoint/answers/send.ts': 2,
  'http/repeats.ts': 1, // headers that send.ts wrote
  'http/server.ts': 1, // a 500
  'http/waiting.ts': 1, // a 200, or errorAnswer
}

test('Retry-After is set on the 503 of every code, in every face, and on no other status', () => {
  let count503 = 0
  for (const code of CODES) {
    for (const [shape, errors] of SHAPES) {
      const { status, headers } = errorAnswer(new AppError(code, 'Something'), errors)
      assert.equal(headers['retry-after'], status === 503 ? '5' : undefined, `${shape}: ${code}`)
      if (status === 503) count503 += 1
    }
  }
  assert.equal(count503, 2 * SHAPES.length, 'busy and unavailable')
})

test('Retry-After is the number that an error names, in whole seconds and at least one', () => {
  for (const [retryAfter, sent] of [
    [3600, '3600'],
    [0.2, '1'],
    [0, '1'],
    [61.4, '62'],
  ] as const) {
    const error = new AppError('unavailable', 'Not yet', { retryAfter })
    assert.equal(errorAnswer(error, RATES_ERRORS).headers['retry-after'], sent)
  }
  const error = new AppError('too-many', 'Too many', { retryAfter: 60 })
  assert.equal(errorAnswer(error, RATES_ERRORS).headers['retry-after'], '60', 'of any status')
})

test('heads of answers are written only where Retry-After is added to a 503', () => {
  const writers: Record<string, number> = {}
  for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' })) {
    if (!file.startsWith('http/') || !file.endsWith('.ts')) continue
    const text = readFileSync(join(SRC, file), 'utf8')
    const calls = text.match(/\.writeHead\(|\.statusCode = |new (Fast)?Response\((?!null\))/g) ?? []
    if (calls.length > 0) writers[file] = calls.length
  }
  assert.deepEqual(writers, WRITERS)
})
