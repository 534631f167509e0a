// Quality values of Accept headers (RFC 9110, 12.4.2).

/** A media range or a coding in lower case, without its other parameters. */
export type QualityRange = { range: string; quality: number }

const MOST_HEADERS = 100 // distinct ones are few: one for each kind of client
const parsed = new Map<string, readonly QualityRange[]>()

/** The ranges of a header in its order. A quality that is no number is 1, and each is from 0 to 1. */
export function acceptedRanges(header: string): readonly QualityRange[] {
  const known = parsed.get(header)
  if (known) return known
  const ranges = header.split(',').map(rangeIn)
  if (parsed.size >= MOST_HEADERS) parsed.clear()
  if (header.length <= 1000) parsed.set(header, ranges)
  return ranges
}

/** Whether an Accept-Encoding header admits a coding. */
export function acceptsCoding(header: string | null, coding: string): boolean {
  if (header === null) return false
  return (acceptedRanges(header).find(({ range }) => range === coding)?.quality ?? 0) > 0
}

function rangeIn(text: string): QualityRange {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const given = parameters.find((one) => /^q\s*=/.test(one))
  const quality = given === undefined ? 1 : Number.parseFloat(given.slice(given.indexOf('=') + 1))
  return { range, quality: Number.isNaN(quality) ? 1 : Math.max(0, Math.min(1, quality)) }
}
