// Tools for the catalogue of series and for the freshness of the rates.

import * as v from 'valibot'
import { dueDay, staleness } from '../../../domain/rates/freshness.ts'
import { type HealthQuery, rateHealth, sidesOfProviders } from '../../../domain/rates/health.ts'
import { listSeries } from '../../../domain/rates/queries.ts'
import type { RateCache, RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { SeriesRow } from '../../../store/rates/series.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { currentDay } from '../../../values/dates.ts'
import { booleanParam } from '../../endpoint/params.ts'
import { sideOut } from '../../figures/side.ts'
import { fitRows, pluralize } from '../protocol/answers.ts'
import type { Resource } from '../protocol/resource.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import { AnyCurrency, Count, Cursor, NextCursor, Provider, Text } from './parameters.ts'

export type CatalogueDeps = { db: ReadDb; cache: RateCache; health: HealthQuery }

const SERIES = 'cambista://series'
const JSON_TYPE = 'application/json'

export function catalogueTools({ db, cache, health: query }: CatalogueDeps): Tool[] {
  const { clock } = query
  return [
    tool({
      name: 'list_series',
      needs: 'key',
      about: 'What is published: each pair and side is a series; its id is the series_id of other tools.',
      input: v.object({
        provider: v.optional(Provider),
        base: AnyCurrency,
        quote: AnyCurrency,
        only_enabled: v.optional(booleanParam('Only those that are kept fresh', ''), 'false'),
        after: Cursor,
      }),
      output: v.object({
        series: v.array(
          v.looseObject({
            id: Count,
            name: Text,
            base_currency: Text,
            quote_currency: Text,
            rate_type: Text,
          }),
        ),
        next_after: NextCursor,
        has_more: v.boolean(),
      }),
      run({ only_enabled, after = 0, ...filter }) {
        const snapshot = cache.snapshot()
        const series = listSeries(snapshot, filter, only_enabled).filter(({ id }) => id > after)
        const { rows, hasMore } = fitRows(series.map((one) => seriesOut(snapshot, one)))
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
      input: v.object({}),
      output: v.object({
        status: Text,
        today: Text,
        exact: v.boolean(),
        reasons: v.array(Text),
        providers: v.array(v.looseObject({ code: Text, fresh: v.boolean(), due: Text })),
      }),
      async run() {
        const { health, providers } = await cache.read(async (snapshot) => ({
          health: await rateHealth(db, snapshot, query),
          providers: await providerFreshness(snapshot, query),
        }))
        const stale = providers.filter(({ fresh }) => !fresh).map(({ code }) => code)
        const summary =
          stale.length > 0 ? `Not fresh: ${health.stale.join('; ')}` : 'The rates that are due are there'
        const others = health.reasons.length - health.stale.length
        return {
          value: {
            status: health.reasons.length > 0 ? 'degraded' : 'ok',
            today: currentDay(clock),
            exact: health.exact,
            reasons: health.reasons,
            providers,
          },
          sentence: `${summary}${others > 0 ? `; ${pluralize(others, 'other reason')} to be careful` : ''}.`,
        }
      },
    }),
  ]
}

/** Resource of the catalogue, which a person gives to a model. */
export function seriesResource({ cache }: { cache: RateCache }): Resource {
  return {
    needs: 'key',
    entry: {
      uri: SERIES,
      name: 'series',
      title: 'Series of exchange rates',
      description: 'Each pair and side that is published, with its id',
      mimeType: JSON_TYPE,
    },
    async read(uri) {
      if (uri !== SERIES) return undefined
      const snapshot = cache.snapshot()
      const { rows, hasMore } = fitRows(listSeries(snapshot, {}).map((one) => seriesOut(snapshot, one)))
      if (hasMore)
        throw new AppError('too-large', 'There are too many series for one answer: call list_series')
      return [{ mimeType: JSON_TYPE, text: JSON.stringify(rows) }]
    },
  }
}

function seriesOut({ providers }: RateSnapshot, series: SeriesRow) {
  const { id, provider_id, name, base_currency, quote_currency, rate_type, first_data_date, enabled } = series
  const provider = providers.find((one) => one.id === provider_id)?.code ?? ''
  return { id, provider, name, base_currency, quote_currency, rate_type, first_data_date, enabled }
}

async function providerFreshness(snapshot: RateSnapshot, { clock, providers }: HealthQuery) {
  const all = await sidesOfProviders(snapshot, { clock, providers })
  return all.map(({ provider, sides }) => {
    const due = dueDay(provider, clock)
    return {
      code: provider.code,
      fresh: sides.every((side) => staleness(provider, side, due) === undefined),
      due,
      sides: sides.map(sideOut),
    }
  })
}
