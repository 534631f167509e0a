// npm run test:long: the long forms of tests, one file at a time, for hours. Each run draws a seed and prints it first:
// CAMBISTA_SEED=17 npm run test:long -- test/faults/waiting.test.ts "test/engines/contents/*.test.ts" repeats a part.

import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
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
const seed = process.env.CAMBISTA_SEED || String(randomInt(1_000_000))
process.stdout.write(`CAMBISTA_SEED=${seed}\n`)
const { status } = spawnSync(process.execPath, ['--test', ...OPTIONS, ...files], {
  cwd: ROOT,
  env: { ...process.env, CAMBISTA_TORTURE: 'long', CAMBISTA_SEED: seed },
  stdio: 'inherit',
})
process.exit(status ?? 1)
