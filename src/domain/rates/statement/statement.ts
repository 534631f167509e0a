// The statement of a conversion: a text with everything that the result follows from, as of an instant. Its SHA-256
// identifies the answer; the proof is that the server repeats it (decisions#statements).

import { createHash } from 'node:crypto'
import type { RateType } from '../../../providers/provider.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { SeriesRow } from '../../../store/rates/series.ts'
import { type ChangeKind, selectValueChange } from '../../../store/rates/stored-at.ts'
import type { ReadDb } from '../../../store/tables.ts'
import type { IsoDate } from '../../../values/dates.ts'
import { type ConversionResult, convertAmount } from '../conversions.ts'
import type { ValuedLeg } from '../convert.ts'
import type { PastRates } from '../history/past.ts'
import { withColumns } from '../queries.ts'
import type { RateSnapshot } from '../rate-cache.ts'
import { rateOn } from '../rates.ts'

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
type ChangedValue = { series: SeriesRow; day: IsoDate; was: string | null; is: string | null }

/** `at`: the instant of the change, if known. */
export type ValueChange = ChangedValue & { at: string | null; kind: ChangeKind }

/** The present answer, where it differs. `refusal`: the reason that there is none. */
export type LaterAnswer<Change = ValueChange> = {
  conversions: Conversions | undefined
  refusal: string | undefined
  changes: readonly Change[]
}

/** `asOf`: the instant of its knowledge. `later`: the present answer, if an instant was requested and it differs. */
export type StatementAnswer = {
  statement: string
  sha256: string
  asOf: string
  conversions: Conversions
  later: LaterAnswer | undefined
}

/**
 * Makes the statement as of an instant, by default that of the newest commit in the snapshot.
 * @throws AppError as convertAmount, or as PastRates.read
 */
export async function makeStatement(
  { db, past }: { db: ReadDb; past: PastRates },
  snapshot: RateSnapshot,
  query: StatementQuery,
  requestedInstant?: string,
): Promise<StatementAnswer> {
  const answer = (conversions: Conversions, instant: number, later?: LaterAnswer): StatementAnswer => {
    const asOf = new Date(instant).toISOString()
    const statement = statementText(query, conversions, asOf, snapshot.isInvented)
    return { statement, sha256: statementDigest(statement), asOf, conversions, later }
  }
  const { newestInstant = 0 } = snapshot // a store without any commit has no change log either
  if (requestedInstant === undefined && newestInstant > 0) {
    return answer(await convertSides(snapshot, query), newestInstant)
  }
  const instant = requestedInstant === undefined ? newestInstant : Date.parse(requestedInstant)
  const { conversions, later } = await past.read(snapshot, instant, async (then) => {
    const former = await convertSides(then, query)
    return { conversions: former, later: await findLaterAnswer({ then, now: snapshot }, query, former) }
  })
  if (!later) return answer(conversions, instant)
  const changes = await Array.fromAsync(later.changes, async (change) => {
    const { series, day, was } = change
    const { at = null, kind } = await selectValueChange(db, { seriesId: series.id, day }, instant)
    return { ...change, at, kind: was === null ? 'new' : kind }
  })
  return answer(conversions, instant, { ...later, changes })
}

/** Converts by one side or by both. @throws AppError as convertAmount */
async function convertSides(snapshot: RateSnapshot, query: StatementQuery): Promise<Conversions> {
  const { type, ...way } = query
  const convert = async (side: RateType) => convertAmount(snapshot, { ...way, type: side })
  if (type !== 'both') return [await convert(type)]
  const first = await convert('compra')
  return first.rateType === 'referencia' ? [first] : [first, await convert('venta')]
}

/** Writes the statement. Each line ends with LF, the last one too. */
function statementText(
  { amount, from, to, day }: Pick<StatementQuery, 'amount' | 'from' | 'to' | 'day'>,
  conversions: Conversions,
  asOf: string,
  isInvented: boolean,
): string {
  const [first, second] = conversions
  const lines = [FORMAT, ...(isInvented ? ['source=invented'] : []), `as_of=${asOf}`, `on=${day}`]
  lines.push(`amount=${amount} ${from}`)
  lines.push(`type=${second ? 'both' : first.rateType}`)
  for (const { legs, rate, result } of conversions) {
    lines.push(...legs.map(legLine), `rate=${rate}`, `result=${result} ${to}`)
  }
  return `${lines.join('\n')}\n`
}

/** SHA-256 of the UTF-8 of a statement, as `sha256sum` prints it. */
function statementDigest(statement: string): string {
  return createHash('sha256').update(statement).digest('hex')
}

function legLine({ series, inverse, point }: ValuedLeg): string {
  const { base_currency, quote_currency, rate_type } = series
  const rounded = point.rounded_to === undefined ? '' : ` rounded_to=${point.rounded_to}`
  const value = `${point.rate_date} ${point.value} ${inverse ? 'divide' : 'multiply'}`
  return `leg=${base_currency}/${quote_currency} ${rate_type} ${value}${rounded}`
}

/** Compares an answer of the past with the present one. Undefined: both have the same results. */
async function findLaterAnswer(
  { then, now }: { then: RateSnapshot; now: RateSnapshot },
  query: StatementQuery,
  former: Conversions,
): Promise<LaterAnswer<ChangedValue> | undefined> {
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
  const changes: ChangedValue[] = []
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
