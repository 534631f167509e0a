import * as v from 'valibot'
import { selectProviders } from '../../store/rates/providers.ts'
import { type RateRevision, selectRevisionPage } from '../../store/rates/record.ts'
import { type SeriesRow, selectSeries } from '../../store/rates/series.ts'
import type { Db } from '../../store/tables.ts'
import { type AnyEndpoint, freshReply, get } from '../api/endpoint.ts'
import { ASCENDING_PARAMETERS, pageOf, placeAfter } from '../api/pages.ts'
import { dateParam, idParam, RevisionKindParam, reversedRange } from '../api/params.ts'
import { Day, DecimalText, Instant, Pair, RateTypeOut } from '../api/shapes.ts'

const Id = v.pipe(v.number(), v.integer())

const RevisionOut = v.pipe(
  v.object({
    id: Id,
    provider: v.string(),
    series_id: Id,
    external_code: v.string(),
    pair: Pair,
    rate_type: RateTypeOut,
    rate_date: Day,
    kind: v.picklist(['correction', 'refined', 'discarded']),
    old_value: DecimalText,
    old_rounded_to: v.nullable(
      v.pipe(v.number(), v.integer(), v.metadata({ description: 'Its decimals, where it was rounded' })),
    ),
    old_stored_at: v.nullable(
      v.pipe(Instant, v.metadata({ description: 'Since when the old value was known; null: not recorded' })),
    ),
    new_value: v.nullable(
      v.pipe(DecimalText, v.metadata({ description: 'null: the old value was discarded' })),
    ),
    replaced_at: v.pipe(
      Instant,
      v.metadata({ description: 'Since when the new value was known, or the old one discarded' }),
    ),
    run_id: v.nullable(
      v.pipe(
        Id,
        v.metadata({
          description: 'The run that replaced it, as /api/v1/sync/runs has it; null: it was discarded',
        }),
      ),
    ),
  }),
  v.title('Revision'),
)

export function revisionsEndpoint({ db }: { db: Db }): AnyEndpoint {
  return get({
    path: '/api/v1/revisions',
    summary: 'Values that were replaced by others, oldest first',
    about:
      'What the source corrected: the old value, since when it was known, the new one and since when that is. A rounded ' +
      'value that only gained digits is no correction and is listed with `kind=refined`; a value of a day to come that an ' +
      'operator removed with `kind=discarded`.',
    query: v.object({
      series_id: v.optional(idParam('Only of this series, by its id in /api/v1/series')),
      from: v.optional(dateParam('Only values of this day or later')),
      to: v.optional(dateParam('Only values of this day or earlier')),
      kind: v.optional(RevisionKindParam, 'correction'),
      ...ASCENDING_PARAMETERS,
    }),
    answer: v.object({ revisions: v.array(RevisionOut), next_after: Id, has_more: v.boolean() }),
    async handle({ query }) {
      const { series_id, from, to, kind, ...place } = query
      if (from !== undefined && to !== undefined && from > to) throw reversedRange(from)
      const page = pageOf(place)
      const filter = { seriesId: series_id, from, to, kind }
      const found = await selectRevisionPage(db, filter, { after: page.after ?? 0, limit: page.limit + 1 })
      const shown = found.slice(0, page.limit)
      const series = new Map((await selectSeries(db)).map((one) => [one.id, one]))
      const codes = new Map((await selectProviders(db)).map(({ id, code }) => [id, code]))
      const revisions = shown.flatMap((one) => {
        const of = series.get(one.series_id)
        return of ? [revisionOut(one, of, codes.get(of.provider_id) ?? '')] : []
      })
      return freshReply({ revisions, ...placeAfter(page, shown.at(-1), found.length > shown.length) })
    },
  })
}

function revisionOut(revision: RateRevision, series: SeriesRow, provider: string) {
  const { old_stored_at } = revision
  return {
    id: revision.id,
    provider,
    series_id: series.id,
    external_code: series.external_code,
    pair: `${series.base_currency}/${series.quote_currency}`,
    rate_type: series.rate_type,
    rate_date: revision.rate_date,
    kind: revision.kind,
    old_value: revision.old_value,
    old_rounded_to: revision.old_rounded_to,
    old_stored_at: old_stored_at === null ? null : new Date(old_stored_at).toISOString(),
    new_value: revision.new_value,
    replaced_at: revision.replaced_at,
    run_id: revision.run_id,
  }
}
