// One line an event, on stderr. Lines of one turn of the event loop are written together, because a write
// to a terminal or a pipe costs more than a request.

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

export function createLog(options: {
  level: LogLevel
  format: LogFormat
  write: (text: string) => void
  now?: () => Date
}): Log {
  const now = options.now ?? (() => new Date())
  const render = options.format === 'json' ? jsonLine : textLine
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
      held.push(render(now().toISOString(), level, event, fields))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), flush }
}

function jsonLine(time: string, level: LogLevel, event: string, fields: LogFields): string {
  return `${JSON.stringify({ time, level, event, ...fields })}\n`
}

function textLine(time: string, level: LogLevel, event: string, fields: LogFields): string {
  let line = `${time} ${level.padEnd(5)} ${event}`
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const text = String(value)
    line += ` ${name}=${/^[\w./:@-]+$/.test(text) ? text : JSON.stringify(text)}`
  }
  return `${line}\n`
}
