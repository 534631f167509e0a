// The table that the services with keys are about: what a base is worth in other currencies, on a day, on each day of a
// period, or in one of them. Each service has its own words for what there is no answer to.

import type { IsoDate } from '../../../dates.ts'
import { type Cross, crossesByDay, crossesOn, currenciesOf } from '../../../domain/rates/crosses.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { smallest } from '../../../domain/rates/rates.ts'
import type { AppError } from '../../../errors.ts'
import { rawNumber } from '../../../json/raw.ts'
import type { Side } from '../../../store/tables.ts'
import { wholeQuotes } from '../missing-days.ts'
import { checkRows } from '../rows.ts'
import { fewestDecimals, heldOf, PROVIDER, type ShapeDeps } from '../shape.ts'

/** `symbols` empty: all. */
export type Table = { base: string; symbols: readonly string[]; side: Side }
export type Pair = { from: string; to: string; side: Side }

/** A shape's name, and how it says why there is no answer. */
export type Words = {
  shape: string
  /** Whether a table has the base in it, at 1. */
  listsBase: boolean
  noBase(): AppError
  /** None of the symbols is known; undefined: that is an empty table. */
  noSymbols?(): AppError
  noTarget(): AppError
  noResults(): AppError
}

/** A table on a day. @throws AppError in the words of the shape */
export async function quotesOn(
  deps: ShapeDeps,
  words: Words,
  snapshot: RateSnapshot,
  { day, ...table }: Table & { day: IsoDate },
): Promise<DayTable> {
  const quotes = quotesOf(deps, words, snapshot, table)
  const { base, side } = table
  const { crosses, holes } = await crossesOn(snapshot, { provider: PROVIDER, base, quotes, side, day })
  const found = heldOf(deps, crosses)
  if (quotes.length > 0 && !saysMore(found, quotes, base)) throw words.noResults()
  return { crosses: found, leftOut: [...holes.keys()] }
}

/** What has a rate on a day, and the codes of what has none over days that were not synchronized. */
export type DayTable = { crosses: readonly Cross[]; leftOut: readonly string[] }

/** To how many decimals a table is rounded, and what is left out of it, for its headers. */
export const OF_A_DAY = {
  roundedTo: ({ crosses }: DayTable) => fewestDecimals(crosses),
  leftOut: ({ leftOut }: DayTable) => leftOut,
}

/** Tables of days as JSON text, to how many decimals the roughest rate is rounded, and the codes that are left out. */
export type PeriodText = { text: string; roundedTo: number | undefined; leftOut: readonly string[] }

/** The headers of such tables. */
export const OF_A_PERIOD = {
  roundedTo: ({ roundedTo }: PeriodText) => roundedTo,
  leftOut: ({ leftOut }: PeriodText) => leftOut,
}

/**
 * A table on each day of a period for which there is one, with its codes after `prefix`. It is text from the beginning:
 * as objects, decades of all currencies take 200 MB. @throws AppError in the words of the shape
 */
export async function quotesBetween(
  deps: ShapeDeps,
  words: Words,
  snapshot: RateSnapshot,
  { from, to, prefix = '', ...table }: Table & { from: IsoDate; to: IsoDate; prefix?: string },
): Promise<PeriodText> {
  const { base, side, symbols } = table
  const range = { provider: PROVIDER, base, side, from, to }
  const { quotes, leftOut } = await wholeQuotes(deps, words.shape, snapshot, {
    ...{ ...range, quotes: quotesOf(deps, words, snapshot, table) },
    ...{ areNamed: symbols.length > 0, onlyPublished: false },
  })
  const asked = { ...range, quotes }
  let text = ''
  let rows = 0
  let roundedTo: number | undefined
  for await (const { day, crosses } of crossesByDay(snapshot, asked)) {
    const held = heldOf(deps, crosses)
    if (!saysMore(held, quotes, base)) continue
    rows += held.length
    checkRows(rows)
    text += `${text && ','}"${day}":${JSON.stringify(tableOut(held, prefix))}`
    roundedTo = smallest(roundedTo, fewestDecimals(held))
  }
  return { text: `{${text}}`, roundedTo, leftOut }
}

/** What one unit of a currency is worth in another. @throws AppError in the words of the shape */
export async function quoteOn(
  deps: ShapeDeps,
  words: Words,
  snapshot: RateSnapshot,
  { from, to, side, day }: Pair & { day: IsoDate },
): Promise<Cross> {
  const known = currenciesOf(snapshot, PROVIDER)
  if (!isKnown(deps, words, known, from)) throw words.noBase()
  if (!isKnown(deps, words, known, to)) throw words.noTarget()
  const asked = { provider: PROVIDER, base: from, quotes: [to], side, day }
  const [found] = heldOf(deps, (await crossesOn(snapshot, asked)).crosses)
  if (!found) throw words.noResults()
  return found
}

/** A table as an object, under each currency's code after `prefix`. */
export function tableOut(crosses: readonly Cross[], prefix = ''): Record<string, unknown> {
  return Object.fromEntries(crosses.map(({ quote, rate }) => [prefix + quote, rawNumber(rate)]))
}

/** An object as JSON, with what is JSON already as the last of its fields. */
export function withText(fields: Readonly<Record<string, unknown>>, name: string, text: string): string {
  return `${JSON.stringify(fields).slice(0, -1)},"${name}":${text}}`
}

function quotesOf(deps: ShapeDeps, words: Words, snapshot: RateSnapshot, { base, symbols }: Table): string[] {
  const known = currenciesOf(snapshot, PROVIDER)
  if (!isKnown(deps, words, known, base)) throw words.noBase()
  const missing = symbols.filter((code) => !isKnown(deps, words, known, code))
  if (words.noSymbols && symbols.length > 0 && missing.length === symbols.length) throw words.noSymbols()
  const wanted = symbols.length > 0 ? known.filter((code) => symbols.includes(code)) : known
  return words.listsBase ? wanted : wanted.filter((code) => code !== base)
}

function isKnown(deps: ShapeDeps, { shape }: Words, known: readonly string[], code: string): boolean {
  if (known.includes(code)) return true
  deps.missed.indicator(shape, code)
  return false
}

/** Whether there is more than the base in itself, which is 1 on days before the data too, or nothing more was asked. */
function saysMore(found: readonly Cross[], quotes: readonly string[], base: string): boolean {
  return found.some(({ quote }) => quote !== base) || (quotes.length === 1 && quotes[0] === base)
}
