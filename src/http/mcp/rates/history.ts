// A pair over many days: the same query as /api/v1/history, in pages.

import * as v from 'valibot'
import { addDays, dayOf, earliest, type IsoDate, isoOf, todayIn } from '../../../dates.ts'
import {
  type PairHistoryQuery,
  type PairPoint,
  pairHistory,
  pairStatistics,
  type RangeQuery,
} from '../../../domain/rates/pair-history.ts'
import { periodOf } from '../../../domain/rates/periods.ts'
import { historyRange, seriesOf } from '../../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../errors.ts'
import type { Interval } from '../../../intervals.ts'
import type { RateType } from '../../../providers/provider.ts'
import { EveryParam, reversedRange, StatParam } from '../../api/params.ts'
import { counted, fitting } from '../protocol/answers.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import {
  Count,
  Dated,
  Holes,
  holesInWords,
  OnePair,
  type RateToolDeps,
  RoundedTo,
  Text,
  withRounding,
} from './parameters.ts'

const MOST_POINTS = 400
const MOST_HOLES = 50
const LikeFirst = v.looseObject({})
const Asked = v.object(OnePair)
const Partial = v.optional(v.boolean())
// The results have more fields, which their names say; what is declared costs each client its place.
const head = { pair: Text, rate_type: Text, count: Count, holes: Holes }

type AskedRange = RangeQuery & { to: IsoDate }

export function historyTools({ cache, clock }: RateToolDeps): Tool[] {
  const rangeOf = (snapshot: RateSnapshot, asked: v.InferOutput<typeof Asked>): AskedRange => {
    const today = todayIn(clock)
    const range = historyRange(asked, today)
    if (!range) throw reversedRange(asked.from ?? '')
    return { ...pairOf(snapshot, asked), ...range, today }
  }
  return [
    tool({
      name: 'get_history',
      needs: 'key',
      about: `Values of a pair, crosses through the pivot too, oldest first, at most ${MOST_POINTS}; call again with from = next_from while it is there. partial: the period is not over or not known as a whole; holes: days that were not synchronized.`,
      takes: v.object({
        ...OnePair,
        every: v.optional(EveryParam, 'day'),
        stat: v.optional(StatParam, 'last'),
      }),
      gives: v.looseObject({
        ...head,
        points: v.array(
          v.object({ date: Text, rate_date: Text, value: Text, partial: Partial, rounded_to: RoundedTo }),
        ),
        next_from: v.optional(Text),
      }),
      async find({ every, stat, ...asked }) {
        return await cache.read(async (snapshot) => {
          const query = { ...rangeOf(snapshot, asked), every, stat }
          const found = await pairHistory(snapshot, query)
          const { points, nextFrom } = pageOf(found.points, query)
          const holes = holesBefore(found.holes, nextFrom)
          const value = {
            ...headOf(snapshot, query, found.rateType),
            ...{ every, stat, count: points.length },
            ...holesOut(holes),
            ...{ points, next_from: nextFrom },
          }
          return { value, sentence: sentenceOf(query, found.rateType, points, holes, nextFrom) }
        })
      },
    }),

    tool({
      name: 'rate_statistics',
      needs: 'key',
      about:
        'First, last, lowest and highest value of a pair in a range, their mean (15 digits) and change (last minus first). ' +
        'partial and holes as in get_history: do not quote such a mean without saying so.',
      takes: Asked,
      gives: v.looseObject({
        ...head,
        first: Dated,
        last: LikeFirst,
        low: LikeFirst,
        high: LikeFirst,
        mean: Text,
        change: Text,
        partial: Partial,
        rounded_to: RoundedTo,
      }),
      async find(asked) {
        return await cache.read(async (snapshot) => {
          const query = rangeOf(snapshot, asked)
          const { rateType, count, figures, holes } = await pairStatistics(snapshot, query)
          if (!figures) throw noValues(snapshot, query, rateType, holes)
          const { first, last, low, high, mean, change, partial } = figures
          const values = counted(count, 'value')
          const said =
            `${nameOf(query, rateType)}, ${values} from ${first.date} to ${last.date}: low ${low.value} (${low.date}), ` +
            `high ${high.value} (${high.date}), mean ${mean}, change ${change}`
          const range = partial ? ` Partial: not all of ${query.from} to ${query.last} is known.` : ''
          return {
            value: { ...headOf(snapshot, query, rateType), count, ...holesOut(holes), ...figures },
            sentence: `${withRounding(said, figures.rounded_to)}.${range}${holesInWords(holes)}`,
          }
        })
      },
    }),
  ]
}

/** A pair and side, or those of the series with an id. */
function pairOf(snapshot: RateSnapshot, { series_id: id, ...asked }: v.InferOutput<typeof Asked>) {
  const { provider, base, quote, type } = asked
  if (id === undefined) return { provider, base, quote, type }
  const series = seriesOf(snapshot, id)
  const { base_currency, quote_currency, rate_type } = series.row
  return { provider: series.provider, base: base_currency, quote: quote_currency, type: rate_type }
}

/** The first points, as many as fit into a result, and the first day of the next one that does not. */
function pageOf(all: Iterable<PairPoint>, { every }: PairHistoryQuery) {
  const first: PairPoint[] = []
  let hasMore = false
  for (const point of all) {
    hasMore = first.length === MOST_POINTS
    if (hasMore) break
    first.push(point)
  }
  const { rows: points, hasMore: isCut } = fitting(first)
  const last = points.at(-1)
  if (!last || !(hasMore || isCut)) return { points, nextFrom: undefined }
  return { points, nextFrom: addDays(isoOf(periodOf(dayOf(last.date), every).last), 1) }
}

/** Holes before a day: those of the later days come with their points. */
function holesBefore(holes: readonly Interval[] | null, day: IsoDate | undefined) {
  if (holes === null || day === undefined) return holes
  const last = addDays(day, -1)
  return holes.filter(({ from }) => from < day).map(({ from, to }) => ({ from, to: earliest(to, last) }))
}

function holesOut(holes: readonly Interval[] | null) {
  if (holes !== null && holes.length === 0) return {}
  const more = (holes?.length ?? 0) - MOST_HOLES
  return { holes: holes?.slice(0, MOST_HOLES) ?? null, ...(more > 0 && { more_holes: more }) }
}

function sentenceOf(
  query: PairHistoryQuery,
  rateType: RateType,
  points: readonly PairPoint[],
  holes: readonly Interval[] | null,
  nextFrom: IsoDate | undefined,
): string {
  const [first, last] = [points[0], points.at(-1)]
  const span = first && last ? `, ${first.date} to ${last.date}` : ''
  const partial = points.filter((point) => point.partial).map(({ date }) => date)
  const parts = partial.length > 0 ? ` Partial: ${namedFew(partial)}.` : ''
  const more = nextFrom === undefined ? '' : ` There are more: call again with from ${nextFrom}.`
  const values = counted(points.length, 'value')
  return `${values} of ${nameOf(query, rateType)}${span}.${parts}${holesInWords(holes)}${more}`
}

/** `2026-01-01, 2026-02-01 and 3 more`. */
function namedFew(names: readonly string[]): string {
  const more = names.length - 3
  return `${names.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function headOf(snapshot: RateSnapshot, { provider, base, quote, from, to }: AskedRange, rateType: RateType) {
  const pair = `${base}/${quote}`
  const series = snapshot
    .pairsOf(provider)
    .get(pair)
    ?.find(({ rate_type }) => rate_type === rateType)
  return { provider, series_id: series?.id, pair, rate_type: rateType, date_from: from, date_to: to }
}

function nameOf({ base, quote }: RangeQuery, rateType: RateType): string {
  return `${base}/${quote} ${rateType}`
}

function noValues(
  snapshot: RateSnapshot,
  query: AskedRange,
  rateType: RateType,
  holes: readonly Interval[] | null,
): AppError {
  const range = `from ${query.from} to ${query.to}`
  const series = snapshot.pairsOf(query.provider).get(`${query.base}/${query.quote}`)
  const since = series?.find(({ rate_type }) => rate_type === rateType)?.first_data_date
  const begins = since ? `; its values begin on ${since}` : ''
  const missing = holesInWords(holes)
  return new AppError('not-found', `${nameOf(query, rateType)} has no value ${range}${begins}.${missing}`)
}
