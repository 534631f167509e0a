// The program in a process of its own, for signals, exit codes, users and ps.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { until } from './terminal.ts'

const ENTRY = join(import.meta.dirname, 'cambista.ts')
const SOURCES = [process.execPath, ENTRY] as const
const PASSED_ON = /^(PATH|NODE_COMPILE_CACHE|LD_PRELOAD|FAKETIME\w*)$/
/** Environment of a program under test. The compile cache halves its start; `faketime` sets its clock. */
export const PROGRAM_ENV: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).filter((entry): entry is [string, string] => PASSED_ON.test(entry[0])),
)

export type Program = {
  child: ChildProcessWithoutNullStreams
  printed: { out: string; err: string }
  /** Waits for a text on stdout or stderr. @throws if the program exits before */
  waitForOutput(text: RegExp, withinMs?: number): Promise<RegExpExecArray>
  /** Waits for the exit code, or for the signal that killed the process. */
  waitForExit(): Promise<number | string>
}

/** Starts `cambista` with these arguments, by default from its sources. Killed when the test ends. */
export function startProgram(
  t: Pick<TestContext, 'after'>,
  words: string[],
  env: Record<string, string> = {},
  [command, ...before]: readonly [string, ...string[]] = SOURCES,
): Program {
  const child = spawn(command, [...before, ...words], { env: { ...PROGRAM_ENV, ...env } })
  t.after(() => child.kill('SIGKILL'))
  const printed = { out: '', err: '' }
  child.stdout.on('data', (data) => {
    printed.out += data
  })
  child.stderr.on('data', (data) => {
    printed.err += data
  })
  let isClosed = false // true after the last output, unlike an exit code
  child.once('close', () => {
    isClosed = true
  })
  const end = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  return {
    child,
    printed,
    waitForExit: () => end,
    async waitForOutput(text, withinMs) {
      const findMatch = () => text.exec(printed.out) ?? text.exec(printed.err)
      await until(() => findMatch() !== null || isClosed, withinMs)
      const match = findMatch()
      if (!match) throw new Error(`it ended without saying ${text}: ${printed.out}${printed.err}`)
      return match
    },
  }
}

/**
 * Returns a loopback address of this process alone. No other test can take a port there while a server is restarted,
 * and answer its clients.
 */
export function ownAddress(): string {
  const { pid } = process
  return `127.${pid >> 16}.${(pid >> 8) & 255}.${pid & 255}`
}

/** Returns a port of 127.0.0.1 that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
