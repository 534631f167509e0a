import type { Terminal } from './command.ts'

const EVERY_MS = 200

/** A line that is written over while a person watches; nothing when nobody does. */
export function progressOf(terminal: Terminal): { show(text: string): void; clear(): void } {
  let shown = 0
  return {
    show(text) {
      if (!terminal.interactive || Date.now() - shown < EVERY_MS) return
      shown = Date.now()
      terminal.err(`\r\x1b[2K${text}`)
    },
    clear() {
      if (shown > 0) terminal.err('\r\x1b[2K')
    },
  }
}
