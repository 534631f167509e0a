import { setFlagsFromString } from 'node:v8'
import { type AppConfig, startApp } from '../../../app.ts'
import { LEAST_FREE } from '../../../domain/documents/uploads/quotas.ts'
import { UPLOAD_WAITS } from '../../../http/documents/uploads/receive.ts'
import type { Provider, ProviderSettings } from '../../../providers/provider.ts'
import { VERSION } from '../../../runtime/assets.ts'
import type { Log } from '../../../runtime/log.ts'
import { type OutgoingProxies, UNUSABLE_PROXY } from '../../../runtime/outgoing-proxies.ts'
import { diskError } from '../../../runtime/storage-error.ts'
import { sizeText } from '../../../values/sizes.ts'
import { command } from '../../command.ts'
import { addressesWithoutTls, listenSettings, serverNames } from '../../listen.ts'
import { raiseMinFree } from '../../options/min-free.ts'
import { cronReader, providerSettingsReader, tokenFileWarning } from '../../parse/provider-settings.ts'
import { unknownSettings } from '../../parse/setting-names.ts'
import { SERVE_OPTIONS } from '../../serve-options.ts'
import { becomeStorageOwner, storageFolder } from '../../storage/data-dir.ts'
import { awaitDecision, findProbation } from '../../storage/probation.ts'
import { readHookKeyFile, refuseBackups } from '../../storage/storage-options.ts'
import { terminalLog } from '../../terminal-log.ts'
import { collectWhenIdle } from './idle-collection.ts'
import { createReload } from './reload.ts'

// With hundreds of clients, objects of a request survive a garbage collection. From then on V8 may allocate all such
// objects in the old generation, and a request costs 50 % more. The heap grows by half at most between two collections.
// The flags are set after the start. As flags of the executable they would disable Node's code cache, and the start would
// take 28 ms longer.
const HEAP_FLAGS = ['--no-allocation-site-pretenuring', '--heap-growing-percent=50']

export const serve = command({
  name: 'serve',
  options: SERVE_OPTIONS,
  async run({ options, flags, terminal, settings, storage }) {
    let reload = () => {}
    const onHangup = () => reload()
    using parts = new DisposableStack()
    parts.adopt(process.on('SIGHUP', onHangup), () => process.off('SIGHUP', onHangup))
    const unknownNames = unknownSettings(terminal.env, settings)
    const config = storage()
    const { dataDir } = config
    const log = terminalLog(terminal, { level: options['log-level'], format: options['log-format'] })
    if (unknownNames.length > 0) {
      log.warn('not settings of cambista, so they do nothing', { names: unknownNames.join(', ') })
    }
    const providerSettings = providerSettingsReader(options, terminal.env, terminal.providers)
    const minFree = raiseMinFree(options['min-free'], () =>
      log.warn('--min-free is too small for claims and deletions', {
        given: sizeText(options['min-free']),
        used: sizeText(LEAST_FREE),
      }),
    )
    const backupDir = options['backup-dir'] // empty: none, as an unset line of an environment file
    const backup = backupDir
      ? { dir: backupDir, cron: options['backup-cron'], keep: options['backup-keep'] }
      : undefined
    if (backup) refuseBackups(config, '--backup-dir')
    const listening = listenSettings(options)
    reload = createReload({
      ...{ log, level: options['log-level'], settings, env: terminal.env, flags, providerSettings },
      providers: terminal.providers,
      setHostNames: (names) =>
        listening.hostNames.splice(0, Infinity, ...serverNames({ ...options, ...names })),
      reloadHookKey() {
        const file = options['hook-key-file']
        if (!config.hookKey || file === undefined) return undefined
        const key = readHookKeyFile(options)
        const isChanged = key?.equals(appConfig.hookKey ?? key) === false
        if (isChanged) appConfig.hookKey = key
        return { file, isChanged }
      },
    })
    becomeStorageOwner(config)
    const probationFile = findProbation(terminal.settingsFile)
    const confirmed = Promise.withResolvers<void>()
    const appConfig: AppConfig = {
      ...listening,
      ...config,
      migrate: !options['no-migrate'],
      staleForMs: options['stale-for'],
      keepRemovedDays: options['keep-removed'],
      scheduler: !options['no-scheduler'],
      syncCron: cronReader(options),
      backfillFrom: options['backfill-from'],
      providerSettings,
      secondOpinion: options['second-opinion'] && {
        url: options['hacienda-url'],
        userAgent: `cambista/${VERSION}`,
      },
      limits: {
        ...UPLOAD_WAITS,
        maxBody: options['max-body'],
        minFree,
        maxUploads: options['max-uploads'],
      },
      ballast: !options['no-ballast'],
      backup,
      keepEvents: options['keep-events'],
      maxAttempts: options['max-attempts'],
      log,
      providers: terminal.providers,
      bundlePage: terminal.bundlePage,
      stop: terminal.stop,
      probation: probationFile === undefined ? undefined : confirmed.promise,
    }
    const app = await startApp(appConfig).catch((error: unknown) => {
      const folder = storageFolder(config)
      throw folder === undefined ? error : diskError(error, folder)
    })
    for (const flag of HEAP_FLAGS) setFlagsFromString(flag)
    using _collection = collectWhenIdle()
    const also = app.alsoUrls.length > 0 ? app.alsoUrls.join(' ') : undefined
    const { url, metricsUrl: metrics, place: data } = app
    log.info('listening', { url, metrics, also, data, version: VERSION })
    for (const provider of app.activeProviders) {
      const { token } = provider.settings
      const warning = tokenFileWarning(provider, options, terminal.env)
      if (warning) {
        const { event, ...fields } = warning
        log.warn(event, fields)
      }
      if (!token || hasToken(provider, providerSettings)) continue
      log.warn(token.absence, { hint: `cambista serve --help names --${token.option}` })
    }
    const openPage = options['open-page']
    if (openPage !== undefined) {
      log.warn('the page shows rates without signing in to these networks', { networks: openPage })
    }
    logProxies(log, config.outgoing)
    const plainHosts = addressesWithoutTls(listening)
    if (plainHosts.length > 0) {
      log.warn('without TLS keys and tokens can be read on their way from other machines', {
        host: plainHosts.join(', '),
        hint: 'give --tls-cert and --tls-key (cambista cert create makes them), or serve on 127.0.0.1 behind a proxy with TLS',
      })
    }
    if (app.hasNoKey) {
      log.warn('no API key yet, so every request is refused', {
        hint: `make one with: cambista key create NAME${config.database ? '' : ` --data-dir ${dataDir}`}`,
      })
    }
    const isConfirmed = probationFile === undefined || (await awaitDecision(probationFile, terminal.stop))
    if (isConfirmed) confirmed.resolve()
    const isGivenUp = !isConfirmed && !terminal.stop.aborted
    if (isGivenUp) log.error('the upgrade was not confirmed: the next start puts the former program back')
    else await waitForStop(terminal.stop)
    log.info('stopping')
    await app.close()
    log.info('stopped')
    log.flush()
    return isGivenUp ? 1 : 0
  },
})

function logProxies(log: Log, outgoing: OutgoingProxies | undefined): void {
  const { http, https, exceptions: except, unusable = [] } = outgoing ?? {}
  if (https || http)
    log.info('requests go out through a proxy', { https: https?.name, http: http?.name, except })
  for (const variable of unusable) log.warn('a proxy is not used', { variable, reason: UNUSABLE_PROXY })
}

function hasToken(provider: Provider, settings: (provider: Provider) => ProviderSettings): boolean {
  try {
    return Boolean(settings(provider).token)
  } catch {
    return true // tokenFileWarning reports the file
  }
}

export function waitForStop(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
