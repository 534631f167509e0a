// Types of answers that the page declares, against the schemas of the APIs. The compiler finds a difference.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type * as v from 'valibot'
import type { SummaryOut } from '../../../../src/http/documents/summary-endpoint.ts'
import type { ConversionOut } from '../../../../src/http/figures/conversion.ts'
import type { SyncRunOut } from '../../../../src/http/figures/run-shapes.ts'
import type { DocumentOut } from '../../../../src/http/listings/document-shape.ts'
import type { PairHistoryOut } from '../../../../src/http/rates/pair-history.ts'
import type { LatestRatesOut } from '../../../../src/http/rates/rates.ts'
import type { RevisionOut } from '../../../../src/http/rates/revisions.ts'
import type { SeriesOut } from '../../../../src/http/rates/series.ts'
import type { StatementOut } from '../../../../src/http/rates/statement.ts'
import type { HealthOut } from '../../../../src/http/status/health.ts'
import type { StatusOut } from '../../../../src/http/status/status.ts'
import type { Document, Summary } from '../../../../src/web/api/documents.ts'
import type * as page from '../../../../src/web/api/responses.ts'

type Conversion = v.InferOutput<typeof ConversionOut>
type Point = v.InferOutput<typeof PairHistoryOut>['points'][number]
/** Type of the page, and that of the schema with the details that the page requests. */
type Answers = {
  conversion: [page.Conversion, Conversion & { legs: NonNullable<Conversion['legs']> }]
  day: [page.HistoryPoint, Extract<Point, { value: string }>]
  document: [Document, v.InferOutput<typeof DocumentOut>]
  health: [page.Health, v.InferOutput<typeof HealthOut>]
  latest: [page.Latest, v.InferOutput<typeof LatestRatesOut>]
  period: [page.PeriodsResponse['points'][number], Extract<Point, { last: object }>]
  revision: [page.Correction, v.InferOutput<typeof RevisionOut>]
  run: [page.SyncRun, v.InferOutput<typeof SyncRunOut>]
  series: [page.Series, v.InferOutput<typeof SeriesOut>]
  statement: [Omit<page.StatementResponse, 'conversion'>, v.InferOutput<typeof StatementOut>]
  status: [page.Status, v.InferOutput<typeof StatusOut>]
  summary: [Summary, v.InferOutput<typeof SummaryOut>]
}
/** Names of the answers that lack a field of the page, or have another type of it. */
type Wrong = {
  [Name in keyof Answers]: Answers[Name][1] extends Answers[Name][0] ? never : Name
}[keyof Answers]

test('answers have the fields that the page reads', () => {
  const wrong: Wrong[] = []
  const none: never[] = wrong // the compiler names the answer
  assert.deepEqual(none, [])
})
