import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRowCount } from '../../../../src/http/compat/rows.ts'

test('an answer of more rows than fit in memory is rejected, with a remedy', () => {
  checkRowCount(200_000)
  assert.throws(() => checkRowCount(200_001), {
    code: 'invalid',
    message: /ask for fewer days or currencies/,
  })
})
