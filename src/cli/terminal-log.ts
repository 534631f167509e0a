// The log of a command: on its terminal, or in the journal where stderr leads there.

import { fstatSync } from 'node:fs'
import { createLog, type Log, type LogFormat, type LogLevel } from '../log.ts'
import type { Environment } from './args.ts'
import type { Terminal } from './command.ts'

export function terminalLog(
  terminal: Pick<Terminal, 'err' | 'journal'>,
  how: { level: LogLevel; format: LogFormat },
): Log {
  return createLog({ ...how, write: (text) => terminal.err(text), journal: terminal.journal })
}

/**
 * Whether a file of this process, stderr by default, is the one that systemd connected to the journal. A child process
 * inherits the variable also when its own stderr leads elsewhere, so device and inode are compared (systemd.exec(5)).
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
