// One line an event, on stderr. Lines of one turn of the event loop are written together, because a write
// to a terminal or a pipe costs more than a request. In the journal of systemd each line has a priority, which
// journald takes off its front, and a text line has no time of its own, because the journal has one.

import { reasonOf } from './errors.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFormat = 'text' | 'json'
export type LogFields = Record<string, string | number | boolean | null | undefined>

export type Log = {
  debug(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
  /** Writes what is still held back. */
  flush(): void
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }
const PRIORITY: Record<LogLevel, string> = { debug: '<7>', info: '<6>', warn: '<4>', error: '<3>' } // sd-daemon(3)

export function createLog(options: {
  level: LogLevel
  format: LogFormat
  write: (text: string) => void
  /** Whether what is written goes to the journal of systemd. */
  journal?: boolean | undefined
  now?: () => Date
}): Log {
  const now = options.now ?? (() => new Date())
  const { journal = false } = options
  const time = () => now().toISOString()
  const render = (level: LogLevel, event: string, fields: LogFields) => {
    if (options.format === 'json') return jsonLine(time(), level, event, fields)
    return journal ? textLine(level, event, fields) : `${time()} ${textLine(level, event, fields)}`
  }
  let held: string[] = []

  const flush = () => {
    if (held.length === 0) return
    const text = held.join('')
    held = []
    options.write(text)
  }
  const at =
    (level: LogLevel) =>
    (event: string, fields: LogFields = {}) => {
      if (RANK[level] < RANK[options.level]) return
      if (held.length === 0) setImmediate(flush)
      const line = render(level, event, fields)
      held.push(journal ? `${PRIORITY[level]}${line}` : line)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), flush }
}

/** Work that is done again and again, as work that never fails: the same reason is logged once, until it succeeds. */
export function loggingFailures(
  log: Pick<Log, 'error'>,
  event: string,
  work: () => Promise<unknown>,
): () => Promise<void> {
  let known: string | undefined
  return async () => {
    try {
      await work()
      known = undefined
    } catch (error) {
      const reason = reasonOf(error)
      if (reason !== known) log.error(event, { reason })
      known = reason
    }
  }
}

/** Lines for the journal that are no events: each with the priority of an error. */
export function asJournalErrors(text: string): string {
  return text.replace(/^(?=.)/gm, PRIORITY.error)
}

function jsonLine(time: string, level: LogLevel, event: string, fields: LogFields): string {
  return `${JSON.stringify({ time, level, event, ...fields })}\n`
}

function textLine(level: LogLevel, event: string, fields: LogFields): string {
  let line = `${level.padEnd(5)} ${event}`
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const text = String(value)
    line += ` ${name}=${/^[\w./:@-]+$/.test(text) ? text : JSON.stringify(text)}`
  }
  return `${line}\n`
}
