// A piece of program in a process of its own, for what only two processes show: locks, races, kills.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')

/**
 * Runs ES module text at the project's root, and waits for the first line that it prints; it is killed when the test
 * ends. One that ends without a line is an error at once: nobody waits for it.
 */
export async function startOther(
  t: Pick<TestContext, 'after'>,
  program: string,
): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  for await (const said of createInterface({ input: child.stdout })) return { child, said }
  throw new Error(`a process ended without a word: ${program}`)
}
