// Sizes as people write and read them.

const SIZE = /^(\d{1,12})(|KiB|MiB|GiB|TiB)$/i
const UNITS = ['', 'kib', 'mib', 'gib', 'tib']
const NAMES = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** What is wrong with a size such as `500MiB`; undefined: nothing. */
export function sizeFault(text: string): string | undefined {
  return SIZE.test(text) && Number.isSafeInteger(bytesOf(text))
    ? undefined
    : 'must be a number of bytes, or of KiB, MiB, GiB or TiB, such as 500MiB'
}

/** The bytes that a size such as `2GiB` says; the text must be one. */
export function bytesOf(text: string): number {
  const [, digits = '', unit = ''] = SIZE.exec(text) ?? []
  return Number(digits) * 1024 ** UNITS.indexOf(unit.toLowerCase())
}

/** What is wrong with a quota: a size of at least a byte, or `none`; undefined: nothing. */
export function quotaFault(text: string): string | undefined {
  const isRight = text === 'none' || (sizeFault(text) === undefined && bytesOf(text) > 0)
  return isRight ? undefined : 'must be a size such as 10GiB, or none'
}

/** The bytes of a quota, null for `none`; the text must be one. */
export function quotaOf(text: string): number | null {
  return text === 'none' ? null : bytesOf(text)
}

/** A number of bytes for a person, such as `10 GiB` or `102.4 MiB`: never more than they are. */
export function sizeText(bytes: number): string {
  let unit = 0
  while (unit < NAMES.length - 1 && bytes >= 1024 ** (unit + 1)) unit += 1
  return `${Math.floor((bytes / 1024 ** unit) * 10) / 10} ${NAMES[unit]}`
}

/** A quota as it was set, such as `10 GiB` or `1500 MiB`: exact. */
export function quotaText(quota: number | null): string {
  if (quota === null) return 'none'
  const unit = NAMES.findLastIndex((_, at) => quota % 1024 ** at === 0)
  return `${quota / 1024 ** unit} ${NAMES[unit]}`
}
