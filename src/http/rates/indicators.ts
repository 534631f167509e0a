// Endpoints of indicators: other series of the bank, and counter rates (decisions#indicators). None answers with a
// rate.

import * as v from 'valibot'
import type { DescribedIndicator } from '../../domain/indicators/catalogue.ts'
import {
  type CounterTable,
  counterRates,
  type IndicatorHistory,
  type IndicatorLatest,
  type IndicatorWithValue,
  indicatorHistory,
  indicatorsWithValues,
  latestIndicator,
} from '../../domain/indicators/indicator-queries.ts'
import type { IndicatorSnapshot } from '../../domain/indicators/reader.ts'
import { columnValue } from '../../domain/rates/column.ts'
import { selectIndicatorRuns } from '../../store/indicators/runs.ts'
import type { ReadDb } from '../../store/tables.ts'
import { addDays, type IsoDate, isoDate } from '../../values/dates.ts'
import { jsonForm } from '../endpoint/answers/forms.ts'
import {
  AsOfOut,
  Day,
  DecimalText,
  Integer,
  titledObject,
  withDescription,
} from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, get } from '../endpoint/endpoint.ts'
import {
  AsOfParam,
  booleanParam,
  EntityParam,
  IndicatorKindParam,
  IndicatorParam,
  LimitParam,
  laterDay,
  OnParam,
} from '../endpoint/params.ts'
import { type LocalDay, type StoredDeps, storedEndpoint } from '../endpoint/stored.ts'
import { HISTORY_RANGE, requireRange } from '../figures/history-range.ts'
import { HolesOut, holesField, holesHeaders } from '../figures/holes.ts'
import { IndicatorRunOut } from '../figures/run-shapes.ts'
import { tableEndpoints } from './table-endpoints.ts'

const KINDS = ['interest', 'exchange', 'amount', 'index', 'counter', 'other'] as const
const SIDES = ['compra', 'venta'] as const
const NO_INDICATOR = 'Not enabled, no value, or days that were not synchronized'

const NAMES = {
  provider: v.string(),
  code: v.string(),
  name: v.nullable(v.string()),
  unit: v.nullable(v.string()),
  periodicity: v.nullable(v.string()),
}

const NewestValue = withDescription(DecimalText, 'The value of newest_date, with details=true')

const IndicatorOut = titledObject('Indicator', {
  provider: v.string(),
  code: v.string(),
  key: v.optional(v.string()),
  name: v.nullable(v.string()),
  kind: v.picklist(KINDS),
  unit: v.nullable(v.string()),
  periodicity: v.nullable(v.string()),
  entity: v.optional(v.string()),
  side: v.optional(v.picklist(SIDES)),
  first_date: v.nullable(Day),
  newest_date: v.nullable(Day),
  enabled: v.boolean(),
  newest_value: v.optional(v.nullable(NewestValue)),
})

const LatestOut = titledObject('IndicatorValue', {
  ...NAMES,
  value_date: Day,
  value: DecimalText,
  as_of: AsOfOut,
})

const HistoryOut = titledObject('IndicatorHistory', {
  ...NAMES,
  date_from: Day,
  date_to: Day,
  count: Integer,
  as_of: AsOfOut,
  holes: HolesOut,
  points: v.array(v.object({ date: Day, value: DecimalText })),
})

const CounterOut = titledObject('CounterRates', {
  entity: v.string(),
  kind: v.string(),
  compra: v.nullable(DecimalText),
  compra_date: v.nullable(Day),
  venta: v.nullable(DecimalText),
  venta_date: v.nullable(Day),
})

type IndicatorEndpointsDeps = StoredDeps<IndicatorSnapshot>

export function indicatorEndpoints(deps: IndicatorEndpointsDeps & { db: ReadDb }): AnyEndpoint[] {
  return [
    ...tableEndpoints(
      deps,
      {
        path: '/api/v1/indicators',
        about: 'The indicators that were enabled, by code. Enabling one is up to the operator.',
        query: v.object({
          only_enabled: v.optional(booleanParam('Only those that are enabled'), 'false'),
          kind: v.optional(IndicatorKindParam),
          entity: v.optional(EntityParam),
          details: v.optional(booleanParam('Whether the newest value is shown too'), 'false'),
        }),
        answer: v.array(IndicatorOut),
        effective: (query) => query,
        find: indicatorsWithValues,
        forms: [jsonForm((indicators: readonly IndicatorWithValue[]) => JSON.stringify(indicators))],
      },
      {
        columns: ({ details }) => ({
          ...{ provider: 'text', code: 'plain', key: 'text', name: 'text', kind: 'text', unit: 'text' },
          ...{ periodicity: 'text', entity: 'text', side: 'text', first_date: 'day', newest_date: 'day' },
          enabled: 'plain',
          ...(details && { newest_value: 'decimal' }),
        }),
        rows: (indicators) => indicators,
      },
    ),
    get({
      path: '/api/v1/indicators/runs',
      tag: 'Server',
      about: 'The newest first. Runs of indicators are not among those of /api/v1/sync/runs.',
      query: v.object({ limit: v.optional(LimitParam, '20') }),
      answer: v.array(IndicatorRunOut),
      async handle({ query }) {
        return freshReply(await selectIndicatorRuns(deps.db, query.limit))
      },
    }),
    storedEndpoint(deps, {
      path: '/api/v1/indicators/{code}/latest',
      about: 'The last value on or before a day, with the day that it bears.',
      params: v.object({ code: IndicatorParam }),
      query: v.object({ on: v.optional(OnParam), as_of: v.optional(AsOfParam) }),
      answer: LatestOut,
      notFound: NO_INDICATOR,
      effective: ({ code, on, as_of }, localDay) => ({ code, as_of, ...validDay(on, as_of, localDay) }),
      find: latestIndicator,
      forms: [jsonForm(encodeLatest)],
    }),
    ...tableEndpoints(
      deps,
      {
        path: '/api/v1/indicators/{code}/history',
        tag: 'History',
        about: 'The values of the days that have one, both ends included, oldest first.',
        params: v.object({ code: IndicatorParam }),
        query: v.object({ ...HISTORY_RANGE, as_of: v.optional(AsOfParam) }),
        sends: ['X-Holes'],
        answer: HistoryOut,
        notFound: NO_INDICATOR,
        effective({ code, from, to, as_of }, localDay) {
          return { code, ...requireRange({ from, to }, localDay(as_of)), as_of }
        },
        find: indicatorHistory,
        forms: [jsonForm(encodeHistory)],
      },
      {
        columns: () => ({ date: 'day', value: 'decimal' }),
        rows: historyPoints,
        headers: holesHeaders,
      },
    ),
    ...counterEndpoints(deps),
  ]
}

function counterEndpoints(deps: IndicatorEndpointsDeps): AnyEndpoint[] {
  return tableEndpoints(
    deps,
    {
      path: '/api/v1/ventanilla',
      about: 'What banks and exchange houses pay and charge at their counters. Each side has its own day.',
      query: v.object({
        on: v.optional(OnParam),
        entity: v.optional(EntityParam),
        as_of: v.optional(AsOfParam),
      }),
      sends: ['X-Left-Out'],
      notFound: 'Of that instant there is no record',
      answer: v.array(CounterOut),
      effective: ({ on, entity, as_of }, localDay) => ({ entity, as_of, ...validDay(on, as_of, localDay) }),
      find: counterRates,
      forms: [jsonForm(({ counters }: CounterTable) => JSON.stringify(counters), leftOutHeaders)],
    },
    {
      columns: () => ({
        ...{ entity: 'text', kind: 'text', compra: 'decimal', compra_date: 'day' },
        ...{ venta: 'decimal', venta_date: 'day' },
      }),
      rows: ({ counters }) => counters,
      headers: leftOutHeaders,
    },
  )
}

/** Returns the requested day. @throws AppError `invalid` for a day after tomorrow */
function validDay(
  on: IsoDate | undefined,
  asOf: string | undefined,
  localDay: LocalDay,
): { day: IsoDate; today: IsoDate } {
  const today = localDay(asOf)
  if (on !== undefined && on > addDays(today, 1)) throw laterDay(on)
  return { day: on ?? today, today }
}

function encodeLatest(
  { indicator, value_date, value }: IndicatorLatest,
  { as_of }: { as_of?: string | undefined },
): string {
  return JSON.stringify({ ...shownNames(indicator), value_date, value, as_of })
}

function encodeHistory(history: IndicatorHistory, { as_of }: { as_of?: string | undefined }): string {
  const { indicator, from, to, first, end, holes } = history
  return JSON.stringify({
    ...shownNames(indicator),
    ...{ date_from: from, date_to: to, count: end - first, as_of, holes: holesField(holes) },
    points: [...historyPoints(history)],
  })
}

function* historyPoints({
  column,
  first,
  end,
}: IndicatorHistory): Iterable<{ date: IsoDate; value: string }> {
  for (let at = first; at < end; at += 1) {
    yield { date: isoDate(column.days[at] ?? 0), value: columnValue(column, at) }
  }
}

function shownNames({ provider, code, name, unit, periodicity }: DescribedIndicator) {
  return { provider, code, name, unit, periodicity }
}

function leftOutHeaders({ leftOut }: CounterTable): Record<string, string> {
  return leftOut.length > 0 ? { 'x-left-out': leftOut.join(',') } : {}
}
