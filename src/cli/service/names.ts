// Names and paths of an installed service.

import { dirname, join } from 'node:path'
import { PROVIDERS } from '../../providers/list.ts'
import { settingOption } from '../options/provider-options.ts'
import { SETTINGS_FILE } from '../parse/settings.ts'

export const DATA_DIR = '/var/lib/cambista'
export const SETTINGS_DIR = dirname(SETTINGS_FILE)
export const USER = 'cambista'
/** Tokens of the providers and their files. */
export const TOKENS = PROVIDERS.flatMap(({ settings: { token } }) => {
  if (!token?.installed) return []
  const { file, title } = token.installed
  return { option: settingOption(token), name: token.name, file: join(SETTINGS_DIR, file), title }
})
