// What may be shown of a document, which may be hostile: text as text, and an image only when its first bytes are
// those of one of five harmless formats. HTML and SVG are text like the rest.

export type Showing = 'text' | 'image' | 'pdf' | 'nothing'

/** How much of a text is shown. */
export const TEXT_BYTES = 256 * 1024
export const IMAGE_BYTES = 25 * 1024 * 1024
/** How many bytes tell an image's format. */
export const HEAD_BYTES = 32

const TEXTS = new Set(['application/json', 'application/xml', 'application/csv', 'application/javascript'])
const BY_ENDING: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  json: 'application/json',
  md: 'text/markdown',
  txt: 'text/plain',
  xml: 'application/xml',
}
const OFFICE = [
  ['wordprocessingml', 'Word'],
  ['msword', 'Word'],
  ['spreadsheetml', 'Excel'],
  ['ms-excel', 'Excel'],
  ['presentationml', 'PowerPoint'],
  ['ms-powerpoint', 'PowerPoint'],
] as const
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']

export function showingOf(mimetype: string): Showing {
  const type = bareType(mimetype)
  if (type === 'application/pdf') return 'pdf'
  if (IMAGES.includes(type)) return 'image'
  if (type.startsWith('text/') || TEXTS.has(type) || /\+(xml|json)$/.test(type)) return 'text'
  return 'nothing'
}

/** The type of a file that is sent, by its ending where the browser does not know one. */
export function typeOf(name: string, type: string): string {
  if (type !== '') return type
  return BY_ENDING[/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ''] ?? 'application/octet-stream'
}

/** A few letters for a type, as files of it end: PDF, PNG, DOCX. */
export function badgeOf(name: string, mimetype: string): string {
  const type = bareType(mimetype)
  const ending = /\.([a-z0-9]{1,4})$/i.exec(name)?.[1]
  const last = (type.split('+')[0] ?? '').split(/[/.-]/).at(-1) ?? ''
  return (showingOf(type) === 'nothing' ? (ending ?? last) : last === 'plain' ? 'txt' : last)
    .slice(0, 4)
    .toUpperCase()
}

/** A type as people call it; most are called as they are written. */
export function typeName(mimetype: string): string {
  const type = bareType(mimetype)
  return OFFICE.find(([part]) => type.includes(part))?.[1] ?? type
}

/** A media type without its parameters. */
export function bareType(mimetype: string): string {
  return mimetype.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** The format of an image by its first bytes; undefined: none that is shown. */
export function imageTypeOf(head: Uint8Array): string | undefined {
  const text = String.fromCharCode(...head.subarray(0, HEAD_BYTES))
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(text)) return 'image/gif'
  if (/^RIFF[\s\S]{4}WEBP/.test(text)) return 'image/webp'
  if (/^[\s\S]{4}ftyp(avif|avis)/.test(text)) return 'image/avif'
  return undefined
}

/** Bytes as text; what is not UTF-8 is read as Windows-1252, which has a character for each byte. */
export function textIn(bytes: Uint8Array): string {
  // Where a text was cut there may be half a character: it is left out.
  let end = bytes.length
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    if (needed > back) end = bytes.length - back
    break
  }
  const whole = bytes.subarray(0, end)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(whole)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
