// Splits pasted text into rows of cells: at tabs, else semicolons, else commas. Quotes are those of RFC 4180; a quote
// inside of an unquoted cell is text, as spreadsheets copy it.

export type Separator = '\t' | ';' | ','

const SEPARATORS: readonly Separator[] = ['\t', ';', ',']
/** First line of a CSV for Excel. */
const SEPARATOR_LINE = /^\ufeff?"?sep=([;,\t])\1*"?[ \t]*(?:\r?\n|$)/i
const SAMPLE_LINES = 200
const SLICE_ROWS = 500

/**
 * Returns the rows without empty ones at the beginning and the end. Yields between slices, so that the page stays
 * responsive.
 */
export function* splitRows(input: string): Generator<undefined, string[][]> {
  const separator = cellSeparator(input)
  const text = input.replace(SEPARATOR_LINE, '').replace(/^\ufeff/, '')
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const cell = text[at] === '"' ? readQuoted(text, at, separator) : undefined
    const end = cell?.end ?? cellEnd(text, at, separator)
    row.push(cell?.value ?? text.slice(at, end).trim())
    at = end
    if (text[at] === separator) {
      at += 1
      if (at === text.length || isLineEnd(text[at])) row.push('')
      if (at < text.length && !isLineEnd(text[at])) continue
    }
    at += text.startsWith('\r\n', at) ? 2 : 1
    rows.push(row)
    row = []
    if (rows.length % SLICE_ROWS === 0) yield
  }
  return trimRows(rows)
}

function trimRows(rows: readonly string[][]): string[][] {
  const first = rows.findIndex((row) => !isBlankRow(row))
  return first < 0 ? [] : rows.slice(first, rows.findLastIndex((row) => !isBlankRow(row)) + 1)
}

export function isBlankRow(row: readonly string[]): boolean {
  return row.every((cell) => cell === '')
}

/** Returns the separator of the first line, else the first of most lines, else the first that occurs at all. */
export function cellSeparator(text: string): Separator {
  const [, declared] = SEPARATOR_LINE.exec(text) ?? []
  if (declared !== undefined) return declared as Separator
  const lines = sampleLines(text).map((line) => line.replace(/"[^"]*"/g, ''))
  const counts = SEPARATORS.map((sign) => lines.filter((line) => line.includes(sign)).length)
  const isFrequent = (least: number) => SEPARATORS.find((_, index) => (counts[index] ?? 0) > least)
  return isFrequent(lines.length / 2) ?? isFrequent(0) ?? '\t'
}

function sampleLines(text: string): string[] {
  const lines: string[] = []
  for (let at = 0; at < text.length && lines.length < SAMPLE_LINES; ) {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, end < 0 ? text.length : end)
    if (line.trim() !== '') lines.push(line)
    at = end < 0 ? text.length : end + 1
  }
  return lines
}

/** Returns undefined if the closing quote does not end the cell. */
function readQuoted(
  text: string,
  at: number,
  separator: Separator,
): { value: string; end: number } | undefined {
  let close = text.indexOf('"', at + 1)
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  const end = close + 1
  if (close < 0 || !(end === text.length || text[end] === separator || isLineEnd(text[end]))) return undefined
  return {
    value: text
      .slice(at + 1, close)
      .replaceAll('""', '"')
      .trim(),
    end,
  }
}

function cellEnd(text: string, at: number, separator: Separator): number {
  let end = at
  while (end < text.length && text[end] !== separator && !isLineEnd(text[end])) end += 1
  return end
}

function isLineEnd(sign: string | undefined): boolean {
  return sign === '\n' || sign === '\r'
}
