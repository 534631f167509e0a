import * as v from 'valibot'
import { exportedSeries } from '../../domain/rates/export/export-format.ts'
import { createRevisionReader } from '../../domain/rates/history/sound-revisions.ts'
import { type RateRevision, selectRevisionPage } from '../../store/rates/change-log.ts'
import { selectProviders } from '../../store/rates/providers.ts'
import { type SeriesRow, selectSeries } from '../../store/rates/series.ts'
import type { ReadDb } from '../../store/tables.ts'
import {
  Day,
  DecimalText,
  Instant,
  Integer,
  Pair,
  RateTypeOut,
  titledObject,
  withDescription,
} from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, get } from '../endpoint/endpoint.ts'
import { ASCENDING_PARAMETERS, nextCursor, parsePage } from '../endpoint/pages.ts'
import { dateParam, idParam, RevisionKindParam, reversedRange } from '../endpoint/params.ts'

export const RevisionOut = titledObject('Revision', {
  id: Integer,
  provider: v.string(),
  series_id: Integer,
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
    withDescription(Instant, 'Since when the old value was known; null: not recorded'),
  ),
  new_value: v.nullable(withDescription(DecimalText, 'null: the old value was discarded')),
  replaced_at: withDescription(Instant, 'Since when the new value was known, or the old one discarded'),
  run_id: v.nullable(
    withDescription(Integer, 'The run that replaced it, as /api/v1/sync/runs has it; null: it was discarded'),
  ),
})

export function revisionsEndpoint(db: ReadDb): AnyEndpoint {
  const readRevisions = createRevisionReader(db)
  return get({
    path: '/api/v1/revisions',
    about:
      'Corrections of the source, oldest first: the old value, since when it was known, the new one and since when ' +
      'that is. A rounded value that only gained digits is no correction and is listed with `kind=refined`; a ' +
      'value of a day to come that an operator removed with `kind=discarded`.',
    tag: 'History',
    query: v.object({
      series_id: v.optional(idParam('Only of this series, by its id in /api/v1/series')),
      from: v.optional(dateParam('Only values of this day or later')),
      to: v.optional(dateParam('Only values of this day or earlier')),
      kind: v.optional(RevisionKindParam, 'correction'),
      ...ASCENDING_PARAMETERS,
    }),
    answer: v.object({ revisions: v.array(RevisionOut), next_after: Integer, has_more: v.boolean() }),
    async handle({ query }) {
      const { series_id, from, to, kind, ...cursor } = query
      if (from !== undefined && to !== undefined && from > to) throw reversedRange(from)
      const page = parsePage(cursor)
      const filter = { seriesId: series_id, from, to, kind }
      const cursors = { after: page.after ?? 0, limit: page.limit + 1 }
      const rows = await readRevisions((trx) => selectRevisionPage(trx, filter, cursors), series_id)
      const pageRows = rows.slice(0, page.limit)
      const series = new Map((await selectSeries(db)).map((one) => [one.id, one]))
      const codes = new Map((await selectProviders(db)).map(({ id, code }) => [id, code]))
      const revisions = pageRows.flatMap((revision) => {
        const owner = series.get(revision.series_id)
        return owner ? [revisionOut(revision, owner, codes.get(owner.provider_id) ?? '')] : []
      })
      return freshReply({ revisions, ...nextCursor(page, pageRows.at(-1), rows.length > pageRows.length) })
    },
  })
}

function revisionOut(revision: RateRevision, series: SeriesRow, provider: string) {
  const { old_stored_at } = revision
  return {
    id: revision.id,
    ...exportedSeries(series, provider),
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
