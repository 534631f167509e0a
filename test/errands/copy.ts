// The copy of the sources on which an errand is done.

import { execFile } from 'node:child_process'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { temporaryDirectory } from '../support/temporary.ts'

export const ROOT = join(import.meta.dirname, '../..')
const COPIED = ['src', 'bin', 'schema.sql', 'package.json', 'tsconfig.json']

/** A copy of what the program is made of, with the installed packages; it is gone when the test ends. */
export function copySources(t: TestContext): string {
  const copy = temporaryDirectory(t)
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** @throws when the copy does not satisfy the compiler */
export async function compile(copy: string): Promise<void> {
  const config = { extends: './tsconfig.json', include: ['src', 'bin'] }
  writeFileSync(join(copy, 'tsconfig.errands.json'), JSON.stringify(config))
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  await promisify(execFile)(tsc, ['-p', 'tsconfig.errands.json'], { cwd: copy })
}

/** The program of a copy, to be started. */
export function launcherIn(copy: string) {
  return [process.execPath, join(copy, 'bin/cambista.ts')] as const
}
