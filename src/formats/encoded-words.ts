// Decodes encoded words (RFC 2047) and parameters (RFC 2231). Programs cut a text into words anywhere: within a
// character, or within base64.

import { decodeName, findCharset } from './decode-bytes.ts'

/** A parameter such as `filename*`, or a piece of it, with a character for each byte. `isEncoded`: with %XX. */
export type ParameterPiece = { isEncoded: boolean; text: string }

/** Words of one charset. `charset`: undefined if it is not known. */
type WordGroup = { charset: string | undefined; words: { isBase64: boolean; text: string }[] }

const WORD = /=\?([^?\s]+)\?([QqBb])\?([^?]*)\?=/g
const RUN = new RegExp(`${WORD.source}(?:[ \\t\\r\\n]*${WORD.source})*`, 'g')
// A name of 255 characters has fewer words. An unknown charset takes 40 µs of a processor.
const WHOLE = new RegExp(`^${WORD.source}(?:[ \\t\\r\\n]*${WORD.source}){0,44}$`)

/** Replaces each run of adjacent encoded words by its text. `write`: makes another form of that text. */
export function decodeWords(text: string, write = (decoded: string) => decoded): string {
  return text.replace(RUN, (run) => write(decodeRun(run)))
}

/** Returns true for a text of nothing but encoded words, at most 45. */
export function areEncodedWords(text: string): boolean {
  return WHOLE.test(text)
}

/** Decodes a parameter in one piece or several, of which the first may begin with its charset: `utf-8'es'%C3%B3`. */
export function decodePieces(pieces: readonly ParameterPiece[]): string {
  let charset: string | undefined
  const bytes = pieces.map(({ isEncoded, text }, at) => {
    if (!isEncoded) return text
    const [prefix = '', label = '', language] = (at === 0 && /^([^'%\s]*)'([^']*)'/.exec(text)) || []
    if (label !== '' && language && !findCharset(label)) return decodeHex(text, '%') // the name is O'Brien's
    charset ??= label
    return decodeHex(text.slice(prefix.length), '%')
  })
  return decodeName(Buffer.from(bytes.join(''), 'latin1'), charset)
}

function decodeRun(run: string): string {
  const groups: WordGroup[] = []
  for (const [, label = '', encoding, text = ''] of run.matchAll(WORD)) {
    const charset = findCharset(label)
    const word = { isBase64: /b/i.test(encoding ?? ''), text }
    const last = groups.at(-1)
    if (last && last.charset === charset) last.words.push(word)
    else groups.push({ charset, words: [word] })
  }
  return groups.map(({ charset, words }) => decodeName(joinBytes(words), charset)).join('')
}

/** Joins the bytes of words, or base64 that was cut within its groups of four. */
function joinBytes(words: WordGroup['words']): Buffer {
  const texts = words.map(({ isBase64, text }) => (isBase64 ? text.replace(/[^\w+/=-]+/g, '') : text))
  const stream = texts.join('')
  const isCut = words.every(({ isBase64 }) => isBase64) && !texts.every(isWhole) && isWhole(stream)
  if (isCut) return Buffer.from(stream, 'base64')
  return Buffer.concat(
    words.map(({ isBase64 }, at) => (isBase64 ? Buffer.from(texts[at] ?? '', 'base64') : unquote(texts[at]))),
  )
}

/** Returns true for base64 of whole bytes, with padding or without. */
function isWhole(text: string): boolean {
  const again = Buffer.from(text, 'base64').toString('base64')
  return text === again || text === again.replace(/=+$/, '')
}

function unquote(text = ''): Buffer {
  const plain = text.replace(/=\s+(?=[\da-f])/gi, '=').replace(/[_\s]/g, ' ')
  return Buffer.from(decodeHex(Buffer.from(plain).toString('latin1'), '='), 'latin1')
}

/** Decodes bytes such as `%F3` in a text that has a character for each byte. */
export function decodeHex(text: string, sign: '%' | '='): string {
  return text.replace(new RegExp(`${sign}([\\da-f]{2})`, 'gi'), (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
