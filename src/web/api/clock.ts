// Time of the server, which decides which day is today: a browser's clock may be wrong by years.

const TOLERANCE_MS = 30_000 // the Date header has whole seconds, and the response takes time to arrive

let offsetMs = 0

export function serverTime(): number {
  return Date.now() + offsetMs
}

/** @param date the Date header of a response */
export function setServerTime(date: string | null): void {
  const time = Date.parse(date ?? '')
  if (Number.isNaN(time)) return
  const offset = time - Date.now()
  offsetMs = Math.abs(offset) > TOLERANCE_MS ? offset : 0
}
