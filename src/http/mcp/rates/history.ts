// Tools for a pair over many days: the query of /api/v1/history, in pages, and its statistics.

import * as v from 'valibot'
import {
  type PairHistoryQuery,
  type PairPoint,
  pairHistory,
  pairStatistics,
  type RangeQuery,
} from '../../../domain/rates/history/pair-history.ts'
import { findPeriod } from '../../../domain/rates/history/periods.ts'
import { requireSeries } from '../../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import type { RateType } from '../../../providers/provider.ts'
import { AppError } from '../../../runtime/errors.ts'
import {
  addDays,
  type Clock,
  currentDay,
  dayNumber,
  earliest,
  type IsoDate,
  isoDate,
} from '../../../values/dates.ts'
import type { Interval } from '../../../values/intervals.ts'
import { EveryParam, SingleStatParam } from '../../endpoint/params.ts'
import { requireRange } from '../../figures/history-range.ts'
import { fitRows, pluralize } from '../protocol/answers.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import {
  Count,
  DatedValue,
  describeHoles,
  Holes,
  PairRange,
  type RateToolDeps,
  RoundedDecimals,
  Text,
  withRounding,
} from './parameters.ts'

const MOST_POINTS = 400
const MOST_HOLES = 50
const LikeFirst = v.looseObject({})
const RangeInput = v.object(PairRange)
const Partial = v.optional(v.boolean())
// Results have more fields. Obvious ones are not declared, since every client pays for each declaration.
const head = { pair: Text, rate_type: Text, count: Count, holes: Holes }

type RangeArguments = v.InferOutput<typeof RangeInput>
type HistoryRange = RangeQuery & { to: IsoDate }

export function historyTool({ cache, clock }: RateToolDeps): Tool {
  return tool({
    name: 'get_history',
    needs: 'key',
    about: `Values of a pair, crosses through the pivot too, oldest first, at most ${MOST_POINTS}; call again with from = next_from while it is there. partial: the period is not over or not known as a whole; holes: days that were not synchronized.`,
    input: v.object({
      ...PairRange,
      every: v.optional(EveryParam, 'day'),
      stat: v.optional(SingleStatParam, 'last'),
    }),
    output: v.looseObject({
      ...head,
      points: v.array(
        v.object({
          date: Text,
          rate_date: Text,
          value: Text,
          partial: Partial,
          rounded_to: RoundedDecimals,
        }),
      ),
      next_from: v.optional(Text),
    }),
    run: ({ every, stat, ...input }) =>
      cache.read(async (snapshot) => {
        const query = { ...parseRange(snapshot, input, clock), every, stat }
        const history = await pairHistory(snapshot, query)
        const { points, nextFrom } = firstPage(history.points, query)
        const holes = clipHoles(history.holes, nextFrom)
        const value = {
          ...resultHead(snapshot, query, history.rateType),
          ...{ every, stat, count: points.length },
          ...holeFields(holes),
          ...{ points, next_from: nextFrom },
        }
        return { value, sentence: summarize(query, history.rateType, points, holes, nextFrom) }
      }),
  })
}

export function statisticsTool({ cache, clock }: RateToolDeps): Tool {
  return tool({
    name: 'rate_statistics',
    needs: 'key',
    about:
      'First, last, lowest and highest value of a pair in a range, their mean (15 digits) and change (last minus first). ' +
      'partial and holes as in get_history: do not quote such a mean without saying so.',
    input: RangeInput,
    output: v.looseObject({
      ...head,
      first: DatedValue,
      last: LikeFirst,
      low: LikeFirst,
      high: LikeFirst,
      mean: Text,
      change: Text,
      partial: Partial,
      rounded_to: RoundedDecimals,
    }),
    run: (input) =>
      cache.read(async (snapshot) => {
        const query = parseRange(snapshot, input, clock)
        const { rateType, count, figures, holes } = await pairStatistics(snapshot, query)
        if (!figures) throw noValues(snapshot, query, rateType, holes)
        const { first, last, low, high, mean, change, partial } = figures
        const values = pluralize(count, 'value')
        const summary =
          `${pairName(query, rateType)}, ${values} from ${first.date} to ${last.date}: low ${low.value} (${low.date}), ` +
          `high ${high.value} (${high.date}), mean ${mean}, change ${change}`
        const days = `${query.from} to ${query.last}`
        const reason = query.last < query.today ? `not all of ${days} is known` : `${days} is not over`
        const range = partial ? ` Partial: ${reason}.` : ''
        return {
          value: { ...resultHead(snapshot, query, rateType), count, ...holeFields(holes), ...figures },
          sentence: `${withRounding(summary, figures.rounded_to)}.${range}${describeHoles(holes)}`,
        }
      }),
  })
}

/** Returns the range of a pair and its side, given as such or by the id of the series. */
function parseRange(snapshot: RateSnapshot, input: RangeArguments, clock: Clock): HistoryRange {
  const { provider, base, quote, type, series_id: id } = input
  const series = id === undefined ? undefined : requireSeries(snapshot, id)
  const today = currentDay(clock)
  const range = { ...requireRange(input, today), today }
  if (!series) return { provider, base, quote, type, ...range }
  const { base_currency, quote_currency, rate_type } = series.row
  return { provider: series.provider, base: base_currency, quote: quote_currency, type: rate_type, ...range }
}

/** Returns the first points, as many as fit into a result, and the first day of the next page. */
function firstPage(all: Iterable<PairPoint>, { every }: PairHistoryQuery) {
  const first: PairPoint[] = []
  let hasMore = false
  for (const point of all) {
    hasMore = first.length === MOST_POINTS
    if (hasMore) break
    first.push(point)
  }
  const { rows: points, hasMore: isCut } = fitRows(first)
  const last = points.at(-1)
  if (!last || !(hasMore || isCut)) return { points, nextFrom: undefined }
  return { points, nextFrom: addDays(isoDate(findPeriod(dayNumber(last.date), every).last), 1) }
}

/** Returns the holes before a day. Later ones are in the results of their points. */
function clipHoles(holes: readonly Interval[] | null, day: IsoDate | undefined) {
  if (holes === null || day === undefined) return holes
  const last = addDays(day, -1)
  return holes.filter(({ from }) => from < day).map(({ from, to }) => ({ from, to: earliest(to, last) }))
}

function holeFields(holes: readonly Interval[] | null) {
  if (holes !== null && holes.length === 0) return {}
  const more = (holes?.length ?? 0) - MOST_HOLES
  return { holes: holes?.slice(0, MOST_HOLES) ?? null, ...(more > 0 && { more_holes: more }) }
}

function summarize(
  query: PairHistoryQuery,
  rateType: RateType,
  points: readonly PairPoint[],
  holes: readonly Interval[] | null,
  nextFrom: IsoDate | undefined,
): string {
  const [first, last] = [points[0], points.at(-1)]
  const span = first && last ? `, ${first.date} to ${last.date}` : ''
  const partial = points.filter((point) => point.partial).map(({ date }) => date)
  const parts = partial.length > 0 ? ` Partial: ${abbreviateList(partial)}.` : ''
  const more = nextFrom === undefined ? '' : ` There are more: call again with from ${nextFrom}.`
  const values = pluralize(points.length, 'value')
  return `${values} of ${pairName(query, rateType)}${span}.${parts}${describeHoles(holes)}${more}`
}

/** `2026-01-01, 2026-02-01 and 3 more`. */
function abbreviateList(names: readonly string[]): string {
  const more = names.length - 3
  return `${names.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function resultHead(
  snapshot: RateSnapshot,
  { provider, base, quote, from, to }: HistoryRange,
  rateType: RateType,
) {
  const pair = `${base}/${quote}`
  const series = snapshot
    .pairs(provider)
    .get(pair)
    ?.find(({ rate_type }) => rate_type === rateType)
  return { provider, series_id: series?.id, pair, rate_type: rateType, date_from: from, date_to: to }
}

function pairName({ base, quote }: RangeQuery, rateType: RateType): string {
  return `${base}/${quote} ${rateType}`
}

function noValues(
  snapshot: RateSnapshot,
  query: HistoryRange,
  rateType: RateType,
  holes: readonly Interval[] | null,
): AppError {
  const range = `from ${query.from} to ${query.to}`
  const series = snapshot.pairs(query.provider).get(`${query.base}/${query.quote}`)
  const since = series?.find(({ rate_type }) => rate_type === rateType)?.first_data_date
  const begins = since ? `; its values begin on ${since}` : ''
  const missing = describeHoles(holes)
  const isUnsynchronized = holes === null || holes.length > 0
  return new AppError('not-found', `${pairName(query, rateType)} has no value ${range}${begins}.${missing}`, {
    reason: isUnsynchronized ? 'not_synchronized' : undefined,
  })
}
