// A second, simple model of uploads: JSON.parse, then a regular expression and Buffer for the blobs
// (decisions#checks). Generates bodies too, in every notation of JSON.

import { createHash } from 'node:crypto'
import { fc } from '../fast-check.ts'

export type AcceptedDocument = { name: string; mimetype: string; bytes: Buffer }
export type Fault = { index: number; field: string; message: string }
export type Verdict =
  | { accepted: AcceptedDocument[] }
  | { message: string; hint?: string; errors?: Fault[]; errors_total?: number }

/** Values with their members in written order; a key may occur twice. */
export type JsonValue = { members: Member[] } | { items: JsonValue[] } | { plain: unknown } | { raw: string }
export type Member = [key: string, value: JsonValue]

/** A number from 0 up to, not including, a limit. */
export type Dice = (limit: number) => number

export const NOT_JSON = 'Request body must be valid JSON'
const IDS = ['owner_id', 'company_id', 'agent_id'] as const
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const TOKEN = "[A-Za-z0-9_!#$%&'*+.^`|~-]"
const PARAMETERS = `(?:\\s*;\\s*(?:${TOKEN}+=(?:${TOKEN}+|"(?:(?!["\\\\])[\\t -~]|\\\\[\\t -~])*"))?)*`
const MIMETYPE = new RegExp(`^(?!\\*/|[^/]*/\\*(?:[\\s;]|$))${TOKEN}{1,127}/${TOKEN}{1,127}${PARAMETERS}$`)
const REVIVED = Symbol('a number that is not written as an integer')

/** The JSON value of bytes that are UTF-8 and JSON, after a byte order mark or without; undefined for others. */
export function parseBody(body: Buffer): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(decodeUtf8(body)) }
  } catch {
    return undefined
  }
}

/** Parses the same, with a symbol for each number that is not written as an integer (decisions#ids). */
export function parseIntegers(body: Buffer): { value: unknown } | undefined {
  const integers = (_: string, value: unknown, { source = '' }: { source?: string } = {}) =>
    typeof value === 'number' && !/^-?[0-9]+$/.test(source) ? REVIVED : value
  return parseBody(body) && { value: JSON.parse(decodeUtf8(body), integers) }
}

function decodeUtf8(body: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(body)
}

/** The answer to an upload whose company, agent and owner exist. */
export function expectedVerdict(body: Buffer): Verdict {
  const json = parseIntegers(body)
  if (!json) return { message: NOT_JSON }
  const fields = readFields(json.value)
  const missing = [...IDS, 'documents'].filter((field) => lacks(fields[field]))
  if (missing.length > 0) {
    const empty = missing.includes('documents') ? ' or empty: documents must have at least one element' : ''
    const hint = `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing${empty}`
    return { message: 'Fields owner_id, company_id, agent_id, documents are required', hint }
  }
  const bad = IDS.find((field) => !isId(fields[field]))
  if (bad) return { message: `${bad} must be an integer` }
  if (!Array.isArray(fields.documents)) return { message: 'Invalid documents' }
  const errors: Fault[] = []
  const accepted: AcceptedDocument[] = []
  for (const [index, document] of fields.documents.entries()) {
    const fault = documentFault(document)
    if (fault) errors.push({ index, ...fault })
    else accepted.push({ ...document, bytes: Buffer.from(document.base64, 'base64') })
  }
  const [first] = errors
  if (!first) return { accepted }
  const message = first.message.includes('RFC 4648') ? 'Invalid base64 content' : 'Invalid documents'
  return { message, errors: errors.slice(0, 1000), errors_total: errors.length }
}

export function lacks(sent: unknown): boolean {
  return sent === undefined || sent === null || sent === '' || (Array.isArray(sent) && sent.length === 0)
}

export function isId(sent: unknown): boolean {
  const id = typeof sent === 'string' && /^[0-9]+$/.test(sent) ? Number(sent) : sent
  return Number.isSafeInteger(id) && (id as number) > 0
}

export function readFields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function documentFault(document: unknown): Omit<Fault, 'index'> | undefined {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return { field: 'name', message: 'a document must be an object with name, mimetype and base64' }
  }
  const { name, mimetype, base64 } = document as Record<string, unknown>
  return nameFault(name) ?? mimetypeFault(mimetype) ?? base64Fault(base64)
}

function nameFault(name: unknown) {
  const fault = (words: string) => ({ field: 'name', message: `name ${words}` })
  if (name === undefined || name === null || name === '') return fault('is missing')
  if (typeof name !== 'string') return fault('must be a string')
  if (/^\s*$/.test(name)) return fault('must not be blank')
  if (!name.isWellFormed()) return fault('must be Unicode: it has half of a surrogate pair')
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return fault('must not have control characters')
  return /^.{1,255}$/su.test(name) ? undefined : fault('must be at most 255 characters')
}

function mimetypeFault(mimetype: unknown) {
  const fault = (words: string) => ({ field: 'mimetype', message: `mimetype ${words}` })
  if (mimetype === undefined || mimetype === null || mimetype === '') return fault('is missing')
  if (typeof mimetype !== 'string') return fault('must be a string')
  if (mimetype.length > 255) return fault('must be at most 255 characters')
  if (MIMETYPE.test(mimetype)) return undefined
  return /^\*\/.|^[^/]+\/\*(?:[\s;]|$)/.test(mimetype)
    ? fault('must not have a wildcard: name one type, such as application/pdf')
    : fault('must be of the form type/subtype, such as application/pdf or text/plain; charset=utf-8')
}

function base64Fault(base64: unknown) {
  const fault = (words: string) => ({ field: 'base64', message: `base64 ${words}` })
  if (base64 === undefined || base64 === null) return fault('is missing')
  if (typeof base64 !== 'string') return fault('must be a string')
  const characters = base64.replace(/[\r\n]/g, '')
  if (characters === '') return fault('is empty')
  const isBase64 = BASE64.test(characters)
  return isBase64 ? undefined : fault('must be RFC 4648 with padding, without spaces, tabs or a data: prefix')
}

/** A dice that repeats its throws for the same seed. */
export function createDice(seed: number): Dice {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

/** Encodes a value with random white space, and with escapes for `escaping` of 16 characters. */
export function encodeText(value: JsonValue, dice: Dice, escaping: number): string {
  const space = () => (dice(4) === 0 ? [' ', '\n', '\r\n', '\t', ' \t\r\n '][dice(5)] : '')
  const around = (text: string) => `${space()}${text}${space()}`
  const string = (text: string) => `"${escapeText(text, dice, escaping)}"`
  const write = (one: JsonValue): string => {
    if ('raw' in one) return around(one.raw)
    if ('items' in one) return around(`[${one.items.map(write).join(',') || space()}]`)
    if ('plain' in one)
      return around(typeof one.plain === 'string' ? string(one.plain) : JSON.stringify(one.plain))
    const members = one.members.map(([key, value]) => `${around(string(key))}:${write(value)}`)
    return around(`{${members.join(',') || space()}}`)
  }
  return write(value)
}

/** Encodes the body of a request, in one of eight cases after a byte order mark. */
export function encodeBody(value: JsonValue, dice: Dice, escaping: number): Buffer {
  return Buffer.from((dice(8) === 0 ? '\ufeff' : '') + encodeText(value, dice, escaping))
}

const SHORT: Record<string, string> = {
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '"': '"',
  '\\': '\\',
  '/': '/',
}

function escapeText(text: string, dice: Dice, escaping: number): string {
  const must = JSON.stringify(text).slice(1, -1)
  if (escaping === 0) return must
  let result = ''
  for (let at = 0; at < text.length; at++) {
    const unit = text[at] as string
    const may = dice(16) < escaping
    const code = text.charCodeAt(at).toString(16).padStart(4, '0')
    if (may && dice(2) === 0) result += `\\u${dice(2) === 0 ? code : code.toUpperCase()}`
    else if (unit in SHORT && (may || unit !== '/')) result += `\\${SHORT[unit]}`
    else if (unit < ' ' || (unit >= '\ud800' && unit <= '\udfff' && !text.isWellFormed()))
      result += `\\u${code}`
    else result += unit
  }
  return result
}

/** Splits a body at random places; half of the cuts are inside an escape if there is one. */
export function splitBody(body: Buffer, count: number, dice: Dice): Buffer[] {
  const cuts = Array.from({ length: count }, () => {
    const backslash = dice(2) === 0 ? body.indexOf('\\', dice(body.length + 1)) : -1
    return backslash < 0 ? dice(body.length + 1) : Math.min(body.length, backslash + 1 + dice(6))
  })
  const edges = [0, ...cuts.sort((one, other) => one - other), body.length]
  return edges.slice(1).map((end, at) => body.subarray(edges[at], end))
}

const name = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }) },
  fc.constantFrom(
    '😀'.repeat(255),
    'e\u0301'.repeat(127),
    '\u202eفاتورة\u202c.pdf',
    '\u{10ffff}\u2028',
    '../\\"/',
  ),
)
const mimetype = fc.constantFrom(
  'application/pdf',
  'text/plain; charset=utf-8',
  'text/plain;charset="utf-8 \\" ;"; a=b',
  'a/b;',
  "x!#$%&'*+.^`|~-/a",
  `a/${'b'.repeat(127)}`,
)
const around = (...sizes: number[]) =>
  fc.tuple(fc.constantFrom(...sizes), fc.integer({ min: -4, max: 4 })).map(([size, off]) => size + off)
const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 100 }) },
  { weight: 2, arbitrary: around(192, 768, 3072, 12_288, 16_384) },
  around(24_576, 32_768, 49_152, 65_536, 98_304),
)
/** Unknown members: small values of every kind, and long and deep ones. */
const key = fc.oneof(
  { weight: 9, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  fc.constantFrom('k'.repeat(3000), 'owner_id'.repeat(200)),
)
const others = fc.oneof(
  { weight: 9, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((plain): JsonValue => ({ plain })) },
  fc
    .tuple(fc.constantFrom('[', '{"a":', '[{"base64":'), fc.constantFrom(1, 70, 500))
    .map(([open, depth]): JsonValue => {
      const close = [...open.replace(/"\w+":/g, '')].reverse().map((one) => (one === '[' ? ']' : '}'))
      return { raw: `${open.repeat(depth)}"AA=="${close.join('').repeat(depth)}` }
    }),
  fc.constantFrom('9'.repeat(5000), `-0.${'0'.repeat(3000)}e-17`).map((raw): JsonValue => ({ raw })),
  fc.constantFrom('s', 'é"\\', '\ud800').map((unit): JsonValue => ({ plain: unit.repeat(5000) })),
)
const unknown = fc.tuple(key, others)
const KNOWN = ['name', 'mimetype', 'base64', ...IDS, 'documents']

const document = fc
  .record({
    name,
    mimetype,
    size,
    seed: fc.nat(1 << 16),
    width: fc.nat(90),
    more: fc.array(unknown, { maxLength: 2 }),
  })
  .map(({ name, mimetype, size, seed, width, more }): Member[] => {
    const bytes = createHash('shake256', { outputLength: size }).update(String(seed)).digest()
    const text = bytes.toString('base64')
    const lines =
      width < 4 ? text : text.replace(new RegExp(`.{${width}}`, 'g'), `$&${seed % 2 ? '\r\n' : '\n'}`)
    const fields: [string, unknown][] = [
      ['name', name],
      ['mimetype', mimetype],
      ['base64', lines],
    ]
    return [...more, ...fields.map(([key, plain]): Member => [key, { plain }])]
  })

export type Draft = { root: Member[]; documents: Member[][] }

/** A valid upload in which members may occur twice; the first of the two may have any value. */
export const draft: fc.Arbitrary<{ draft: Draft; seed: number; escaping: number; cuts: number }> = fc.record({
  draft: fc
    .record({
      documents: fc.oneof(
        { weight: 9, arbitrary: fc.array(document, { minLength: 1, maxLength: 5 }) },
        fc.array(document, { minLength: 20, maxLength: 60, size: 'max' }),
      ),
      ids: fc.tuple(...IDS.map(() => fc.constantFrom('1', '"1"', '"01"'))),
      more: fc.array(unknown, { maxLength: 3 }),
    })
    .map(({ documents, ids, more }): Draft => {
      const parties = IDS.map((field, at): Member => [field, { raw: ids[at] as string }])
      return { root: [...more, ...parties], documents }
    }),
  seed: fc.integer(),
  escaping: fc.constantFrom(0, 0, 1, 8, 16),
  cuts: fc.nat(6),
})

/** Builds one value of the draft: members shuffled, some preceded by a wrong one of the same name. */
export function buildUpload({ root, documents }: Draft, dice: Dice): JsonValue {
  const shuffle = (members: Member[]): JsonValue => {
    const order = members.map((member) => ({ member, place: dice(1000) }))
    order.sort((one, other) => one.place - other.place)
    const shuffled = order.map(({ member }) => member)
    if (dice(6) > 0) return { members: shuffled }
    const again = members[dice(members.length)]?.[0] ?? 'base64'
    const junk = [null, '', 7, [], {}, 'AAAA', 'A?==', [{ base64: 'AAAA' }], { name: 1 }, true][dice(10)]
    return { members: [[again, { plain: junk }], ...shuffled] }
  }
  // Repeats the first document in one of four cases.
  const twice = dice(4) === 0 ? [...documents, documents[0] as Member[]] : documents
  return shuffle([...root, ['documents', { items: twice.map(shuffle) }]])
}

const VALUES: JsonValue[] = [
  null,
  '',
  [],
  {},
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  'x',
  ' 1',
  '1.0',
  '-1',
  [1],
  '١',
  'x'.repeat(5000),
].map((plain) => ({ plain }))
const NUMBERS: JsonValue[] = ['1.0', '1e0', '10e-1', '1.0000000000000000001', '1E0', '9'.repeat(2000)].map(
  (raw) => ({
    raw,
  }),
)
const STRINGS: JsonValue[] = [
  ...['x'.repeat(256), '😀'.repeat(256), 'a\0', '\x7f', '\x85', '\ud800', 'a\udc00b', '\ude00\ud83d'],
  ...[
    'a',
    'a/',
    '/b',
    'a/b c',
    'a/b; c=d',
    `a/${'b'.repeat(128)}`,
    'á/b',
    '*/*',
    'a/*; q=1',
    '*/b',
    '  ',
    '\u3000',
  ],
  ...['a/b; c', 'a/b; c=', 'a/b; c="d', 'a/b;;c=d', 'a/b c=d', `a/b; c=${'d'.repeat(300)}`, 'a/b; c="é"'],
  ...[
    'A',
    'AA',
    'AAA',
    'AA=',
    'AA=A',
    '=',
    '====',
    'AA==AA==',
    'AAA=\n\r',
    'AA\n=\r=',
    'AB==',
    'A-_A',
    '\r\n',
  ],
  ...[
    'AA A',
    'AAAA ',
    '\tAAAA',
    'data:;base64,AAAA',
    'AAAA\0',
    'AAA\u0141',
    'AAAá',
    '\ud800AAA',
    'AAAA\f',
    'AAAA\u2028',
  ],
].map((plain) => ({ plain }))
const ANY = [...VALUES, ...NUMBERS, ...STRINGS]

/** Makes one member wrong, missing, or unusual but valid, before the text is written. */
export function corruptDraft({ root, documents }: Draft, dice: Dice): Draft {
  const value = ANY[dice(ANY.length)] as JsonValue
  const corrupt = (members: Member[], known: readonly string[]) => {
    const field = known[dice(known.length)] as string
    const rest = members.filter(([key]) => key !== field)
    return dice(6) === 0 ? rest : [...rest, [field, value] as Member]
  }
  if (dice(3) === 0) return { root: corrupt(root, IDS), documents }
  const at = dice(documents.length)
  if (dice(3) === 0) {
    const corruptDocuments = documents.map((one, index) =>
      index === at ? one.map((member) => corruptBase64(member, dice)) : one,
    )
    return { root, documents: corruptDocuments }
  }
  const documentsWithFault = documents.map((one, index) =>
    index === at ? corrupt(one, KNOWN.slice(0, 3)) : one,
  )
  return { root: dice(20) === 0 ? [...root, ['documents', value]] : root, documents: documentsWithFault }
}

const INTRUDERS = [
  ' ',
  '\t',
  '\f',
  '\v',
  '\0',
  '-',
  '_',
  '=',
  '==',
  'A',
  '?',
  '\r\n',
  '\u00a0',
  'é',
  '\u0141',
  '\ud800',
]

/** Adds or replaces one character anywhere in the base64 of a document. */
function corruptBase64([key, value]: Member, dice: Dice): Member {
  if (key !== 'base64' || !('plain' in value)) return [key, value]
  const text = String(value.plain)
  const at = dice(text.length + 1)
  const intruder = INTRUDERS[dice(INTRUDERS.length)] as string
  return [key, { plain: text.slice(0, at) + intruder + text.slice(at + dice(2)) }]
}

const BYTES = [
  '',
  '',
  '"',
  '\\',
  '\\u',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '=',
  '?',
  ' ',
  '\n',
  '\0',
  '0',
  '-',
  'e',
  '/*',
].map((text) => Buffer.from(text))
BYTES.push(
  ...['ff', 'c3', 'eda080', 'c0af', 'f5808080', 'e282', 'efbbbf'].map((hex) => Buffer.from(hex, 'hex')),
)

/** Corrupts a text at one place: cuts it there, or inserts or removes bytes. */
export function corruptText(body: Buffer, dice: Dice): Buffer {
  const at = dice(5) === 0 ? body.length : dice(4) === 0 ? 0 : dice(body.length + 1)
  if (dice(4) === 0) return body.subarray(0, at)
  return Buffer.concat([
    body.subarray(0, at),
    BYTES[dice(BYTES.length)] as Buffer,
    body.subarray(at + dice(3)),
  ])
}
