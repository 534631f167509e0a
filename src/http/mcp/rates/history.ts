// One series over many days.

import * as v from 'valibot'
import { addDays, todayIn } from '../../../dates.ts'
import { historyOf, historyRange, type SeriesHistory, seriesOfPair } from '../../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { pointsOf, statisticsOf } from '../../../domain/rates/statistics.ts'
import { AppError } from '../../../errors.ts'
import { reversedRange } from '../../api/params.ts'
import { counted } from '../protocol/answers.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import { Count, Dated, OneSeries, type RateToolDeps, RoundedTo, Text, withRounding } from './parameters.ts'

const MOST_POINTS = 400
const LikeFirst = v.looseObject({})
const Asked = v.object(OneSeries)
// The results have more fields, which their names say; what is declared costs each client its place.
const head = { pair: Text, rate_type: Text, count: Count }

export function historyTools({ cache, clock }: RateToolDeps): Tool[] {
  const read = (asked: v.InferOutput<typeof Asked>): SeriesHistory | Promise<SeriesHistory> => {
    const range = historyRange(asked, todayIn(clock))
    if (!range) throw reversedRange(asked.from ?? '')
    return cache.read((snapshot) => historyOf(snapshot, { seriesId: idOf(snapshot, asked), ...range }))
  }
  return [
    tool({
      name: 'get_history',
      needs: 'key',
      about: `Published values of one series, oldest first, at most ${MOST_POINTS}; call again with from = next_from while it is there.`,
      takes: v.object({
        ...OneSeries,
        every: v.optional(
          v.pipe(
            v.picklist(['day', 'month', 'year'], 'must be day, month or year'),
            v.description('month, year: the last value of each'),
          ),
          'day',
        ),
      }),
      gives: v.looseObject({
        ...head,
        points: v.array(v.object({ rate_date: Text, value: Text, rounded_to: RoundedTo })),
        next_from: v.optional(Text),
      }),
      async find({ every, ...asked }) {
        const history = await read(asked)
        const { points, hasMore } = pointsOf(history, every, MOST_POINTS)
        const [first, last] = [points[0], points.at(-1)]
        const nextFrom = hasMore && last ? addDays(last.rate_date, 1) : undefined
        const span = first && last ? `, ${first.rate_date} to ${last.rate_date}` : ''
        const more = nextFrom === undefined ? '' : ` There are more: call again with from ${nextFrom}.`
        return {
          value: { ...headOf(history), count: points.length, points, next_from: nextFrom },
          sentence: `${counted(points.length, 'value')} of ${nameOf(history)}${span}.${more}`,
        }
      },
    }),

    tool({
      name: 'rate_statistics',
      needs: 'key',
      about:
        'First, last, lowest and highest published value of one series in a range, their mean (15 digits) and change (last minus first).',
      takes: Asked,
      gives: v.looseObject({
        ...head,
        first: Dated,
        last: LikeFirst,
        low: LikeFirst,
        high: LikeFirst,
        mean: Text,
        change: Text,
        rounded_to: RoundedTo,
      }),
      async find(asked) {
        const history = await read(asked)
        const found = statisticsOf(history)
        if (!found) throw noValues(history)
        const { roundedTo, ...figures } = found
        const { first, last, low, high, mean, change } = figures
        const said =
          `${nameOf(history)}, ${first.rate_date} to ${last.rate_date}: low ${low.value} (${low.rate_date}), ` +
          `high ${high.value} (${high.rate_date}), mean ${mean}, change ${change}`
        return {
          value: { ...headOf(history), ...figures, rounded_to: roundedTo },
          sentence: `${withRounding(said, roundedTo)}.`,
        }
      },
    }),
  ]
}

function idOf(snapshot: RateSnapshot, { series_id: id, ...pair }: v.InferOutput<typeof Asked>): number {
  return id ?? seriesOfPair(snapshot, pair).id
}

function headOf({ provider, series, from, to }: SeriesHistory) {
  return {
    provider,
    series_id: series.id,
    pair: `${series.base_currency}/${series.quote_currency}`,
    rate_type: series.rate_type,
    date_from: from,
    date_to: to,
  }
}

function nameOf({ series }: SeriesHistory): string {
  return `${series.base_currency}/${series.quote_currency} ${series.rate_type}`
}

function noValues(history: SeriesHistory): AppError {
  const { first_data_date: since } = history.series
  const begins = since === null ? 'it has none at all' : `its values begin on ${since}`
  const range = `from ${history.from} to ${history.to}`
  return new AppError('not-found', `${nameOf(history)} has no value ${range}; ${begins}`)
}
