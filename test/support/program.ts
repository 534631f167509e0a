// The program as a process of its own, for what only a process shows: signals, exit codes, users, ps.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { until } from './terminal.ts'

const ENTRY = join(import.meta.dirname, 'cambista.ts')
const SOURCES = [process.execPath, ENTRY] as const
const { PATH, NODE_COMPILE_CACHE } = process.env
const COMMON = { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) } // of which a start takes half the time

export type Program = {
  child: ChildProcessWithoutNullStreams
  printed: { out: string; err: string }
  /** Waits for a text on stdout or stderr. */
  says(text: RegExp, withinMs?: number): Promise<RegExpExecArray>
  /** Waits for the end: the exit code, or the signal that killed it. */
  ended(): Promise<number | string>
}

/** Starts `cambista` with these words, from its sources unless told; it is killed when the test ends. */
export function startProgram(
  t: Pick<TestContext, 'after'>,
  words: string[],
  env: Record<string, string> = {},
  [command, ...before]: readonly [string, ...string[]] = SOURCES,
): Program {
  const child = spawn(command, [...before, ...words], { env: { ...COMMON, ...env } })
  t.after(() => child.kill('SIGKILL'))
  const printed = { out: '', err: '' }
  child.stdout.on('data', (data) => {
    printed.out += data
  })
  child.stderr.on('data', (data) => {
    printed.err += data
  })
  const end = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  return {
    child,
    printed,
    ended: () => end,
    async says(text, withinMs) {
      const found = () => text.exec(printed.out) ?? text.exec(printed.err)
      await until(() => found() !== null || child.exitCode !== null, withinMs)
      const match = found()
      if (!match) throw new Error(`it ended without saying ${text}: ${printed.out}${printed.err}`)
      return match
    },
  }
}
