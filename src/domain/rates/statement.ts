// The statement of a conversion: a text with everything that the result follows from, as of an instant. Its SHA-256
// identifies the answer; the proof is that the server repeats it (decisions 2.24).

import { createHash } from 'node:crypto'
import type { RateType } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { IsoDate } from '../../values/dates.ts'
import { type ConversionResult, convertAmount } from './conversions.ts'
import type { ValuedLeg } from './convert.ts'
import { withColumns } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { rateOn } from './rates.ts'

const FORMAT = 'cambista-constancia/1'

export type StatementQuery = {
  provider: string
  amount: string
  from: string
  to: string
  /** `both`: compra and venta, or the only rate of a route without sides. */
  type: 'compra' | 'venta' | 'both'
  day: IsoDate
}

/** Conversion of one side, or of compra and venta. */
export type Conversions = readonly [ConversionResult] | readonly [ConversionResult, ConversionResult]

/** A value of the present answer that was another one then; null: none. */
export type ValueChange = { series: SeriesRow; day: IsoDate; was: string | null; is: string | null }

/** The present answer, where it differs. `refusal`: the reason that there is none. */
export type LaterAnswer = {
  conversions: Conversions | undefined
  refusal: string | undefined
  changes: readonly ValueChange[]
}

/** Converts by one side or by both. @throws AppError as convertAmount */
export async function convertSides(snapshot: RateSnapshot, query: StatementQuery): Promise<Conversions> {
  const { type, ...way } = query
  const convert = async (side: RateType) => convertAmount(snapshot, { ...way, type: side })
  if (type !== 'both') return [await convert(type)]
  const first = await convert('compra')
  return first.rateType === 'referencia' ? [first] : [first, await convert('venta')]
}

/** Writes the statement. Each line ends with LF, the last one too. */
export function statementText(
  { amount, from, to, day }: Pick<StatementQuery, 'amount' | 'from' | 'to' | 'day'>,
  conversions: Conversions,
  asOf: string,
): string {
  const [first, second] = conversions
  const lines = [FORMAT, `as_of=${asOf}`, `on=${day}`, `amount=${amount} ${from}`]
  lines.push(`type=${second ? 'both' : first.rateType}`)
  for (const { legs, rate, result } of conversions) {
    lines.push(...legs.map(legLine), `rate=${rate}`, `result=${result} ${to}`)
  }
  return `${lines.join('\n')}\n`
}

/** SHA-256 of the UTF-8 of a statement, as `sha256sum` prints it. */
export function statementDigest(statement: string): string {
  return createHash('sha256').update(statement).digest('hex')
}

function legLine({ series, inverse, point }: ValuedLeg): string {
  const { base_currency, quote_currency, rate_type } = series
  const rounded = point.rounded_to === undefined ? '' : ` rounded_to=${point.rounded_to}`
  const value = `${point.rate_date} ${point.value} ${inverse ? 'divide' : 'multiply'}`
  return `leg=${base_currency}/${quote_currency} ${rate_type} ${value}${rounded}`
}

/** Compares an answer of the past with the present one. Undefined: both have the same results. */
export async function findLaterAnswer(
  { then, now }: { then: RateSnapshot; now: RateSnapshot },
  query: StatementQuery,
  former: Conversions,
): Promise<LaterAnswer | undefined> {
  const answer = await convertOrRefuse(now, query)
  const conversions = answer instanceof AppError ? undefined : answer
  const results = (some: Conversions) => some.map(({ result }) => result).join()
  if (conversions && results(conversions) === results(former)) return undefined
  const usedDays = new Map<string, { series: SeriesRow; day: IsoDate }>()
  for (const { legs } of [...(conversions ?? []), ...former]) {
    for (const { series, point } of legs) {
      usedDays.set(`${series.id} ${point.rate_date}`, { series, day: point.rate_date })
    }
  }
  const changes: ValueChange[] = []
  for (const { series, day } of usedDays.values()) {
    const was = await dayValue(then, series, day)
    const is = await dayValue(now, series, day)
    if (was !== is) changes.push({ series, day, was, is })
  }
  return { conversions, refusal: answer instanceof AppError ? answer.message : undefined, changes }
}

async function convertOrRefuse(
  snapshot: RateSnapshot,
  query: StatementQuery,
): Promise<Conversions | AppError> {
  try {
    return await convertSides(snapshot, query)
  } catch (error) {
    if (error instanceof AppError && error.code === 'not-found') return error
    throw error
  }
}

/** Value of that very day in a snapshot; null: none. */
async function dayValue(snapshot: RateSnapshot, { id }: SeriesRow, day: IsoDate): Promise<string | null> {
  const series = snapshot.series.find((one) => one.id === id)
  if (!series) return null
  return withColumns(snapshot, [series], ([column]) => (column && rateOn(column, day, true)?.value) ?? null)
}
