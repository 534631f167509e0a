import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRows } from '../../../src/http/compat/rows.ts'

test('an answer of more rows than fit in memory is refused, with what to do', () => {
  checkRows(200_000)
  assert.throws(() => checkRows(200_001), { code: 'invalid', message: /ask for fewer days or currencies/ })
})
