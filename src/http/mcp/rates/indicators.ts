// MCP tools of indicators: other series of the bank, and counter rates (decisions#indicators). A server offers them
// while at least one indicator is enabled. None answers with a rate.

import * as v from 'valibot'
import type { DescribedIndicator } from '../../../domain/indicators/catalogue.ts'
import {
  filterIndicators,
  indicatorHistory,
  latestIndicator,
} from '../../../domain/indicators/indicator-queries.ts'
import type { IndicatorReader, IndicatorSnapshot } from '../../../domain/indicators/reader.ts'
import { columnValue } from '../../../domain/rates/column.ts'
import { AppError } from '../../../runtime/errors.ts'
import { addDays, type Clock, currentDay, isoDate } from '../../../values/dates.ts'
import { withDescription } from '../../endpoint/answers/shapes.ts'
import { dateParam, EntityParam, IndicatorKindParam, IndicatorParam } from '../../endpoint/params.ts'
import { requireRange } from '../../figures/history-range.ts'
import { fitRows, pluralize } from '../protocol/answers.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import {
  answeredDay,
  Cursor,
  Day,
  describeDay,
  describeHoles,
  Holes,
  MaybeText,
  NextCursor,
  Text,
} from './parameters.ts'

export type IndicatorToolDeps = { indicators: Pick<IndicatorReader, 'cache'>; clock: Clock }

const MOST_POINTS = 400
const MOST_HOLES = 50
const FACTS = { code: Text, name: MaybeText, unit: MaybeText }

export function indicatorTools({ indicators: { cache }, clock }: IndicatorToolDeps): Tool[] {
  const hasEnabled = ({ indicators }: IndicatorSnapshot) => indicators.some(({ enabled }) => enabled)
  // Without the database the last state decides, so that the list of tools is still answered.
  const isOffered = () => cache.read(hasEnabled).catch(() => hasEnabled(cache.snapshot()))
  return [
    tool({
      name: 'list_indicators',
      needs: 'key',
      isOffered,
      about:
        'Enabled series of the bank that are no exchange rates: interest, indices, and what each bank pays and charges ' +
        'at its counter (entity, side).',
      input: v.object({
        kind: v.optional(IndicatorKindParam),
        entity: v.optional(EntityParam),
        after: Cursor,
      }),
      output: v.object({
        indicators: v.array(v.looseObject(FACTS)),
        next_after: NextCursor,
        has_more: v.boolean(),
      }),
      async run({ after = 0, ...filter }) {
        const all = await cache.read((present) =>
          filterIndicators(present, { ...filter, only_enabled: true }),
        )
        const { rows, hasMore } = fitRows(all.filter(({ code }) => Number(code) > after).map(withoutProvider))
        const last = hasMore ? Number(rows.at(-1)?.code) : undefined
        const more = hasMore ? ` There are more: call again with after ${last}.` : ''
        return {
          value: { indicators: rows, next_after: last, has_more: hasMore },
          sentence: `${pluralize(rows.length, 'indicator')}.${more}`,
        }
      },
    }),

    tool({
      name: 'get_indicator',
      lists: 'list_indicators',
      needs: 'key',
      isOffered,
      about:
        `Last value on or before a day (on), with its own value_date, or with from or to those of a range, at most ` +
        `${MOST_POINTS}; call again with from = next_from. holes: days that were not synchronized.`,
      input: v.object({
        code: withDescription(IndicatorParam, 'Code or key in list_indicators'),
        on: Day,
        from: v.optional(dateParam('First day; without it 90 days before the last')),
        to: v.optional(dateParam('Last day')),
      }),
      output: v.looseObject({
        ...FACTS,
        value_date: v.optional(Text),
        value: v.optional(Text),
        points: v.optional(v.array(v.object({ date: Text, value: Text }))),
        holes: Holes,
        next_from: v.optional(Text),
      }),
      async run({ code, on, ...range }) {
        const isRange = range.from !== undefined || range.to !== undefined
        if (isRange && on !== undefined) throw new AppError('invalid', 'on goes without from and to')
        if (isRange) return indicatorRange(cache, { code, ...range }, clock)
        const day = answeredDay(on, clock)
        const { indicator, value_date, value } = await cache.read((present) =>
          latestIndicator(present, { code, day }),
        )
        const unit = indicator.unit === null ? '' : ` ${indicator.unit}`
        return {
          value: { ...withoutProvider(indicator), value_date, value },
          sentence: `${title(indicator)}: ${value}${unit}, of ${describeDay(value_date, day)}.`,
        }
      },
    }),
  ]
}

async function indicatorRange(
  cache: IndicatorReader['cache'],
  { code, from, to }: { code: string; from?: string | undefined; to?: string | undefined },
  clock: Clock,
) {
  const range = requireRange({ from, to }, currentDay(clock))
  const history = await cache.read((present) => indicatorHistory(present, { code, ...range }))
  const { indicator, column, first, end } = history
  const points: { date: string; value: string }[] = []
  for (let at = first; at < Math.min(end, first + MOST_POINTS); at += 1) {
    points.push({ date: isoDate(column.days[at] ?? 0), value: columnValue(column, at) })
  }
  const { rows } = fitRows(points)
  const last = rows.at(-1)
  const nextDay = last && rows.length < end - first ? addDays(last.date, 1) : undefined
  const holes = (history.holes ?? []).filter((hole) => nextDay === undefined || hole.from < nextDay)
  const more = nextDay === undefined ? '' : ` There are more: call again with from ${nextDay}.`
  return {
    value: {
      ...withoutProvider(indicator),
      ...{ date_from: range.from, date_to: range.to, count: rows.length },
      ...(holes.length > 0 && { holes: holes.slice(0, MOST_HOLES) }),
      ...{ points: rows, next_from: nextDay },
    },
    sentence: `${pluralize(rows.length, 'value')} of ${title(indicator)}.${describeHoles(holes)}${more}`,
  }
}

function withoutProvider({ provider: _, ...indicator }: DescribedIndicator) {
  return indicator
}

function title({ code, name }: DescribedIndicator): string {
  return name === null ? `indicator ${code}` : `${name} (${code})`
}
