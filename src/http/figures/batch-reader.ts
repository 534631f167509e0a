// Parses the body of a batch of conversions: an array of objects. Fields stay text, to be validated like URL
// parameters; a number stays as it was written. An invalid element fails alone; invalid JSON or no array fails the
// request.

import { notJson } from '../../formats/json/error.ts'
import { createJsonScanner } from '../../formats/json/scanner.ts'
import { createUtf8Check } from '../../formats/json/utf8.ts'
import { type JsonScalar, TOO_LONG } from '../../formats/json/value.ts'
import { AppError } from '../../runtime/errors.ts'
import { invalidParameters } from '../endpoint/error-shape.ts'

/** A conversion; NOT_AN_OBJECT replaces any other value. */
export type BatchElement = {
  /** As JSON, to be answered as it was sent; undefined: there is none. */
  id: string | undefined
  /** The id is neither a text nor an integer. */
  badId: boolean
  /** Texts of the known fields, in their order. A `null` counts as absent. */
  texts: (string | undefined)[]
  /** Unknown fields, by name. */
  unknown: Record<string, string> | undefined
}

export const NOT_AN_OBJECT = Symbol('an element that is no object')

/** Unknown fields of an element that are reported: each is compared with those that there are. */
export const MAX_UNKNOWN = 8
const ID = -1
const UNKNOWN = -2
const IGNORED = -3 // an unknown one beyond those

/**
 * Parses the pieces of a body in order. `known` are the fields of an element, beside `id`.
 * Both functions throw AppError `bad-request`, `invalid`, or `too-large` for more than `most`.
 */
export function createBatchReader(
  known: readonly string[],
  { most, maxBytes }: { most: number; maxBytes: number },
): { push(piece: Uint8Array): void; end(): (BatchElement | typeof NOT_AN_OBJECT)[] } {
  const elements: (BatchElement | typeof NOT_AN_OBJECT)[] = []
  const fields = new Map([...known.entries()].map(([at, name]) => [name, at]))
  fields.set('id', ID)
  let depth = 0
  let element: BatchElement | undefined
  let unknown = 0
  let name = ''
  let field = IGNORED
  const addElement = (one: BatchElement | typeof NOT_AN_OBJECT) => {
    if (elements.length === most) throw tooMany(most)
    elements.push(one)
    element = one === NOT_AN_OBJECT ? undefined : one
    unknown = 0
  }
  const set = (value: JsonScalar) => {
    if (!element || field === IGNORED) return
    if (field >= 0) element.texts[field] = value === null ? undefined : elementText(value)
    else if (field === ID) setId(element, value)
    else setUnknown(element, name, elementText(value))
  }
  // An id that is nested is as bad as `true`; no other field is right with such a text.
  const setNested = (kind: 'object' | 'array') => set(field === ID ? true : kind === 'object' ? '{}' : '[]')
  const scanner = createJsonScanner({
    open(kind) {
      depth++
      if (depth === 1 && kind === 'object') throw notAnArray()
      if (depth === 1) return true
      if (depth === 3) setNested(kind)
      else addElement(kind === 'object' ? emptyElement(known.length) : NOT_AN_OBJECT)
      return depth === 2 && kind === 'object'
    },
    close() {
      depth--
    },
    key(rawName) {
      name = rawName === TOO_LONG ? '…' : rawName
      field = fields.get(name) ?? UNKNOWN
      if (field !== UNKNOWN || (element?.unknown && Object.hasOwn(element.unknown, name))) return
      unknown += 1
      if (unknown > MAX_UNKNOWN) field = IGNORED
    },
    value(value) {
      if (depth === 0) throw notAnArray()
      if (depth === 1) addElement(NOT_AN_OBJECT)
      else set(value)
    },
    maxBytes: () => (depth === 2 && field === IGNORED ? 0 : maxBytes),
    wantsPieces: () => false,
    piece: () => false,
    endOfPieces() {},
    isBusy: () => false,
  })
  const isUtf8 = createUtf8Check()
  let read = 0
  return {
    push(piece) {
      const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
      if (!isUtf8(chunk)) throw notJson('not UTF-8 in the block that begins', read)
      scanner.push(chunk)
      read += chunk.length
    },
    end() {
      scanner.end()
      return elements
    },
  }
}

function emptyElement(fields: number): BatchElement {
  return { id: undefined, badId: false, texts: new Array(fields).fill(undefined), unknown: undefined }
}

function setUnknown(element: BatchElement, name: string, value: string): void {
  element.unknown ??= Object.create(null) as Record<string, string> // a name may be `__proto__`
  element.unknown[name] = value
}

function setId(element: BatchElement, value: JsonScalar): void {
  const isInteger = typeof value === 'object' && value !== null && /^-?\d+$/.test(value.number)
  element.id = typeof value === 'string' ? JSON.stringify(value) : isInteger ? elementText(value) : undefined
  element.badId = value !== null && element.id === undefined
}

function elementText(value: JsonScalar): string {
  if (typeof value === 'object' && value !== null) return value.number
  return value === TOO_LONG ? '' : String(value)
}

function notAnArray(): AppError {
  const msg =
    'the body must be an array of conversions, such as [{"amount": "15", "from": "USD", "to": "CRC"}]'
  return invalidParameters([{ loc: ['body'], msg, type: 'array' }])
}

function tooMany(most: number): AppError {
  return new AppError('too-large', `At most ${most} conversions in one request: send the others in another`)
}
