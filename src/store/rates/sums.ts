// Sums over rows, which show a row that changed on the disk. Pure. Each row has two hashes of 32 bits; a sum adds those of
// all rows modulo 2^32, in any order. Two rows can compensate each other in one sum, but hardly in both.

/** Count of rows, and the sums of their two hashes: unsigned integers of 32 bits. */
export type Sum = { count: number; first: number; second: number }

/** Row of rates, without its series and instant. */
type RateColumns = { rate_date: string; value: string; rounded_to: number | null }

export function newSum(): Sum {
  return { count: 0, first: 0, second: 0 }
}

/**
 * Adds a row to a sum, or with `sign` -1 removes it. The row is the text from `start` to before `end`. A single other
 * character always changes both hashes: each step is a bijection.
 */
export function addRow(sum: Sum, text: string, sign: 1 | -1 = 1, start = 0, end = text.length): void {
  let first = 0x811c9dc5
  let second = 0x9747b28c
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    first = Math.imul(first ^ code, 0x01000193)
    second = Math.imul(second ^ code, 0x5bd1e995)
    second ^= second >>> 15
  }
  // The low bits of a product depend on low bits alone.
  first = Math.imul(first ^ (first >>> 15), 0x2c1b3c6d)
  first ^= first >>> 13
  sum.count += sign
  sum.first = (sum.first + sign * first) >>> 0
  sum.second = (sum.second + sign * second) >>> 0
}

/** Returns a row of rates as a line of selectColumnsOfSeries. */
export function rateLine({ rate_date, value, rounded_to }: RateColumns): string {
  return rounded_to === null ? rate_date + value : `${rate_date}${value}r${rounded_to}`
}

/** Adds each line of a column, as selectColumnsOfSeries returns it, to the sum of its year. */
export function sumsByYear(lines: string): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  for (let start = 0; start < lines.length; ) {
    const next = lines.indexOf('\n', start)
    const end = next < 0 ? lines.length : next
    addRow(sums.getOrInsertComputed(lines.slice(start, start + 4), newSum), lines, 1, start, end)
    start = end + 1
  }
  return sums
}

export function isSameSum(one: Sum = newSum(), other: Sum = newSum()): boolean {
  return one.count === other.count && one.first === other.first && one.second === other.second
}
