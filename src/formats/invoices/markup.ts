// Rules of well-formed XML 1.0 that the tokenizer of htmlparser2 does not check. Texts are bytes as characters (encoding.ts).

import { ENCODINGS } from './encoding.ts'

/** A byte that is no character of XML in any encoding. */
export const CONTROL = /[^\t\n\r\x20-\xff]/
/** U+FFFE and U+FFFF in UTF-8. */
export const NONCHARACTERS = ['\xef\xbf\xbe', '\xef\xbf\xbf']
export const BLANKS = /^[\t\n\r ]+$/
/** Rest of an end tag after its name. */
export const END_OF_TAG = /^[\t\n\r ]*>$/
/** Rest of a tag without content before its `>`. */
export const EMPTY_END = /^[\t\n\r ]*\/$/
/** Text without `]`, tags without blanks and the five entities: no fault is in them. The limit bounds its stack. */
export const PLAIN =
  /(?:[\t\n\r\x20-%'-;=-\\^-\xff]+|<\/?[A-Za-z_:][\w:.-]*>|&(?:amp|lt|gt|quot|apos);|<[A-Za-z_:][\w:.-]*\/>){0,1000}/y

const CHARACTER = /^[\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]$/u
const ASCII_NAME = /^[A-Za-z_:][\w:.-]*$/
const START =
  ':A-Z_a-z\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef' +
  '\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}'
const NAME = new RegExp(`^[${START}][${START}\\-.0-9\\xb7\\u0300-\\u036f\\u203f\\u2040]*$`, 'u')
const DECODERS = ENCODINGS.map((encoding) => [encoding, new TextDecoder(encoding)] as const)
const S = '[\\t\\n\\r ]'
const pseudoAttribute = (name: string, value: string) => `${S}+${name}${S}*=${S}*(?:"${value}"|'${value}')`
const DECLARATION = new RegExp(
  `^xml${pseudoAttribute('version', '1\\.\\d*')}(?:${pseudoAttribute('encoding', '([A-Za-z][\\w.-]*)')})?` +
    `(?:${pseudoAttribute('standalone', '(?:yes|no)')})?${S}*$`,
)

/** Adds the encodings in which a text is no name. */
export function addMisreadings(name: string, misread: Set<string>): void {
  if (ASCII_NAME.test(name)) return
  const bytes = Buffer.from(name, 'latin1')
  for (const [encoding, decoder] of DECODERS) {
    if (!misread.has(encoding) && !NAME.test(decoder.decode(bytes))) misread.add(encoding)
  }
}

/** Returns true if the references in a text are to characters of XML. The tokenizer has checked their names. */
export function hasCharacters(references: string): boolean {
  if (!references.includes('#')) return true
  return references.matchAll(/&#([^;]+);/g).every(([, digits = '']) => {
    const code = Number(`0${digits}`) // 0x41, 065
    return digits[0] !== 'X' && code <= 0x10ffff && CHARACTER.test(String.fromCodePoint(code))
  })
}

/** Parses an XML declaration without `<?` and `?>`. Undefined: malformed. */
export function parseDeclaration(text: string): { encoding: string | undefined } | undefined {
  const match = DECLARATION.exec(text)
  return match ? { encoding: match[1] ?? match[2] } : undefined
}
