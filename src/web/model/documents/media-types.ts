// Preview rules for documents, which may be hostile. Text is shown as text, HTML and SVG too. An image is shown only
// if its first bytes are those of one of five harmless formats.

export type PreviewKind = 'text' | 'image' | 'pdf' | 'nothing'

/** Bytes of a text that the preview shows. */
export const MAX_TEXT_BYTES = 256 * 1024
export const MAX_IMAGE_BYTES = 25 * 1024 * 1024
const HEAD_BYTES = 32

const TEXT_TYPES = ['application/json', 'application/xml', 'application/csv', 'application/javascript']
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']

export function previewKind(mimetype: string): PreviewKind {
  const type = bareType(mimetype)
  if (type === 'application/pdf') return 'pdf'
  if (IMAGE_TYPES.includes(type)) return 'image'
  if (type.startsWith('text/') || TEXT_TYPES.includes(type) || /\+(xml|json)$/.test(type)) return 'text'
  return 'nothing'
}

/** A media type without its parameters. */
function bareType(mimetype: string): string {
  return mimetype.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** Format of an image by its first bytes; undefined if the page does not show it. */
export function imageType(bytes: Uint8Array): string | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, HEAD_BYTES))
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(text)) return 'image/gif'
  if (/^RIFF[\s\S]{4}WEBP/.test(text)) return 'image/webp'
  if (/^[\s\S]{4}ftyp(avif|avis)/.test(text)) return 'image/avif'
  return undefined
}

/** Decodes UTF-8, else Windows-1252, which has a character for each byte. @param isCut the text goes on after them */
export function decodePreview(bytes: Uint8Array, isCut: boolean): string {
  try {
    // A cut text may end in half a character, which a stream drops.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut })
  } catch {
    // Not UTF-8.
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
