// Which series there are, and whether what is due is there.

import * as v from 'valibot'
import { todayIn } from '../../../dates.ts'
import { dueDay, staleness } from '../../../domain/rates/freshness.ts'
import { type HealthQuestion, rateHealth, sidesOfProviders } from '../../../domain/rates/health.ts'
import { seriesIn } from '../../../domain/rates/queries.ts'
import type { RateCache, RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../errors.ts'
import type { SeriesRow } from '../../../store/rates/series.ts'
import type { Db } from '../../../store/tables.ts'
import { booleanParam } from '../../api/params.ts'
import { counted, fitting } from '../protocol/answers.ts'
import type { Resource } from '../protocol/resource.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import { After, AnyCurrency, Count, NextAfter, Provider, Text } from './parameters.ts'

export type CatalogueDeps = HealthQuestion & { db: Db; cache: RateCache }

const SERIES = 'cambista://series'
const JSON_TYPE = 'application/json'

export function catalogueTools(deps: CatalogueDeps): Tool[] {
  const { cache, clock } = deps
  return [
    tool({
      name: 'list_series',
      needs: 'key',
      about: 'What is published: each pair and side is a series; its id is the series_id of other tools.',
      takes: v.object({
        provider: v.optional(Provider),
        base: AnyCurrency,
        quote: AnyCurrency,
        only_enabled: v.optional(booleanParam('Only those that are kept fresh', ''), 'false'),
        after: After,
      }),
      gives: v.object({
        series: v.array(
          v.looseObject({
            id: Count,
            name: Text,
            base_currency: Text,
            quote_currency: Text,
            rate_type: Text,
          }),
        ),
        next_after: NextAfter,
        has_more: v.boolean(),
      }),
      find({ only_enabled, after = 0, ...filter }) {
        const snapshot = cache.snapshot()
        const found = seriesIn(snapshot, filter, only_enabled).filter(({ id }) => id > after)
        const { rows, hasMore } = fitting(found.map((one) => shown(snapshot, one)))
        const more = hasMore ? ` There are more: call again with after ${rows.at(-1)?.id}.` : ''
        return {
          value: { series: rows, next_after: hasMore ? rows.at(-1)?.id : undefined, has_more: hasMore },
          sentence: `${rows.length} series.${more}`,
        }
      },
    }),

    tool({
      name: 'freshness',
      needs: 'key',
      about:
        'Whether the newest rates that are due are there, of which day they are, and whether values are exact.',
      takes: v.object({}),
      gives: v.object({
        status: Text,
        today: Text,
        exact: v.boolean(),
        reasons: v.array(Text),
        providers: v.array(v.looseObject({ code: Text, fresh: v.boolean(), due: Text })),
      }),
      async find() {
        const { health, providers } = await cache.read(async (snapshot) => ({
          health: await rateHealth(deps.db, snapshot, deps),
          providers: await freshnessOf(snapshot, deps),
        }))
        const stale = providers.filter(({ fresh }) => !fresh).map(({ code }) => code)
        const said =
          stale.length > 0 ? `Not fresh: ${health.stale.join('; ')}` : 'The rates that are due are there'
        const others = health.reasons.length - health.stale.length
        return {
          value: {
            status: health.reasons.length > 0 ? 'degraded' : 'ok',
            today: todayIn(clock),
            exact: health.exact,
            reasons: health.reasons,
            providers,
          },
          sentence: `${said}${others > 0 ? `; ${counted(others, 'other reason')} to be careful` : ''}.`,
        }
      },
    }),
  ]
}

/** The catalogue, for a person who gives it to a model. */
export function seriesResource({ cache }: { cache: RateCache }): Resource {
  return {
    needs: 'key',
    listed: {
      uri: SERIES,
      name: 'series',
      title: 'Series of exchange rates',
      description: 'Each pair and side that is published, with its id',
      mimeType: JSON_TYPE,
    },
    async read(uri) {
      if (uri !== SERIES) return undefined
      const snapshot = cache.snapshot()
      const { rows, hasMore } = fitting(seriesIn(snapshot, {}).map((one) => shown(snapshot, one)))
      if (hasMore)
        throw new AppError('too-large', 'There are too many series for one answer: call list_series')
      return [{ mimeType: JSON_TYPE, text: JSON.stringify(rows) }]
    },
  }
}

function shown({ providers }: RateSnapshot, series: SeriesRow) {
  const { id, provider_id, name, base_currency, quote_currency, rate_type, first_data_date, enabled } = series
  const provider = providers.find((one) => one.id === provider_id)?.code ?? ''
  return { id, provider, name, base_currency, quote_currency, rate_type, first_data_date, enabled }
}

async function freshnessOf(snapshot: RateSnapshot, { clock, providers }: HealthQuestion) {
  const found = await sidesOfProviders(snapshot, { clock, providers })
  return found.map(({ provider, sides }) => {
    const due = dueDay(provider, clock)
    return {
      code: provider.code,
      fresh: sides.every((side) => staleness(provider, side, due) === undefined),
      due,
      sides: sides.map(({ rateType, newest, ageDays }) => ({
        rate_type: rateType,
        newest: newest ?? null,
        age_days: ageDays ?? null,
      })),
    }
  })
}
