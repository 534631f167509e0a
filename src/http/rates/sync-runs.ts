import * as v from 'valibot'
import { selectRuns } from '../../store/sync-runs.ts'
import type { Db } from '../../store/tables.ts'
import { type AnyEndpoint, freshReply, get } from '../api/endpoint.ts'
import { LimitParam, ProviderParam } from '../api/params.ts'
import { Day, Instant } from '../api/shapes.ts'

const Count = v.pipe(v.number(), v.integer())

export const SyncRunOut = v.pipe(
  v.object({
    id: Count,
    provider_id: Count,
    trigger: v.picklist(['scheduler', 'startup', 'retry', 'cli', 'refine', 'import']),
    status: v.picklist(['ok', 'parcial', 'error']),
    date_from: v.nullable(Day),
    date_to: v.nullable(Day),
    inserted: Count,
    updated: Count,
    unchanged: Count,
    message: v.nullable(v.string()),
    started_at: Instant,
    finished_at: v.nullable(Instant),
  }),
  v.title('SyncRun'),
)

export function syncRunsEndpoints({ db }: { db: Db }): AnyEndpoint[] {
  return [
    get({
      path: '/api/v1/sync/runs',
      summary: 'Synchronization records, newest first',
      about: 'What each run asked for, found and changed, and what went wrong.',
      tag: 'Operation',
      query: v.object({ provider: v.optional(ProviderParam), limit: v.optional(LimitParam, '20') }),
      answer: v.array(SyncRunOut),
      async handle({ query }) {
        return freshReply(await selectRuns(db, { providerCode: query.provider, limit: query.limit }))
      },
    }),
  ]
}
