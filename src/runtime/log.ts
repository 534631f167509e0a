// Log on stderr, a line for each event. Lines of a turn of the event loop are written together: a write takes longer
// than a request. For the journal of systemd each line begins with a priority, which journald removes. Text
// lines omit the time there, because the journal adds it.

import { errorReason } from './errors.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFormat = 'text' | 'json'
export type LogFields = Record<string, string | number | boolean | null | undefined>

export type Log = {
  debug(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
  /** Writes the pending lines. */
  flush(): void
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }
const PRIORITY: Record<LogLevel, string> = { debug: '<7>', info: '<6>', warn: '<4>', error: '<3>' } // sd-daemon(3)

/** Returns a log; `setLevel` changes its level. */
export function createLog(options: {
  level: LogLevel
  format: LogFormat
  write: (text: string) => void
  /** The output goes to the journal of systemd. */
  journal?: boolean | undefined
  now?: () => Date
}): Log & { setLevel(level: LogLevel): void } {
  let { level: lowest } = options
  const now = options.now ?? (() => new Date())
  const { journal = false } = options
  const time = () => now().toISOString()
  const render = (level: LogLevel, event: string, fields: LogFields) => {
    if (options.format === 'json') return jsonLine(time(), level, event, fields)
    return journal ? textLine(level, event, fields) : `${time()} ${textLine(level, event, fields)}`
  }
  let pendingLines: string[] = []

  const flush = () => {
    if (pendingLines.length === 0) return
    const text = pendingLines.join('')
    pendingLines = []
    options.write(text)
  }
  const at =
    (level: LogLevel) =>
    (event: string, fields: LogFields = {}) => {
      if (RANK[level] < RANK[lowest]) return
      if (pendingLines.length === 0) setImmediate(flush)
      const line = render(level, event, fields)
      pendingLines.push(journal ? `${PRIORITY[level]}${line}` : line)
    }
  const setLevel = (level: LogLevel) => {
    lowest = level
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), flush, setLevel }
}

/** Wraps repeated work so that it never rejects. Equal consecutive reasons are logged once. */
export function logFailures(
  log: Pick<Log, 'error'>,
  event: string,
  work: () => Promise<unknown>,
): () => Promise<void> {
  let lastReason: string | undefined
  return async () => {
    try {
      await work()
      lastReason = undefined
    } catch (error) {
      const reason = errorReason(error)
      if (reason !== lastReason) log.error(event, { reason })
      lastReason = reason
    }
  }
}

/** Puts the priority of an error before each line, for output to the journal that is no event. */
export function journalErrors(text: string): string {
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
