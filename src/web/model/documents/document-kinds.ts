// Kinds of documents in words of people.

export type DocumentKind =
  | { word: 'photo' | 'text'; letters?: undefined }
  /** Up to 5 letters, such as PDF, XML, Word, Excel. */
  | { letters: string; word?: undefined }

const NAMES = [
  ['application/pdf', 'PDF'],
  ['wordprocessingml', 'Word'],
  ['msword', 'Word'],
  ['spreadsheetml', 'Excel'],
  ['ms-excel', 'Excel'],
  ['text/csv', 'CSV'],
  ['/json', 'JSON'],
  ['text/html', 'HTML'],
] as const
const MAX_LETTERS = 4

/** @param mimetype media type, in any case and with parameters */
export function documentKind(name: string, mimetype: string): DocumentKind {
  const type = mimetype.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const [, letters] = NAMES.find(([part]) => type.includes(part)) ?? []
  if (letters !== undefined) return { letters }
  if (/^image\/(?!svg)/.test(type)) return { word: 'photo' }
  if (/[/+]xml$/.test(type)) return { letters: 'XML' }
  if (type.startsWith('text/')) return { word: 'text' }
  const extension = /\.([a-z0-9]{1,4})$/i.exec(name)?.[1] ?? type.split(/[/.+-]/).at(-1) ?? ''
  return { letters: extension.slice(0, MAX_LETTERS).toUpperCase() || '?' }
}
