// The answer of a batch of conversions, from its body. Checking, looking up and writing are done in slices, between which
// others have their turn.

import * as v from 'valibot'
import type { IsoDate } from '../../dates.ts'
import { product } from '../../decimal.ts'
import { conversionOn, loadColumnsOf } from '../../domain/rates/queries.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { AppError } from '../../errors.ts'
import type { Chunks } from '../../store/blobs/chunks.ts'
import type { Turns } from '../../turns.ts'
import { errorAnswer, invalidParameters, type ValidationItem } from '../api/errors.ts'
import { checked } from '../api/params.ts'
import { addUnknown } from '../api/unknown-parameters.ts'
import { type BatchElement, NOT_AN_OBJECT, readBatch } from './batch-reader.ts'
import { CONVERSION, partsOf, withAmount } from './convert.ts'
import { RATES_ERRORS } from './errors.ts'

const ELEMENTS_AT_ONCE = 200 // some milliseconds
const FIELDS = Object.keys(CONVERSION)
const FIELDS_WITH_ID = [...FIELDS, 'id']

const Fields = v.object(CONVERSION)
type Asked = Omit<v.InferOutput<typeof Fields>, 'on'> & { day: IsoDate; details: boolean }
type Element = { id: string | undefined } & ({ asked: Asked } | { error: AppError })

/** What elements of the same currencies and day have in common: JSON without its opening brace. */
type Known = { before: string; after: string; rate: string } | { refusal: string }

export type BatchDeps = {
  cache: RateCache
  today: IsoDate
  /** Those of all batches. */
  inTurns: Turns
  /** Is given back at the end of the answer. */
  permit: Disposable
}

/**
 * Reads a body and answers it with JSON, in chunks. All of the answer is of one snapshot, whose columns are read before it
 * begins.
 * @throws AppError as readBatch, and `busy` while the rates are being changed
 */
export async function answerBatch(
  { cache, today, inTurns, permit }: BatchDeps,
  body: AsyncGenerator<Uint8Array, void>,
  bounds: { most: number; maxBytes: number },
): Promise<Chunks> {
  const read = await readBatch(body, FIELDS, bounds)
  const elements: Element[] = []
  const checking = slicesOf(read, (one, at) => checkedElement(one, today, at))
  for await (const slice of inTurns(checking)) elements.push(...slice)
  const asked = elements.flatMap((one) => ('asked' in one ? [one.asked] : []))
  const snapshot = await cache.read(async (snapshot) => {
    await loadColumnsOf(snapshot, asked)
    return snapshot
  })
  const answerOf = answererOf(snapshot)
  const answering = slicesOf(elements, (one, at) => (at > 0 ? ',' : '[') + answerOf(one))
  return chunksOf(inTurns(answering), permit)
}

/** What becomes of the elements of a list, some at a time. */
function* slicesOf<T, R>(list: readonly T[], make: (one: T, at: number) => R): Generator<R[], void> {
  for (let from = 0; from < list.length; from += ELEMENTS_AT_ONCE) {
    yield list.slice(from, from + ELEMENTS_AT_ONCE).map((one, at) => make(one, from + at))
  }
}

function checkedElement(element: BatchElement | typeof NOT_AN_OBJECT, today: IsoDate, at: number): Element {
  if (element === NOT_AN_OBJECT) {
    const item = { loc: ['body', at], msg: 'must be an object with amount, from and to', type: 'object' }
    return { id: undefined, error: invalidParameters([item]) }
  }
  const { id, fields, badId } = element
  const faults: ValidationItem[] = []
  const { on, ...given } = checked(Fields, 'query', fields, faults)
  addUnknown(fields, FIELDS_WITH_ID, faults, { takesBusters: false })
  if (badId) faults.push({ loc: ['query', 'id'], msg: 'id must be a text or an integer', type: 'id' })
  return faults.length > 0
    ? { id, error: invalidParameters(faults) }
    : { id, asked: { ...given, details: true, day: on ?? today } }
}

async function* chunksOf(slices: AsyncIterable<readonly string[]>, permit: Disposable): Chunks {
  using _permit = permit
  let isEmpty = true
  for await (const slice of slices) {
    yield Buffer.from(slice.join(''))
    isEmpty = false
  }
  yield Buffer.from(isEmpty ? '[]' : ']')
}

/** Answers elements of one snapshot. Those of the same currencies and day have all but their amount in common. */
function answererOf(snapshot: RateSnapshot): (element: Element) => string {
  const known = new Map<string, Known>()
  return (element) => {
    const start = element.id === undefined ? '{' : `{"id":${element.id},`
    if ('error' in element) return start + refusalOf(element.error)
    const { from, to, type, day, provider, amount } = element.asked
    const one = known.getOrInsertComputed(`${from} ${to} ${type} ${day} ${provider}`, () =>
      rateFor(snapshot, element.asked),
    )
    if ('refusal' in one) return start + one.refusal
    return start + withAmount(one, amount, one.rate, product(amount, one.rate))
  }
}

/** @throws what is no refusal */
function rateFor(snapshot: RateSnapshot, asked: Asked): Known {
  try {
    const found = conversionOn(snapshot, { ...asked, amount: '1' })
    if (found instanceof Promise) throw new TypeError('a column was not loaded')
    const { before, after } = partsOf(found, asked)
    return { before: before.slice(1), after, rate: found.rate }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { refusal: refusalOf(error) }
  }
}

/** Status and detail, as JSON without its opening brace. */
function refusalOf(error: AppError): string {
  const { status, body } = errorAnswer(error, RATES_ERRORS)
  return `"status":${status},${body.slice(1)}`
}
