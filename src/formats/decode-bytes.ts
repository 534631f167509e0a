// Decodes names and texts of strangers, whose bytes come first. Many declare a wrong charset, and text in another one is
// seldom valid UTF-8. So bytes that are UTF-8 are UTF-8, whatever is declared.

import { isAscii } from 'node:buffer'

// Characters of the bytes from 0x80 in charsets of DOS, which ICU does not have.
const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀' +
  'ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0'
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀' +
  'αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'
const DOS = new Map([
  ['cp437', CP437],
  ['cp850', CP850],
  ['cp858', CP850.replace('ı', '€')],
])
// Labels of mails that the standard of the web does not have: numbers of code pages, or without separators.
const ALIASES = new Map([
  ...listAliases('cp437', '437 pc8codepage437'),
  ...listAliases('cp850', '850 pc850multilingual'),
  ...listAliases('cp858', '858'),
  ...listAliases('windows-874', '874 tis620'),
  ...listAliases('shift_jis', '932 shiftjis mskanji windows31j'),
  ...listAliases('gbk', '936'),
  ...listAliases('euc-kr', '949 euckr uhc'),
  ...listAliases('big5', '950'),
  ...listAliases('euc-jp', '51932 eucjp'),
  ...listAliases('iso-2022-jp', '50220 50221 50222 iso2022jp iso2022jp1 iso2022jp2 junet'),
  ...listAliases('iso-8859-8', 'iso88598i iso88598e'),
])
const FALLBACK = 'windows-1252'
const UNASSIGNED = /[\x80-\x9f]/g
const decoders = new Map<string, TextDecoder>()

/**
 * Decodes a text: UTF-16 by its mark or as declared, else valid UTF-8, else the declared charset, else windows-1252.
 * No character is a replacement for bytes. A mark of UTF-8 is a character of the text.
 * @param charset as its sender declared it; any text
 */
export function decodeBytes(bytes: Uint8Array, charset?: string): string {
  return decode(bytes, charset).text
}

/** Decodes a name as `decodeBytes` does. Bytes that windows-1252 does not assign become `_`. */
export function decodeName(bytes: Uint8Array, charset?: string): string {
  const { text, encoding } = decode(bytes, charset)
  return encoding === FALLBACK ? text.replace(UNASSIGNED, '_') : text
}

/**
 * Returns the name of a charset: as in `TextDecoder.encoding`, or that of a table of DOS. ISO-8859-1 is windows-1252, as
 * in browsers. Undefined: not known.
 */
export function findCharset(label: string): string | undefined {
  const name = label.replace(/\*.*/s, '').trim().toLowerCase() // RFC 2231 adds a language
  const bare = name.replace(/^(?:x-ms-|x-|cs)/, '').replace(/[\s._-]+/g, '')
  const page = /^(?:cp|windows|win|ms|ibm|dos)(\d+)$/.exec(bare)?.[1] ?? bare
  const alias = ALIASES.get(page) ?? (/^125\d$/.test(page) ? `windows-${page}` : bare)
  for (const one of new Set([name, alias])) {
    const encoding = one && (DOS.has(one) ? one : findDecoder(one)?.encoding)
    if (encoding) return encoding
  }
  return undefined
}

function listAliases(name: string, labels: string): [label: string, name: string][] {
  return labels.split(' ').map((label) => [label, name])
}

function decode(bytes: Uint8Array, label = ''): { text: string; encoding: string } {
  const declared = findCharset(label)
  const utf16 = utf16Mark(bytes, declared)
  const text = utf16 && decodeStrictly(bytes.subarray(2), utf16)
  if (utf16 && text !== undefined) return { text, encoding: utf16 }
  // Only these are no supersets of ASCII, which valid UTF-8 may be.
  const isFirst = declared?.startsWith('utf-16') || (declared === 'iso-2022-jp' && isAscii(bytes))
  for (const encoding of isFirst ? [declared, 'utf-8'] : ['utf-8', declared]) {
    const text = encoding && decodeStrictly(bytes, encoding)
    if (encoding && text !== undefined) return { text, encoding }
  }
  return { text: decodeStrictly(bytes, FALLBACK) ?? '', encoding: FALLBACK }
}

/** Returns the encoding of a text with a mark. Undeclared, it has a zero byte: the mark is two letters of Latin-1. */
function utf16Mark(bytes: Uint8Array, declared: string | undefined): string | undefined {
  const [first, second] = bytes
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (!isMarked || !(declared?.startsWith('utf-16') || bytes.includes(0))) return undefined
  return first === 0xff ? 'utf-16le' : 'utf-16be'
}

/** Decodes bytes of an encoding that `findCharset` returned. Undefined: they are no text in it. */
export function decodeStrictly(bytes: Uint8Array, encoding: string): string | undefined {
  const letters = DOS.get(encoding)
  if (letters) return [...bytes].map((byte) => letters[byte - 0x80] ?? String.fromCharCode(byte)).join('')
  try {
    return findDecoder(encoding)?.decode(bytes)
  } catch {
    return undefined // the only fault of a fatal decoder
  }
}

function findDecoder(label: string): TextDecoder | undefined {
  try {
    return decoders.getOrInsertComputed(label, () => new TextDecoder(label, { fatal: true, ignoreBOM: true }))
  } catch {
    return undefined // an unknown label
  }
}
