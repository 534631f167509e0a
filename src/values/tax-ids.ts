// Identifications of a company for taxes (cédulas), by which its own invoices are known. A company may have several.

const MOST = 20
const TAX_ID = /^0*[1-9]\d{0,19}$/

/** Validates ids with commas, such as `3-101-654321,110340567`, or `none`; undefined: valid. */
export function taxIdsFault(text: string): string | undefined {
  const ids = splitIds(text)
  const isRight = text === 'none' || (ids.length <= MOST && ids.every((id) => TAX_ID.test(id)))
  return isRight ? undefined : `must be 1 to ${MOST} ids of digits with commas, such as 3101654321, or none`
}

/** Parses valid ids to digits without leading zeros, each once, with commas; `none` to null. */
export function parseTaxIds(text: string): string | null {
  if (text === 'none') return null
  return [...new Set(splitIds(text).map((id) => id.replace(/^0+/, '')))].join(',')
}

function splitIds(text: string): string[] {
  return text.split(/[,;\s]+/).map((id) => id.replaceAll('-', ''))
}
