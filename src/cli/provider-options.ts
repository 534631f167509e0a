// The options of the providers: which there are follows from what each provider says of itself.

import { PROVIDERS } from '../providers/list.ts'
import type { Provider, TokenSetting } from '../providers/provider.ts'
import { anything, cron, httpUrl, integer } from './option-formats.ts'
import { type Option, type ProviderOption, variableOf } from './option-names.ts'

export const SCHEDULE_OPTIONS = PROVIDERS.map(({ settings }) => named(settings.schedule))
export const PROVIDER_OPTIONS = PROVIDERS.flatMap(({ settings: { url, pace, token } }) =>
  [url, pace, token].flatMap((one) => (one ? named(one) : [])),
)

/** The variables of the providers' tokens. */
export const TOKEN_VARIABLES = PROVIDERS.flatMap(({ settings: { token } }) =>
  token ? tokenVariables(token) : [],
)

/** The options of when to sync a provider. */
export function scheduleOptions(providers: readonly Provider[]): Record<ProviderOption, Option> {
  const options: Record<ProviderOption, Option> = {}
  for (const { settings } of providers) {
    const { option, fallback, help } = settings.schedule
    options[named({ option })] = { value: 'PATTERN', fallback, help, format: cron }
  }
  return options
}

/** The options of where a provider is and what it asks for. */
export function providerOptions(providers: readonly Provider[]): Record<ProviderOption, Option> {
  const options: Record<ProviderOption, Option> = {}
  for (const { settings } of providers) {
    const { url, pace, token } = settings
    options[named(url)] = { value: 'URL', fallback: url.fallback, help: url.help, format: httpUrl }
    const ms = integer(0, 600_000)
    options[named(pace)] = { value: 'MS', fallback: pace.fallback, help: pace.help, format: ms }
    if (token)
      options[named(token)] = { value: 'FILE', fallback: undefined, help: token.help, format: anything }
  }
  return options
}

/** The variable that may have the token itself, and the one that names its file. */
export function tokenVariables({ option }: TokenSetting): { token: string; file: string } {
  const file = variableOf(named({ option }))
  return { token: file.replace(/_FILE$/, ''), file }
}

/** A setting's option as the table of options has it. */
export function named({ option }: { option: string }): ProviderOption {
  return option as ProviderOption
}
