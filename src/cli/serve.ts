import { setFlagsFromString } from 'node:v8'
import { startApp } from '../app.ts'
import { VERSION } from '../assets.ts'
import type { BackupPlan } from '../domain/nightly-backup.ts'
import { UPLOAD_WAITS } from '../http/uploads.ts'
import { collectWhenIdle } from '../idle-collection.ts'
import { createLog, type LogFormat, type LogLevel } from '../log.ts'
import { diskError } from '../store/storage-error.ts'
import type { Values } from './args.ts'
import { BANK_OPTIONS, bankSettings } from './bank.ts'
import type { Command, Terminal } from './command.ts'
import { becomeOwner } from './data-dir.ts'
import { LISTEN_OPTIONS, listenSettings } from './listen.ts'
import { bytesOf } from './options.ts'

const LOG_OPTIONS = ['log-format', 'log-level'] as const
// Under hundreds of clients what belongs to a request lives through a collection, and V8 may conclude, for as long as it
// runs, that such objects are born old: a request then costs half as much again. Not a flag of the executable, whose
// start would take 28 ms longer, because Node's own compiled code is kept for the usual flags only.
const NOTHING_IS_BORN_OLD = '--no-allocation-site-pretenuring'

export const serve: Command = {
  name: 'serve',
  takes: [],
  summary: 'serve the API, and keep the rates fresh',
  options: [
    ...LISTEN_OPTIONS,
    'data-dir',
    'no-scheduler',
    'sync-cron',
    'backfill-from',
    ...BANK_OPTIONS,
    'max-body',
    'min-free',
    'max-uploads',
    'backup-dir',
    'backup-cron',
    'backup-keep',
    ...LOG_OPTIONS,
  ],
  example: 'cambista serve --port 8080 --data-dir /var/lib/cambista',
  async run({ values, terminal }) {
    const dataDir = values.text('data-dir')
    const log = logOf(values, terminal)
    const providerSettings = bankSettings(values, terminal.env)
    becomeOwner(dataDir)
    const app = await startApp({
      ...listenSettings(values),
      dataDir,
      scheduler: !values.on('no-scheduler'),
      syncCron: values.text('sync-cron'),
      backfillFrom: values.text('backfill-from'),
      providerSettings,
      limits: {
        ...UPLOAD_WAITS,
        maxBody: bytesOf(values.text('max-body')),
        minFree: bytesOf(values.text('min-free')),
        maxUploads: values.number('max-uploads'),
      },
      backup: backupPlan(values),
      log,
    }).catch((error: unknown) => {
      throw diskError(error, dataDir)
    })
    setFlagsFromString(NOTHING_IS_BORN_OLD)
    using _collection = collectWhenIdle()
    log.info('listening', { url: app.url, metrics: app.metricsUrl, data: dataDir, version: VERSION })
    if (app.hasNoKey) {
      log.warn('no API key yet, so every request is refused', {
        hint: `make one with: cambista key create NAME --data-dir ${dataDir}`,
      })
    }
    await stopped(terminal.stop)
    log.info('stopping')
    await app.close()
    log.info('stopped')
    log.flush()
    return 0
  },
}

/** An empty directory is none: that is what an unset line in an environment file looks like. */
function backupPlan(values: Values): BackupPlan | undefined {
  const dir = values.text('backup-dir')
  return dir === ''
    ? undefined
    : { dir, cron: values.text('backup-cron'), keep: values.number('backup-keep') }
}

function logOf(values: Values, terminal: Terminal) {
  return createLog({
    level: values.text('log-level') as LogLevel,
    format: values.text('log-format') as LogFormat,
    write: (text) => terminal.err(text),
  })
}

export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
