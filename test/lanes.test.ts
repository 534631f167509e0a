// The lanes of tests: each test file is in one of them, and CONTRIBUTING lists them.

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ALONE } from './support/parts.ts'

const ROOT = join(import.meta.dirname, '..')
const OF_OTHERS = /^test\/(release|engines\/long)\// // for `npm run test:release` and `npm run test:long`

test('each test file is in one lane', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const lanes = Object.entries<string>(scripts)
    .filter(([name]) => /^test(:(?!long|release)|$)/.test(name))
    .flatMap(([, script]) =>
      [...script.matchAll(/"(test\/[^"]+\.test\.ts)"/g)].map(([, pattern = '']) => pattern),
    )
  const inLanes = lanes.flatMap((pattern) => listTests(pattern)).sort()
  assert.deepEqual(
    inLanes,
    listTests('test/**/*.test.ts').filter((file) => !OF_OTHERS.test(file)),
  )
})

test('each file with a process of its own exists', () => {
  assert.deepEqual(
    Object.keys(ALONE).filter((file) => !existsSync(join(ROOT, file))),
    [],
  )
})

function listTests(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules'] }).sort()
}

test('CONTRIBUTING lists the lanes of .ci/run with their seconds', () => {
  const script = readFileSync(join(ROOT, '.ci/run'), 'utf8')
  const lanes = [...script.matchAll(/^lane (\d+) (.*)$/gm)].map(([, seconds, command = '']) => [
    command.replace('"$machine"', 'x64'),
    seconds,
  ])
  const listed = readFileSync(join(ROOT, '.github/CONTRIBUTING.md'), 'utf8')
  const rows = [...listed.matchAll(/^\| `(npm [^`]+)` \| .* \| (\d+) \|$/gm)].map(([, ...row]) => row)
  assert.ok(lanes.length >= 5)
  assert.deepEqual(rows, lanes)
})
