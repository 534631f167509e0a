// Tables of the keyed services: values of a base in other currencies on a day or on each day of a period, or one
// value. Each service has its own errors.

import { type Cross, crossesByDay, listCurrencies } from '../../../domain/rates/crosses.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { smallest } from '../../../domain/rates/rates.ts'
import { rawNumber } from '../../../formats/json/raw.ts'
import type { AppError } from '../../../runtime/errors.ts'
import type { Side } from '../../../store/tables.ts'
import type { IsoDate } from '../../../values/dates.ts'
import { completeQuotes, computeSoundCrosses } from '../missing-days.ts'
import { checkRowCount } from '../rows.ts'
import { type CompatDeps, fewestDecimals, servedCrosses } from '../shape.ts'

/** `symbols` empty: all. */
export type QuotesQuery = { base: string; symbols: readonly string[]; side: Side; provider: string }
export type RequestedPair = { from: string; to: string; side: Side; provider: string }

/** Name of an API, and its errors. */
export type TableRules = {
  shape: string
  /** Lists the base in the table, at 1. */
  listsBase: boolean
  noBase(): AppError
  /** Error for only unknown symbols; undefined: an empty table. */
  noSymbols?(): AppError
  noTarget(): AppError
  noResults(): AppError
}

/** Finds the table of a day. @throws AppError with the API's text */
export async function findDayTable(
  deps: CompatDeps,
  rules: TableRules,
  snapshot: RateSnapshot,
  { day, ...table }: QuotesQuery & { day: IsoDate },
): Promise<Limitations & { crosses: readonly Cross[] }> {
  const quotes = tableQuotes(deps, rules, snapshot, table)
  const { provider, base, side } = table
  const areNamed = table.symbols.length > 0
  const selection = { provider, base, quotes, side, day }
  const { crosses, holes } = await computeSoundCrosses(snapshot, selection, areNamed)
  const rates = servedCrosses(deps, crosses)
  if (quotes.length > 0 && !hasRates(rates, quotes, base)) throw rules.noResults()
  return { crosses: rates, roundedTo: fewestDecimals(rates), leftOut: [...holes.keys()] }
}

/** The fewest decimals of a rounded rate, and the codes with days that were not synchronized. */
type Limitations = { roundedTo: number | undefined; leftOut: readonly string[] }

/** Headers of a table: its rounding, and the codes that are left out. */
export const TABLE_HEADERS = {
  roundedTo: ({ roundedTo }: Limitations) => roundedTo,
  leftOut: ({ leftOut }: Limitations) => leftOut,
}

/**
 * Finds the table of each day of a period, with codes after `prefix`. The result is text: as objects, decades of
 * all currencies take 200 MB. @throws AppError with the API's text
 */
export async function findPeriodTables(
  deps: CompatDeps,
  rules: TableRules,
  snapshot: RateSnapshot,
  { from, to, prefix = '', ...table }: QuotesQuery & { from: IsoDate; to: IsoDate; prefix?: string },
): Promise<Limitations & { text: string }> {
  const { provider, base, side, symbols } = table
  const range = { provider, base, side, from, to }
  const { quotes, leftOut } = await completeQuotes(deps, rules.shape, snapshot, {
    ...{ ...range, quotes: tableQuotes(deps, rules, snapshot, table) },
    ...{ areNamed: symbols.length > 0, onlyPublished: false },
  })
  const selection = { ...range, quotes }
  let text = ''
  let rows = 0
  let leastDecimals: number | undefined
  for await (const { day, crosses: rates } of crossesByDay(snapshot, selection)) {
    if (!hasRates(rates, quotes, base)) continue
    rows += rates.length
    checkRowCount(rows)
    text += `${text && ','}"${day}":${JSON.stringify(tableOut(rates, prefix))}`
    leastDecimals = smallest(leastDecimals, fewestDecimals(rates))
  }
  return { text: `{${text}}`, roundedTo: leastDecimals, leftOut }
}

/** Finds the value of one unit of a currency in another. @throws AppError with the API's text */
export async function findQuote(
  deps: CompatDeps,
  rules: TableRules,
  snapshot: RateSnapshot,
  { from, to, side, provider, day }: RequestedPair & { day: IsoDate },
): Promise<Cross> {
  const currencies = listCurrencies(snapshot, provider)
  if (!isKnown(deps, rules, currencies, from)) throw rules.noBase()
  if (!isKnown(deps, rules, currencies, to)) throw rules.noTarget()
  const selection = { provider, base: from, quotes: [to], side, day }
  const [cross] = servedCrosses(deps, (await computeSoundCrosses(snapshot, selection, true)).crosses)
  if (!cross) throw rules.noResults()
  return cross
}

/** Encodes a table as an object, with codes after `prefix`. */
export function tableOut(crosses: readonly Cross[], prefix = ''): Record<string, unknown> {
  return Object.fromEntries(crosses.map(({ quote, rate }) => [prefix + quote, rawNumber(rate)]))
}

/** Encodes an object, with JSON text as its last field. */
export function appendJson(fields: Readonly<Record<string, unknown>>, name: string, text: string): string {
  return `${JSON.stringify(fields).slice(0, -1)},"${name}":${text}}`
}

function tableQuotes(
  deps: CompatDeps,
  rules: TableRules,
  snapshot: RateSnapshot,
  { provider, base, symbols }: QuotesQuery,
): string[] {
  const currencies = listCurrencies(snapshot, provider)
  if (!isKnown(deps, rules, currencies, base)) throw rules.noBase()
  const missing = symbols.filter((code) => !isKnown(deps, rules, currencies, code))
  if (rules.noSymbols && symbols.length > 0 && missing.length === symbols.length) throw rules.noSymbols()
  const codes = symbols.length > 0 ? currencies.filter((code) => symbols.includes(code)) : currencies
  return rules.listsBase ? codes : codes.filter((code) => code !== base)
}

function isKnown(
  deps: CompatDeps,
  { shape }: TableRules,
  currencies: readonly string[],
  code: string,
): boolean {
  if (currencies.includes(code)) return true
  deps.unserved.indicator(shape, code)
  return false
}

/**
 * Returns true for rates other than the base in itself, which is 1 in a table of other rates. A request for only that
 * rate counts too, on days with rates.
 */
function hasRates(crosses: readonly Cross[], quotes: readonly string[], base: string): boolean {
  return crosses.some(({ quote }) => quote !== base || quotes.length === 1)
}
