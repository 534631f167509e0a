// Progress of a long command on the terminal.

import type { Terminal } from './command.ts'

const EVERY_MS = 200

/**
 * Progress line that overwrites itself on a terminal. Elsewhere nothing is printed, or one line every `plainEveryMs`
 * milliseconds.
 */
export function createProgress(
  terminal: Terminal,
  { plainEveryMs = Number.POSITIVE_INFINITY }: { plainEveryMs?: number } = {},
): { show(text: string): void; clear(): void } {
  let lastMs = terminal.interactive ? 0 : Date.now()
  const every = terminal.interactive ? EVERY_MS : plainEveryMs
  return {
    show(text) {
      if (Date.now() - lastMs < every) return
      lastMs = Date.now()
      terminal.err(terminal.interactive ? `\r\x1b[2K${text}` : `${text}\n`)
    },
    clear() {
      if (terminal.interactive && lastMs > 0) terminal.err('\r\x1b[2K')
    },
  }
}

/** Formats a duration, such as `95 s`, `12 min` or `1 h 5 min`. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
