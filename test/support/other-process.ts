// A script in a process of its own: locks, races and kills need two processes.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')

/**
 * Runs ES module text in the root of the project, and waits for its first line of output. The process is killed when
 * the test ends. @throws if it exits without a line
 */
export async function startScript(
  t: Pick<TestContext, 'after'>,
  program: string,
): Promise<{ child: ChildProcess; firstLine: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  for await (const firstLine of createInterface({ input: child.stdout })) return { child, firstLine }
  throw new Error(`a process ended without a word: ${program}`)
}
