import * as v from 'valibot'
import {
  type PairHistory,
  type PairPoint,
  type PeriodFigures,
  type PeriodQuery,
  pairFigures,
  pairHistory,
  STATS,
  type Stat,
} from '../../domain/rates/history/pair-history.ts'
import type { RateSnapshot } from '../../domain/rates/rate-cache.ts'
import type { ColumnKinds } from '../endpoint/answers/csv.ts'
import { jsonForm } from '../endpoint/answers/forms.ts'
import {
  AsOfOut,
  Day,
  DecimalText,
  Integer,
  RateTypeOut,
  Rounding,
  titledObject,
  withDescription,
} from '../endpoint/answers/shapes.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import { AsOfParam, booleanParam, EveryParam, StatParam } from '../endpoint/params.ts'
import type { StoredDeps } from '../endpoint/stored.ts'
import { PAIR_HISTORY, requireRange } from '../figures/history-range.ts'
import { HolesOut, holesField, holesHeaders } from '../figures/holes.ts'
import { type TableForm, tableEndpoints } from './table-endpoints.ts'

const DATE = withDescription(Day, 'The day, or the first one of the period')
const FIGURE = {
  rate_date: withDescription(Day, 'The older of the days of the values; of a mean those of its last day'),
  value: DecimalText,
}
const PARTIAL = v.optional(
  withDescription(
    v.literal(true),
    'The period is not over, not asked for as a whole, or has days that are not known',
  ),
)
const DAY = v.optional(
  withDescription(
    Day,
    'With details=true: the day within the period on which the pair had the value; of a mean its last day',
  ),
)
const FigureOut = titledObject('PairFigure', { ...FIGURE, rounded_to: Rounding, day: DAY })
const PointOut = titledObject('PairPoint', {
  date: DATE,
  ...FIGURE,
  partial: PARTIAL,
  rounded_to: Rounding,
  day: DAY,
})
const FiguresOut = titledObject('PairFigures', {
  ...{ date: DATE, last: FigureOut, mean: FigureOut, low: FigureOut, high: FigureOut },
  partial: PARTIAL,
})

export const PairHistoryOut = titledObject('PairHistory', {
  provider: v.string(),
  base: v.string(),
  quote: v.string(),
  rate_type: RateTypeOut,
  date_from: Day,
  date_to: Day,
  every: v.picklist(['day', 'week', 'month', 'quarter', 'year']),
  stat: v.picklist([...STATS, 'all']),
  count: Integer,
  as_of: AsOfOut,
  holes: HolesOut,
  points: v.array(v.union([PointOut, FiguresOut])),
})

type HistoryQuery = PeriodQuery & { stat: Stat | 'all'; to: string; as_of?: string | undefined }
type AnyHistory = PairHistory<PairPoint | PeriodFigures>

const COLUMNS: ColumnKinds = {
  ...{ date: 'day', rate_date: 'day', value: 'decimal', partial: 'plain', rounded_to: 'plain' },
}

const TABLE: TableForm<AnyHistory, HistoryQuery> = {
  columns: ({ stat, details }) =>
    stat === 'all' ? figureColumns(details) : details ? { ...COLUMNS, day: 'day' } : COLUMNS,
  rows: ({ points }) => points,
  cells: (point) => ('value' in point ? point : figureCells(point as PeriodFigures)),
  headers: holesHeaders,
}

export function pairHistoryEndpoints(deps: StoredDeps): AnyEndpoint[] {
  return tableEndpoints(
    deps,
    {
      path: '/api/v1/history',
      tag: 'History',
      about:
        'What one unit of `base` was worth in `quote`: on each day on which a value that leads from one to the ' +
        'other was published, if all of them are known, or one value for each longer period. Means are exact and ' +
        'rounded once. A day that was not synchronized has no point. With stat=all a point has `last`, `mean`, ' +
        '`low` and `high`.',
      query: v.object({
        ...PAIR_HISTORY,
        every: v.optional(EveryParam, 'day'),
        stat: v.optional(StatParam, 'last'),
        as_of: v.optional(AsOfParam),
        details: v.optional(booleanParam('Whether each value has its day in the period'), 'false'),
      }),
      sends: ['X-Holes'],
      answer: PairHistoryOut,
      notFound: 'No such provider, or no way between these currencies',
      effective({ from, to, ...query }, localDay): HistoryQuery {
        const today = localDay(query.as_of)
        return { ...query, ...requireRange({ from, to }, today), today }
      },
      find: findHistory,
      forms: [jsonForm(encodePairHistory)],
    },
    TABLE,
  )
}

function findHistory(snapshot: RateSnapshot, query: HistoryQuery): AnyHistory | Promise<AnyHistory> {
  const { stat, ...periods } = query
  return stat === 'all' ? pairFigures(snapshot, periods) : pairHistory(snapshot, { ...periods, stat })
}

/** Columns of all values of a period: `low_value` is the field `value` of the object `low`. */
function figureColumns(details = false): ColumnKinds {
  const kinds: ColumnKinds = {
    ...{ value: 'decimal', rate_date: 'day', rounded_to: 'plain' },
    ...(details && { day: 'day' }),
  }
  const columns = STATS.flatMap((stat) =>
    Object.entries(kinds).map(([field, kind]) => [`${stat}_${field}`, kind] as const),
  )
  return { date: 'day', ...Object.fromEntries(columns), partial: 'plain' }
}

function figureCells({ date, partial, ...figures }: PeriodFigures) {
  const cells = STATS.flatMap((stat) =>
    Object.entries(figures[stat]).map(([field, value]) => [`${stat}_${field}`, value] as const),
  )
  return { date, partial, ...Object.fromEntries(cells) }
}

function encodePairHistory(history: AnyHistory, query: HistoryQuery): string {
  const points = [...history.points]
  const { provider, base, quote, from, to, every, stat, as_of } = query
  return JSON.stringify({
    ...{ provider, base, quote, rate_type: history.rateType, date_from: from, date_to: to, every, stat },
    ...{ count: points.length, as_of, holes: holesField(history.holes), points },
  })
}
