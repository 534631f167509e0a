import type { Terminal } from './command.ts'

const EVERY_MS = 200

/**
 * A line that is written over while a person watches. Without one there is nothing, or with `plainEveryMs` a line
 * of its own each time so many milliseconds have passed.
 */
export function progressOf(
  terminal: Terminal,
  { plainEveryMs = Number.POSITIVE_INFINITY }: { plainEveryMs?: number } = {},
): { show(text: string): void; clear(): void } {
  let shown = terminal.interactive ? 0 : Date.now()
  const every = terminal.interactive ? EVERY_MS : plainEveryMs
  return {
    show(text) {
      if (Date.now() - shown < every) return
      shown = Date.now()
      terminal.err(terminal.interactive ? `\r\x1b[2K${text}` : `${text}\n`)
    },
    clear() {
      if (terminal.interactive && shown > 0) terminal.err('\r\x1b[2K')
    },
  }
}

/** How long something will take, such as `95 s`, `12 min` or `1 h 5 min`. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
