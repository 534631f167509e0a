// Runs of syncs and of indicators, as answers of the API and of the status.

import * as v from 'valibot'
import { Day, Instant, Integer } from '../endpoint/answers/shapes.ts'

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

export const IndicatorRunOut = v.pipe(
  v.object({ ...SyncRunOut.entries, trigger: v.picklist(['scheduler', 'cli', 'import']) }),
  v.title('IndicatorRun'),
)
