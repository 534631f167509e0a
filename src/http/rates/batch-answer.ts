// Answers a batch of conversions. Elements are validated, converted and encoded in slices, so that other requests
// run in between.

import {
  type Converter,
  findRouteSeries,
  loadColumns,
  loadedConverter,
} from '../../domain/rates/conversions.ts'
import type { PastRates } from '../../domain/rates/history/past.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Interleave } from '../../runtime/interleave.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { addDays, endOfDay, type IsoDate } from '../../values/dates.ts'
import { applyRounding, product } from '../../values/decimal.ts'
import { errorAnswer } from '../endpoint/error-shape.ts'
import { type ConversionGroup, createCheck, type Element, FIELDS } from '../figures/batch-check.ts'
import { createBatchReader } from '../figures/batch-reader.ts'
import { splitConversion, withAmount } from '../figures/conversion.ts'
import { futureField } from '../figures/future.ts'
import { RATES_ERRORS, showChangeLogLimits } from '../figures/rates-errors.ts'
import type { BatchPieces } from './batch-memory.ts'

const SLICE = { elements: 500, ms: 4 } // a slice of invalid elements has far fewer

/** Shared JSON of the elements of a group and day, without its opening brace. */
type SharedText = { before: string; after: string; rate: string } | { refusal: string }

type BatchDeps = {
  cache: Pick<RateCache, 'snapshot' | 'read'>
  past: PastRates
  today: IsoDate
  asOf: string | undefined
  /** Shared by all batches. */
  interleave: Interleave
}

/**
 * Parses a body and answers it with JSON, of one snapshot. Returns its instant, or the beginning of today if that is
 * later.
 * @throws AppError as createBatchReader; `busy` while the rates are being changed, or from `answer`; `not-found`
 * outside of the change log
 */
export async function answerBatch(
  { cache, past, today, asOf, interleave }: BatchDeps,
  { body, answer }: { body: Pick<BatchPieces, 'list'>; answer: Pick<BatchPieces, 'add'> },
  bounds: { most: number; maxBytes: number },
): Promise<string | undefined> {
  const reader = createBatchReader(FIELDS, bounds)
  for await (const _ of interleave(mapSlices(body.list, reader.push)));
  const bodyElements = reader.end()
  const elements: Element<SharedText>[] = []
  const groups = new Map<string, ConversionGroup<SharedText>>()
  const checking = mapSlices(bodyElements, createCheck(groups, today))
  for await (const slice of interleave(checking)) elements.push(...slice)
  const ways = Array.from(groups.values(), ({ way }) => way)
  const load = async (snapshot: RateSnapshot) => {
    const needed = new Set<SeriesRow>()
    for await (const slice of interleave(mapSlices(ways, (way) => findRouteSeries(snapshot, way))))
      for (const series of slice.flat()) needed.add(series)
    return loadColumns(snapshot, needed)
  }
  const snapshot = await showChangeLogLimits(() =>
    cache.read((present) =>
      asOf === undefined ? load(present) : past.read(present, Date.parse(asOf), load),
    ),
  )
  const answerElement = createAnswerer(snapshot, today, asOf)
  const answering = mapSlices(elements, (one, at) => (at > 0 ? ',' : '[') + answerElement(one))
  for await (const slice of interleave(answering)) answer.add(Buffer.from(slice.join('')))
  answer.add(Buffer.from(elements.length === 0 ? '[]' : ']'))
  const { newestInstant } = snapshot
  const instant = newestInstant && Math.max(newestInstant, endOfDay(addDays(today, -1)))
  return asOf ?? (instant === undefined ? undefined : new Date(instant).toISOString())
}

/** Maps a list in slices. */
function* mapSlices<T, R>(list: readonly T[], make: (one: T, at: number) => R): Generator<R[], void> {
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

/** Answers elements of one snapshot. */
function createAnswerer(
  snapshot: RateSnapshot,
  today: IsoDate,
  asOf: string | undefined,
): (element: Element<SharedText>) => string {
  const converters = new Map<ConversionGroup<SharedText>, Converter>()
  const computeText = (group: ConversionGroup<SharedText>, day: IsoDate): SharedText => {
    try {
      const convert = converters.getOrInsertComputed(group, ({ way }) => loadedConverter(snapshot, way))
      const conversion = convert('1', day)
      const { before, after } = splitConversion(conversion, {
        ...group.way,
        ...{ amount: '1', details: true, isFuture: futureField({ day, today }), as_of: asOf },
      })
      return { before: before.slice(1), after, rate: conversion.rate }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { refusal: encodeError(error) }
    }
  }
  return (element) => {
    const start = element.id === undefined ? '{' : `{"id":${element.id},`
    if ('error' in element) return start + encodeError(element.error)
    const { group, day, amount, rounding } = element
    const text = group.days.getOrInsertComputed(day, () => computeText(group, day))
    if ('refusal' in text) return start + text.refusal
    const result = applyRounding(product(amount, text.rate), rounding)
    return start + withAmount(text, amount, text.rate, result)
  }
}

/** Status and detail, as JSON without its opening brace. */
function encodeError(error: AppError): string {
  const { status, body } = errorAnswer(error, RATES_ERRORS)
  return `"status":${status},${body.slice(1)}`
}
