// Reload of a running server, at SIGHUP: log level and host names of the settings file, and files of secrets. A bad
// value leaves the one before. The log names settings that need a restart.

import { dirname } from 'node:path'
import type { Provider } from '../../../providers/provider.ts'
import { errorReason } from '../../../runtime/errors.ts'
import type { Log } from '../../../runtime/log.ts'
import { variableName } from '../../options/names.ts'
import type { OptionValues } from '../../options/values.ts'
import { type Environment, parseWords } from '../../parse/args.ts'
import type { ProviderSettingsReader } from '../../parse/provider-settings.ts'
import { unknownSettings } from '../../parse/setting-names.ts'
import { readLibrarySettings, type Settings } from '../../parse/settings.ts'

type Reloadable = Pick<OptionValues, 'log-level' | 'host-name'>

export type ReloadDeps = {
  log: Log & { setLevel(level: OptionValues['log-level']): void }
  level: OptionValues['log-level']
  settings: Settings
  /** Environment, with the settings. */
  env: Environment
  /** Options given as flags, which win over the file. */
  flags: readonly string[]
  providers: readonly Provider[]
  providerSettings: ProviderSettingsReader
  setHostNames(options: Pick<Reloadable, 'host-name'>): void
  /** Reads the file of the key of hooks again; undefined: there is none. */
  reloadHookKey(): ReturnType<ProviderSettingsReader['reloadToken']>
}

/** Returns a function that reloads. Its result is logged at every level. */
export function createReload(deps: ReloadDeps): () => void {
  const { log, settings, env, flags, providers, providerSettings } = deps
  const first = readLibrarySettings(settings, /^/)
  const current = { ...first }
  let { level } = deps
  const setters = {
    'log-level': (options: Reloadable) => {
      level = options['log-level']
    },
    'host-name': deps.setHostNames,
  }
  const names = Object.keys(setters) as (keyof Reloadable)[]
  // systemd passes the settings in the environment too: a variable with the text of the file is the file's.
  const isOfFile = (name: string, variable: string) =>
    !flags.includes(name) && (env[variable] ?? '') === (first[variable] ?? '')

  return () => {
    const [changes, restart] = [new Set<string>(), new Set<string>()]
    const attempt = (step: () => void) => {
      try {
        step()
      } catch (error) {
        log.error('not reloaded: the value before stays', { reason: errorReason(error) })
      }
    }
    log.setLevel('info')
    attempt(() => {
      const values = readLibrarySettings({ ...settings, hidden: false }, /^/)
      for (const name of Object.keys({ ...first, ...values }))
        if (first[name] !== values[name]) restart.add(name)
      for (const name of names) {
        const variable = variableName(name)
        const text = values[variable]
        if (!text) continue // a setting that vanished stays until a restart
        restart.delete(variable)
        if (text === current[variable] || !isOfFile(name, variable)) continue
        attempt(() => {
          setters[name](parseWords([], names, {}, { ...settings, values: { [variable]: text } }).options)
          current[variable] = text
          changes.add(variable)
        })
      }
      unknownSettings({}, { ...settings, values })
    })
    const tokens = providers.map((provider) => () => providerSettings.reloadToken(provider))
    for (const reloadSecret of [...tokens, deps.reloadHookKey]) {
      attempt(() => {
        const { file, isChanged } = reloadSecret() ?? {}
        if (file === undefined) return
        if (isChanged) changes.add(file)
        if (dirname(file) === env.CREDENTIALS_DIRECTORY) restart.add(file)
      })
    }
    log.info('reloaded', { changed: [...changes].join(', ') || 'nothing' })
    if (restart.size > 0)
      log.warn('a reload does not renew these: restart', { names: [...restart].join(', ') })
    log.setLevel(level)
  }
}
