// Runs of syncs and of indicators, as answers of the API and of the status.

import * as v from 'valibot'
import { Day, Instant, Integer, titledObject } from '../endpoint/answers/shapes.ts'

export const SyncRunOut = titledObject('SyncRun', {
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
})

export const IndicatorRunOut = titledObject('IndicatorRun', {
  ...SyncRunOut.entries,
  trigger: v.picklist(['scheduler', 'cli', 'import']),
})
