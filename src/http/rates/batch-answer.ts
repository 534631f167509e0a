// The answer of a batch of conversions, from its body. Checking, looking up and writing are done in slices, between which
// others have their turn.

import type { IsoDate } from '../../dates.ts'
import { product } from '../../decimal.ts'
import { type Converter, converterOf, loadColumnsOf } from '../../domain/rates/conversions.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { AppError } from '../../errors.ts'
import type { Chunks } from '../../store/blobs/chunks.ts'
import type { Turns } from '../../turns.ts'
import { errorAnswer } from '../api/errors.ts'
import { createCheck, type Element, FIELDS, type Group } from './batch-check.ts'
import { readBatch } from './batch-reader.ts'
import { partsOf, withAmount } from './convert.ts'
import { RATES_ERRORS } from './errors.ts'
import { futureField } from './future.ts'

const SLICE = { elements: 500, ms: 4 } // of elements that are all wrong it has far fewer

/** What elements of a group and day have in common: JSON without its opening brace. */
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
  const elements: Element<Known>[] = []
  const groups = new Map<string, Group<Known>>()
  const checking = slicesOf(read, createCheck(groups, today))
  for await (const slice of inTurns(checking)) elements.push(...slice)
  const ways = Array.from(groups.values(), ({ way }) => way)
  const snapshot = await cache.read(async (snapshot) => {
    await loadColumnsOf(snapshot, ways)
    return snapshot
  })
  const answerOf = answererOf(snapshot, today)
  const answering = slicesOf(elements, (one, at) => (at > 0 ? ',' : '[') + answerOf(one))
  return chunksOf(inTurns(answering), permit)
}

/** What becomes of the elements of a list, some at a time. */
function* slicesOf<T, R>(list: readonly T[], make: (one: T, at: number) => R): Generator<R[], void> {
  for (let from = 0; from < list.length; ) {
    const slice: R[] = []
    const end = Math.min(list.length, from + SLICE.elements)
    const until = performance.now() + SLICE.ms
    do {
      slice.push(make(list[from] as T, from))
      from += 1
    } while (from < end && performance.now() < until)
    yield slice
  }
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

/** Answers elements of one snapshot. */
function answererOf(snapshot: RateSnapshot, today: IsoDate): (element: Element<Known>) => string {
  const converters = new Map<Group<Known>, Converter>()
  const rateOn = (group: Group<Known>, day: IsoDate): Known => {
    try {
      const convert = converters.getOrInsertComputed(group, ({ way }) => converterOf(snapshot, way))
      const found = convert('1', day)
      const { before, after } = partsOf(found, {
        ...group.way,
        ...{ amount: '1', details: true, isFuture: futureField({ day, today }) },
      })
      return { before: before.slice(1), after, rate: found.rate }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { refusal: refusalOf(error) }
    }
  }
  return (element) => {
    const start = element.id === undefined ? '{' : `{"id":${element.id},`
    if ('error' in element) return start + refusalOf(element.error)
    const { group, day, amount } = element
    const known = group.days.getOrInsertComputed(day, () => rateOn(group, day))
    if ('refusal' in known) return start + known.refusal
    return start + withAmount(known, amount, known.rate, product(amount, known.rate))
  }
}

/** Status and detail, as JSON without its opening brace. */
function refusalOf(error: AppError): string {
  const { status, body } = errorAnswer(error, RATES_ERRORS)
  return `"status":${status},${body.slice(1)}`
}
