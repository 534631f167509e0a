/** Characters that a terminal obeys, that end a line, or that reorder text. */
export const NOT_PRINTED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Removes control, format and direction characters of a stranger's text. Null: nothing is left. */
export function cleanText(text: string | null, most: number): string | null {
  if (text === null) return null
  const clean = text.replace(NOT_PRINTED, '').replace(/\s+/g, ' ').trim()
  return clean === '' ? null : [...clean].slice(0, most).join('')
}
