// Parses and formats sizes and counts for people.

const SIZE = /^(\d{1,12})(|KiB|MiB|GiB|TiB)$/i
const UNITS = ['', 'kib', 'mib', 'gib', 'tib']
const NAMES = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** Validates a size such as `500MiB`; undefined: valid. */
export function sizeFault(text: string): string | undefined {
  return SIZE.test(text) && Number.isSafeInteger(parseSize(text))
    ? undefined
    : 'must be a number of bytes, or of KiB, MiB, GiB or TiB, such as 500MiB'
}

/** Parses a valid size such as `2GiB` to bytes. */
export function parseSize(text: string): number {
  const [, digits = '', unit = ''] = SIZE.exec(text) ?? []
  return Number(digits) * 1024 ** UNITS.indexOf(unit.toLowerCase())
}

/** Validates a quota: a size of at least a byte, or `none`; undefined: valid. */
export function quotaFault(text: string): string | undefined {
  const isRight = text === 'none' || (sizeFault(text) === undefined && parseSize(text) > 0)
  return isRight ? undefined : 'must be a size such as 10GiB, or none'
}

/** Parses a valid quota to bytes, `none` to null. */
export function parseQuota(text: string): number | null {
  return text === 'none' ? null : parseSize(text)
}

/** Formats bytes such as `10 GiB` or `102.4 MiB`, rounded down. */
export function sizeText(bytes: number): string {
  let unit = 0
  while (unit < NAMES.length - 1 && bytes >= 1024 ** (unit + 1)) unit += 1
  return `${Math.floor((bytes / 1024 ** unit) * 10) / 10} ${NAMES[unit]}`
}

/** Formats a quota exactly, such as `10 GiB` or `1500 MiB`. */
export function quotaText(quota: number | null): string {
  if (quota === null) return 'none'
  const unit = NAMES.findLastIndex((_, at) => quota % 1024 ** at === 0)
  return `${quota / 1024 ** unit} ${NAMES[unit]}`
}

/** Formats a count with its noun. @param plural by default the noun with an s */
export function countNoun(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}
