import { setFlagsFromString } from 'node:v8'
import { startApp } from '../../app.ts'
import { VERSION } from '../../assets.ts'
import type { BackupPlan } from '../../domain/backup/nightly.ts'
import { UPLOAD_WAITS } from '../../http/documents/uploads/receive.ts'
import type { Provider, ProviderSettings } from '../../providers/provider.ts'
import { diskError } from '../../storage-error.ts'
import { command, type Terminal } from '../command.ts'
import { becomeOwnerOf } from '../data-dir.ts'
import { LISTEN_OPTIONS, listenSettings, placesWithoutTls } from '../listen.ts'
import type { OptionValues } from '../option-values.ts'
import { WHOLE_PLACE } from '../place/options.ts'
import { refuseBackups } from '../place/place.ts'
import { PROVIDER_OPTIONS, SCHEDULE_OPTIONS } from '../provider-options.ts'
import { cronOf, settingsOfProviders, tokenFileWarning } from '../provider-settings.ts'
import { unknownSettings } from '../setting-names.ts'
import { terminalLog } from '../terminal-log.ts'
import { collectWhenIdle } from './idle-collection.ts'

const LOG_OPTIONS = ['log-format', 'log-level'] as const
// Under hundreds of clients what belongs to a request lives through a collection, and V8 may conclude, for as long as it
// runs, that such objects are born old: a request then costs half as much again. Not a flag of the executable, whose
// start would take 28 ms longer, because Node's own compiled code is kept for the usual flags only.
const NOTHING_IS_BORN_OLD = '--no-allocation-site-pretenuring'

export const serve = command({
  name: 'serve',
  positionals: [],
  summary: 'serve the API, and keep the rates fresh',
  options: [
    ...LISTEN_OPTIONS,
    ...WHOLE_PLACE,
    'no-scheduler',
    ...SCHEDULE_OPTIONS,
    'backfill-from',
    ...PROVIDER_OPTIONS,
    'max-body',
    'min-free',
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
    ...LOG_OPTIONS,
  ],
  changesData: false,
  example: 'cambista serve --port 8080 --data-dir /var/lib/cambista',
  async run({ options, terminal, settings, place: placeOf }) {
    const unknown = unknownSettings(terminal.env, settings)
    const place = placeOf()
    const { dataDir } = place
    const log = logOf(options, terminal)
    if (unknown.length > 0) {
      log.warn('not settings of cambista, so they do nothing', { names: unknown.join(', ') })
    }
    const providerSettings = settingsOfProviders(options, terminal.env, terminal.providers)
    const backup = backupPlan(options)
    if (backup) refuseBackups(place, '--backup-dir')
    becomeOwnerOf(place)
    const listening = listenSettings(options)
    const app = await startApp({
      ...listening,
      ...place,
      migrate: !options['no-migrate'],
      staleForMs: options['stale-for'],
      keepRemovedDays: options['keep-removed'],
      scheduler: !options['no-scheduler'],
      syncCron: cronOf(options),
      backfillFrom: options['backfill-from'],
      providerSettings,
      limits: {
        ...UPLOAD_WAITS,
        maxBody: options['max-body'],
        minFree: options['min-free'],
        maxUploads: options['max-uploads'],
      },
      backup,
      keepEvents: options['keep-events'],
      maxAttempts: options['max-attempts'],
      log,
      providers: terminal.providers,
      stop: terminal.stop,
    }).catch((error: unknown) => {
      throw diskError(error, dataDir)
    })
    setFlagsFromString(NOTHING_IS_BORN_OLD)
    using _collection = collectWhenIdle()
    const also = app.alsoUrls.length > 0 ? app.alsoUrls.join(' ') : undefined
    const { url, metricsUrl: metrics, place: data } = app
    log.info('listening', { url, metrics, also, data, version: VERSION })
    for (const provider of terminal.providers) {
      const { token } = provider.settings
      const warning = tokenFileWarning(provider, options, terminal.env)
      if (warning) {
        const { event, ...fields } = warning
        log.warn(event, fields)
      }
      if (!token || hasToken(provider, providerSettings)) continue
      log.warn(token.without, { hint: `cambista serve --help names --${token.option}` })
    }
    const bare = placesWithoutTls(listening)
    if (bare.length > 0) {
      log.warn('without TLS keys and tokens can be read on their way from other machines', {
        host: bare.join(', '),
        hint: 'give --tls-cert and --tls-key (cambista cert create makes them), or serve on 127.0.0.1 behind a proxy with TLS',
      })
    }
    if (app.hasNoKey) {
      log.warn('no API key yet, so every request is refused', {
        hint: `make one with: cambista key create NAME${place.database ? '' : ` --data-dir ${dataDir}`}`,
      })
    }
    await stopped(terminal.stop)
    log.info('stopping')
    await app.close()
    log.info('stopped')
    log.flush()
    return 0
  },
})

function hasToken(provider: Provider, settings: (provider: Provider) => ProviderSettings): boolean {
  try {
    return Boolean(settings(provider).token)
  } catch {
    return true // the file is at fault, which a warning of its own says
  }
}

/** An empty directory is none: that is what an unset line in an environment file looks like. */
function backupPlan(
  options: Pick<OptionValues, 'backup-dir' | 'backup-cron' | 'backup-keep'>,
): BackupPlan | undefined {
  const dir = options['backup-dir']
  return !dir ? undefined : { dir, cron: options['backup-cron'], keep: options['backup-keep'] }
}

function logOf(options: Pick<OptionValues, 'log-level' | 'log-format'>, terminal: Terminal) {
  return terminalLog(terminal, {
    level: options['log-level'],
    format: options['log-format'],
  })
}

export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
