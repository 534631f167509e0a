// npm run test:long: the long forms of tests, one file at a time, for hours. A part of them:
// npm run test:long -- test/faults/waiting.test.ts "test/engines/contents/*.test.ts"

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = /^test\/(?:faults|engines|web)\//
const OPTIONS = ['--test-global-setup=test/support/postgres/shared-server.ts', '--test-concurrency=1']

/** Returns the test files of faults, engines and page, and those elsewhere that read how long they may take. */
function longFiles(): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules'] })
  return files.filter((file) => FOLDERS.test(file) || readsScale(file)).sort()
}

function readsScale(file: string): boolean {
  return /\bCAMBISTA_TORTURE\b|\/scale\.ts'/.test(readFileSync(join(ROOT, file), 'utf8'))
}

const patterns = process.argv.slice(2)
const files = patterns.length > 0 ? globSync(patterns, { cwd: ROOT }) : longFiles()
if (files.length === 0) {
  process.stderr.write(`test:long: no file matches ${patterns.join(' ')}\n`)
  process.exit(1)
}
const { status } = spawnSync(process.execPath, ['--test', ...OPTIONS, ...files], {
  cwd: ROOT,
  env: { ...process.env, CAMBISTA_TORTURE: 'long' },
  stdio: 'inherit',
})
process.exit(status ?? 1)
