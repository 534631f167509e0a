// Log of a command: on its terminal, or in the journal if stderr is connected to it.

import { fstatSync } from 'node:fs'
import { createLog, type LogFormat, type LogLevel } from '../runtime/log.ts'
import type { Terminal } from './command.ts'
import type { Environment } from './parse/args.ts'

export function terminalLog(
  terminal: Pick<Terminal, 'err' | 'journal'>,
  options: { level: LogLevel; format: LogFormat },
): ReturnType<typeof createLog> {
  return createLog({ ...options, write: (text) => terminal.err(text), journal: terminal.journal })
}

/**
 * Returns true if systemd connected a file descriptor, stderr by default, to the journal. A child process inherits the
 * variable even if its stderr was redirected, so device and inode are compared (systemd.exec(5)).
 */
export function isJournal(env: Environment, file = 2): boolean {
  if (!env.JOURNAL_STREAM) return false
  try {
    const { dev, ino } = fstatSync(file, { bigint: true })
    return env.JOURNAL_STREAM === `${dev}:${ino}`
  } catch {
    return false // stderr is closed
  }
}
