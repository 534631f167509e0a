import * as v from 'valibot'
import { selectRuns } from '../../store/rates/sync-runs.ts'
import type { ReadDb } from '../../store/tables.ts'
import { type AnyEndpoint, freshReply, get } from '../endpoint/endpoint.ts'
import { LimitParam, ProviderParam } from '../endpoint/params.ts'
import { Day, Instant, Integer } from '../endpoint/shapes.ts'

export const SyncRunOut = v.pipe(
  v.object({
    id: Integer,
    provider_id: Integer,
    trigger: v.picklist(['scheduler', 'startup', 'retry', 'cli', 'refine', 'import']),
    status: v.picklist(['ok', 'parcial', 'error']),
    date_from: v.nullable(Day),
    date_to: v.nullable(Day),
    inserted: Integer,
    updated: Integer,
    unchanged: Integer,
    message: v.nullable(v.string()),
    started_at: Instant,
    finished_at: v.nullable(Instant),
  }),
  v.title('SyncRun'),
)

export function syncRunsEndpoints(db: ReadDb): AnyEndpoint[] {
  return [
    get({
      path: '/api/v1/sync/runs',
      about: 'The newest first: the requested range, the stored values and the error of each run.',
      tag: 'Server',
      query: v.object({ provider: v.optional(ProviderParam), limit: v.optional(LimitParam, '20') }),
      answer: v.array(SyncRunOut),
      async handle({ query }) {
        return freshReply(await selectRuns(db, { providerCode: query.provider, limit: query.limit }))
      },
    }),
  ]
}
