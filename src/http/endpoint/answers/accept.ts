// Quality values of Accept headers (RFC 9110, 12.4.2).

/** A media range or a coding in lower case, without its other parameters. */
export type QualityRange = { range: string; quality: number }

const MOST_HEADERS = 100 // each kind of client sends one header text
const rangesByHeader = new Map<string, readonly QualityRange[]>()

/** Returns the ranges of a header in its order. A quality that is not a number is 1; others are limited to 0 to 1. */
export function acceptedRanges(header: string): readonly QualityRange[] {
  const cachedRanges = rangesByHeader.get(header)
  if (cachedRanges) return cachedRanges
  const ranges = header.split(',').map(parseRange)
  if (rangesByHeader.size >= MOST_HEADERS) rangesByHeader.clear()
  if (header.length <= 1000) rangesByHeader.set(header, ranges)
  return ranges
}

/** Returns true if an Accept-Encoding header accepts a coding. */
export function acceptsCoding(header: string | null, coding: string): boolean {
  if (header === null) return false
  return (acceptedRanges(header).find(({ range }) => range === coding)?.quality ?? 0) > 0
}

function parseRange(text: string): QualityRange {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const qualityText = parameters.find((one) => /^q\s*=/.test(one))
  const quality =
    qualityText === undefined ? 1 : Number.parseFloat(qualityText.slice(qualityText.indexOf('=') + 1))
  return { range, quality: Number.isNaN(quality) ? 1 : Math.max(0, Math.min(1, quality)) }
}
