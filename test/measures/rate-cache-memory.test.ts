// Memory of the read model: all 47 columns with a value for each day since 1983, in a separate process.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryDirectory } from '../support/temporary.ts'

const LIMIT_MB = 60

test('the columns of all currencies since 1983 take less than 60 MB', async (t) => {
  const program = join(import.meta.dirname, '../support/rates/measure-rate-cache.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    program,
    temporaryDirectory(t),
  ])
  const { values, megabytes } = JSON.parse(stdout) as { values: number; megabytes: number }
  t.diagnostic(`${values} values in ${megabytes.toFixed(1)} MB`)
  assert.ok(values > 740_000, `${values} values`)
  assert.ok(megabytes < LIMIT_MB * 0.9, `${megabytes} MB, too near to ${LIMIT_MB}`)
})
