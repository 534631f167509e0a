// Limits of results: rows up to a size, sentences of one line.

const LARGEST_ROWS = 26_000 // bytes; with the fields around the rows a result is below 32 KB
export const LONGEST_SENTENCE = 300
const NOT_PLAIN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu

/** Returns as many of the first rows as fit into a result, at least one. */
export function fitRows<Row>(rows: readonly Row[]): { rows: Row[]; hasMore: boolean } {
  let bytes = 0
  const fit: Row[] = []
  for (const row of rows) {
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1
    if (fit.length > 0 && bytes > LARGEST_ROWS) return { rows: fit, hasMore: true }
    fit.push(row)
  }
  return { rows: fit, hasMore: false }
}

/** Returns a text on one line, at most 300 characters long. */
export function oneLine(text: string, most = LONGEST_SENTENCE): string {
  const characters = [...text.replace(NOT_PLAIN, ' ').trim()]
  if (characters.length <= most) return characters.join('')
  return `${characters.slice(0, most - 1).join('')}…`
}

/** `1 document`, `3 documents`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
