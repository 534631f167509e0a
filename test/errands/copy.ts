// Copies the sources, so that an errand can change them.

import { execFile } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { LONG } from '../faults/scale.ts'
import { temporaryDirectory } from '../support/temporary.ts'

export const ROOT = join(import.meta.dirname, '../..')
/**
 * Tests that an errand could break. `npm run test:long` runs the whole fast lane except the test of dependencies, which
 * needs the real paths of packages: a copy has links.
 */
export const TESTS = LONG
  ? ['test/!(dependencies).test.ts', 'test/!(e2e|faults|clients|web|engines|release|errands)/**/*.test.ts']
  : [
      'test/{start,bundle,readme,manual-spanish,architecture}.test.ts',
      'test/unit/cli/{help/language,help/spanish,progress,command-line,commands/completion,commands/rates/exchange}.test.ts',
    ]
const SOURCES = ['src', 'bin', 'schema.sql', 'package.json', 'tsconfig.json']

/** Copies the sources of the program, with the installed packages; the copy is removed when the test ends. */
export function copySources(t: TestContext): string {
  return createCopy(t, SOURCES)
}

/** Copies the whole repository in the same way, its tests included. */
export function copyRepository(t: TestContext): string {
  const names = readdirSync(ROOT).filter((name) => !['.git', 'node_modules', 'dist'].includes(name))
  const copy = createCopy(t, names)
  chmodSync(copy, 0o755) // a test becomes another user, who reads schema.sql
  return copy
}

function createCopy(t: TestContext, names: readonly string[]): string {
  const copy = temporaryDirectory(t)
  const filter = (path: string) => basename(path) !== 'node_modules'
  for (const name of names) cpSync(join(ROOT, name), join(copy, name), { recursive: true, filter })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** @throws with the errors as `stdout` when the copy does not satisfy the compiler */
export async function compile(copy: string): Promise<void> {
  const config = { extends: './tsconfig.json', include: ['src', 'bin'] }
  writeFileSync(join(copy, 'tsconfig.errands.json'), JSON.stringify(config))
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  await promisify(execFile)(tsc, ['-p', 'tsconfig.errands.json'], { cwd: copy })
}

/** Runs test files of a copy. @throws with the report when one fails */
export async function runTests(copy: string, patterns: readonly string[]): Promise<void> {
  // Without the first the copy would report to this run; its tests have their short forms.
  const { NODE_TEST_CONTEXT: _, CAMBISTA_TORTURE: __, ...env } = process.env
  const args = ['--test', '--test-concurrency=2', '--test-reporter=dot', ...patterns]
  const options = { cwd: copy, env, maxBuffer: 64 * 1024 ** 2 }
  await promisify(execFile)(process.execPath, args, options).catch((error: { stdout?: string }) => {
    throw new Error(`tests of the copy fail:\n${error.stdout}`, { cause: error })
  })
}

/** The program of a copy, to be started. */
export function copyLauncher(copy: string) {
  return [process.execPath, join(copy, 'bin/cambista.ts')] as const
}
