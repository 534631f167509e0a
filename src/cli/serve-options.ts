// Options of `serve`, which the settings file of the service lists too.

import { LISTEN_OPTIONS } from './listen.ts'
import { PROVIDER_OPTIONS, SCHEDULE_OPTIONS } from './options/provider-options.ts'
import { STORAGE_WITH_BLOBS } from './options/storage.ts'

export const SERVE_OPTIONS = [
  ...LISTEN_OPTIONS,
  ...STORAGE_WITH_BLOBS,
  'no-scheduler',
  ...SCHEDULE_OPTIONS,
  'backfill-from',
  ...PROVIDER_OPTIONS,
  'second-opinion',
  'hacienda-url',
  'max-body',
  'min-free',
  'no-ballast',
  'max-uploads',
  'backup-dir',
  'backup-cron',
  'backup-keep',
  'keep-events',
  'max-attempts',
  'no-migrate',
  'stale-for',
  'hook-key-file',
  'keep-removed',
  'log-format',
  'log-level',
] as const
