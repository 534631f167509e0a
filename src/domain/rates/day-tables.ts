// Tables of days, newest first: units of all other currencies for one unit of a base. Readers take the newest row at or
// before a day. So no table has rows on both sides of days that were not synchronized (decisions#shapes).

import type { Side } from '../../store/tables.ts'
import { addDays, dayNumber, EARLIEST_DAY, type IsoDate, isoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import { columnDecimals } from './column.ts'
import type { StoredLeg } from './convert.ts'
import { type Cross, listCurrencies, type QuoteRoute, reachesDay, valueRoute, withRoutes } from './crosses.ts'
import { findHoles, listRoundedDays, type UnknownDays } from './holes.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { knownRateOn, pointRange, smallest } from './rates.ts'

/**
 * `anchor`: a quote whose days have rows. A day has a row if its side has a value of the day and the base is known. A
 * quote without sides has rows on the days of its first leg.
 */
export type DailyTableQuery = {
  provider: string
  base: string
  anchor: string
  /** First quote of a row; the others are sorted by code. */
  leading: string
  side: Side
  /** False: a quote has rates on the days of its own values alone. */
  isCarried: boolean
  /** Last day of a table. */
  to: IsoDate
  /** False: a rounded reference rate counts as missing. */
  servesRounded: boolean
}

/** Rates of a day, in the order of the quotes. */
export type DailyTableRow = { day: IsoDate; crosses: readonly Cross[] }

/** The newest row, and the quotes that are known only over days that were not synchronized. */
export type NewestRow = DailyTableRow & { leftOut: readonly string[]; roundedCount: number }

export type DailyTable = {
  quotes: readonly string[]
  /** Day of the oldest row; undefined: no day has a row. */
  first: IsoDate | undefined
  /** Unknown days of the base or of the anchor, for a range all of them. Else the newest: the table begins after it. */
  cut: UnknownDays | undefined
  /** Quotes without values, or with values after their newest unknown days alone. */
  leftOut: readonly string[]
  /** Unknown days of one of these quotes. */
  leftOutDays: UnknownDays | undefined
  /** Fewest decimals of a rounded reference rate. */
  roundedTo: number | undefined
  /** Computes the rows, newest first. */
  rows(): Iterable<DailyTableRow>
}

/** Routes of all quotes, and the leg whose days have rows. */
type TableRoutes = { quotes: string[]; routes: QuoteRoute[]; anchor: QuoteRoute; rowLeg: StoredLeg }

/** Returns the newest row; undefined: there is none. */
export async function findNewestRow(
  snapshot: RateSnapshot,
  query: DailyTableQuery,
): Promise<NewestRow | undefined> {
  const table = await findTableRoutes(snapshot, query)
  if (!table) return undefined
  const { days } = table.rowLeg.column
  const valueOnDay = rowValues(query)
  for (let at = pointRange(table.rowLeg.column, EARLIEST_DAY, query.to).end - 1; at >= 0; at -= 1) {
    const day = isoDate(days[at] ?? 0)
    if (!isTableDay(table.anchor, day, query.servesRounded)) continue
    const crosses: Cross[] = []
    const leftOut: string[] = []
    let roundedCount = 0
    for (const route of table.routes) {
      const cross = valueOnDay(route, day)
      if (cross && 'hole' in cross) leftOut.push(route.quote)
      else if (cross && !cross.exact && !query.servesRounded) roundedCount += 1
      else if (cross) crosses.push(cross)
    }
    return { day, crosses, leftOut, roundedCount }
  }
  return undefined
}

/**
 * Selects the rows from a day on. Without it, selects all rows after the newest unknown days of base and anchor. A
 * range with such days is the caller's error. Undefined: base or anchor has no series.
 */
export async function selectDailyTable(
  snapshot: RateSnapshot,
  query: DailyTableQuery,
  from?: IsoDate,
): Promise<DailyTable | undefined> {
  const table = await findTableRoutes(snapshot, query)
  if (!table) return undefined
  const { to, servesRounded } = query
  const valueOnDay = rowValues(query)
  const range = { from: from ?? EARLIEST_DAY, to }
  const unknownDays = findUnknownDays(table.anchor.legs, range, servesRounded)
  // The beginning of a table without a first day was not requested, so older unknown days do not matter.
  const cut =
    unknownDays && from === undefined ? { ...unknownDays, days: unknownDays.days.slice(-1) } : unknownDays
  const begin = cut && from === undefined ? addDays(lastDay(cut), 1) : range.from
  const { column } = table.rowLeg
  const { first: firstIndex, end } = pointRange(column, begin, to)
  const rowDay = (at: number) => isoDate(column.days[at] ?? 0)
  let oldest = firstIndex
  while (oldest < end && !isTableDay(table.anchor, rowDay(oldest), servesRounded)) oldest += 1
  const first = oldest < end ? rowDay(oldest) : undefined
  const leftOut: string[] = []
  let [decimals, leftOutDays]: [number | undefined, UnknownDays | undefined] = [undefined, undefined]
  const routes = table.routes.map((route) => {
    const shownDays = { from: first ?? begin, to }
    const unknown = findUnknownDays(route.legs, shownDays, servesRounded)
    const firstRate = first === undefined ? undefined : valueOnDay(route, first)
    if (unknown || (firstRate && 'hole' in firstRate)) leftOut.push(route.quote)
    leftOutDays ??= unknown
    const since = unknown ? addDays(lastDay(unknown), 1) : shownDays.from
    const isShown = from === undefined || !unknown
    if (isShown && servesRounded)
      decimals = smallest(decimals, fewestColumnDecimals(route.legs, { from: since, to }))
    return { route, since: isShown ? dayNumber(since) : Number.POSITIVE_INFINITY }
  })
  const { quotes } = table
  return {
    ...{ quotes, first, cut, leftOutDays, roundedTo: decimals },
    leftOut: quotes.filter(
      (quote) => leftOut.includes(quote) || !routes.some(({ route }) => route.quote === quote),
    ),
    *rows() {
      for (let at = end - 1; at >= oldest; at -= 1) {
        const day = rowDay(at)
        if (!isTableDay(table.anchor, day, servesRounded)) continue
        const crosses = routes.flatMap(({ route, since }) => {
          const cross = since <= (column.days[at] ?? 0) ? valueOnDay(route, day) : undefined
          return cross && !('hole' in cross) ? cross : []
        })
        yield { day, crosses }
      }
    },
  }
}

function findTableRoutes(
  snapshot: RateSnapshot,
  { provider, base, leading, anchor: anchorQuote, side }: DailyTableQuery,
): Promise<TableRoutes | undefined> | TableRoutes | undefined {
  const others = listCurrencies(snapshot, provider).filter((code) => code !== base)
  const quotes = others.includes(leading) ? [leading, ...others.filter((code) => code !== leading)] : others
  return withRoutes(snapshot, { provider, base, quotes, side }, (routes) => {
    const anchor = routes.find(({ quote }) => quote === anchorQuote)
    const rowLeg = anchor?.legs.find(({ series }) => series.rate_type === side) ?? anchor?.legs[0]
    return anchor && rowLeg && { quotes, routes, anchor, rowLeg }
  })
}

/** Returns a function with the rate of a route in the row of a day. */
function rowValues({ isCarried }: DailyTableQuery): typeof valueRoute {
  if (isCarried) return valueRoute
  return (route, day) => {
    const cross = valueRoute(route, day)
    return cross && !('hole' in cross) && cross.date !== day ? undefined : cross
  }
}

/** True if each leg is known on the day, as for a point of a history (decisions#points). */
function isTableDay({ legs }: QuoteRoute, day: IsoDate, servesRounded: boolean): boolean {
  return legs.every((leg) => {
    const { series, column, covered } = leg
    const point = knownRateOn(column, covered, day)
    if (!point || 'hole' in point) return false
    if (point.rounded_to !== undefined && series.rate_type === 'referencia' && !servesRounded) return false
    return reachesDay(leg, dayNumber(day))
  })
}

/**
 * Finds the days of a range that were not synchronized. If days with rounded values are newer, finds the newest of
 * these instead.
 */
function findUnknownDays(
  legs: readonly StoredLeg[],
  range: Interval,
  servesRounded: boolean,
): UnknownDays | undefined {
  const holes = findHoles(legs, range) ?? []
  const hole = holes.at(-1)
  const rounded = servesRounded ? [] : legs.flatMap((leg) => listRoundedDays(leg, range))
  const newest = rounded.toSorted((a, b) => dayNumber(b.to) - dayNumber(a.to))[0]
  if (newest && (!hole || newest.to > hole.to)) return { days: [newest], isRounded: true }
  return hole && { days: holes, isRounded: false }
}

/** Fewest decimals of the values that are known in a range, if a reference rate among them is rounded. */
function fewestColumnDecimals(legs: readonly StoredLeg[], { from, to }: Interval): number | undefined {
  let [decimals, isExact]: [number | undefined, boolean] = [undefined, true]
  for (const { series, column, covered } of legs) {
    if (!column.rounded) continue
    const { first, end } = pointRange(column, from, to)
    const point = knownRateOn(column, covered, from)
    const isCarried = point !== undefined && !('hole' in point) && point.rate_date < from
    for (let at = isCarried ? first - 1 : first; at < end; at += 1) {
      const own = columnDecimals(column, at)
      decimals = smallest(decimals, own)
      if (own !== undefined && series.rate_type === 'referencia') isExact = false
    }
  }
  return isExact ? undefined : decimals
}

function lastDay({ days }: UnknownDays): IsoDate {
  return days.at(-1)?.to ?? EARLIEST_DAY
}
