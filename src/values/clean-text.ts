/** Removes control, format and direction characters of a stranger's text. Null: nothing is left. */
export function cleanText(text: string | null, most: number): string | null {
  if (text === null) return null
  const clean = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
  return clean === '' ? null : [...clean].slice(0, most).join('')
}
