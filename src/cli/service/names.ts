// What an installed service is called, and where its files are.

import { dirname, join } from 'node:path'
import { PROVIDERS } from '../../providers/list.ts'
import { named } from '../provider-options.ts'
import { SETTINGS_FILE } from '../settings.ts'

export const DATA_DIR = '/var/lib/cambista'
export const SETTINGS_DIR = dirname(SETTINGS_FILE)
export const USER = 'cambista'
/** The tokens of the providers, and the files that they are in. */
export const TOKENS = PROVIDERS.flatMap(({ settings: { token } }) => {
  if (!token?.installed) return []
  const { file, title } = token.installed
  return { option: named(token), name: token.name, file: join(SETTINGS_DIR, file), title }
})
