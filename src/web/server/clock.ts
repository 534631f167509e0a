// What time it is for the server: a browser's clock may be wrong by years, and today is the server's.

const NOISE_MS = 30_000 // an answer's date has whole seconds, and was some time under way

let offsetMs = 0

export function now(): number {
  return Date.now() + offsetMs
}

/** @param date of an answer, as its header says it */
export function noteDate(date: string | null): void {
  const time = Date.parse(date ?? '')
  if (Number.isNaN(time)) return
  const offset = time - Date.now()
  offsetMs = Math.abs(offset) > NOISE_MS ? offset : 0
}
