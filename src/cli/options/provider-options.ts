// Options of the providers, built from each provider's `settings`.

import { OPTIONAL_PROVIDERS, PROVIDERS } from '../../providers/list.ts'
import type { Provider, TokenSetting } from '../../providers/provider.ts'
import { anything, cron, httpUrl, integer } from './formats.ts'
import { type Option, option, type ProviderOption, variableName } from './names.ts'

export const SCHEDULE_OPTIONS = PROVIDERS.map(({ settings }) => settingOption(settings.schedule))
export const PROVIDER_OPTIONS = PROVIDERS.flatMap(({ settings: { url, pace, token } }) =>
  [url, pace, token].flatMap((one) => (one ? settingOption(one) : [])),
)

/** Options of the optional providers. The help of a command names the manual in their place. */
export const OPTIONAL_OPTIONS: ReadonlySet<string> = new Set(
  OPTIONAL_PROVIDERS.flatMap(({ settings: { schedule, url, pace, token } }) =>
    [schedule, url, pace, token].flatMap((one) => one?.option ?? []),
  ),
)

/** Variables of the providers' tokens. */
export const TOKEN_VARIABLES = PROVIDERS.flatMap(({ settings: { token } }) =>
  token ? tokenVariables(token) : [],
)

/** Options of the sync schedules. */
export function scheduleOptions(providers: readonly Provider[]): Record<ProviderOption, Option> {
  return Object.fromEntries(
    providers.map(({ settings: { schedule } }) => [
      settingOption(schedule),
      option('PATTERN', cron, schedule.fallback),
    ]),
  )
}

/** Options of each provider's URL, pace and token file. */
export function providerOptions(providers: readonly Provider[]): Record<ProviderOption, Option> {
  const options: Record<ProviderOption, Option> = {}
  for (const { settings } of providers) {
    const { url, pace, token } = settings
    options[settingOption(url)] = option('URL', httpUrl, url.fallback)
    options[settingOption(pace)] = option('MS', integer(0, 600_000), pace.fallback)
    if (token) options[settingOption(token)] = option('FILE', anything)
  }
  return options
}

/** Returns two variable names: of the token itself, and of its file. */
export function tokenVariables({ option }: TokenSetting): { token: string; file: string } {
  const file = variableName(settingOption({ option }))
  return { token: file.replace(/_FILE$/, ''), file }
}

/** Returns the option name of a provider's setting. */
export function settingOption({ option }: { option: string }): ProviderOption {
  return option as ProviderOption
}
