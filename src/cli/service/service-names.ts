// Names and paths of an installed service: of `service install`, and of the Debian package.

import { dirname, join } from 'node:path'
import { PROVIDERS } from '../../providers/list.ts'
import { settingOption } from '../options/provider-options.ts'
import { SETTINGS_FILE } from '../parse/settings.ts'

export const DATA_DIR = '/var/lib/cambista'
export const SETTINGS_DIR = dirname(SETTINGS_FILE)
export const USER = 'cambista'
/** Line of sysusers.d. */
export const SYSTEM_USER = `u ${USER} - "cambista" ${DATA_DIR}`
export const UNIT = 'cambista.service'
export const UNIT_FILE = `/etc/systemd/system/${UNIT}`
export const EXECUTABLE = '/usr/local/bin/cambista'
/** Copy of the program that an upgrade installs, while it is verified. */
export const NEXT = `${EXECUTABLE}.next`
/** The program before an upgrade. */
export const PREVIOUS = `${EXECUTABLE}.previous`
export const PACKAGE_UNIT_FILE = `/usr/lib/systemd/system/${UNIT}`
export const PACKAGE_EXECUTABLE = '/usr/bin/cambista'
/** Tokens of the providers and their files. */
export const TOKENS = PROVIDERS.flatMap(({ settings: { token } }) => {
  if (!token?.installed) return []
  const { file, title } = token.installed
  return { option: settingOption(token), name: token.name, file: join(SETTINGS_DIR, file), title }
})

/** Returns the text of a token file without a token. An empty file would fail each sync. */
export function noTokenText(name: string): string {
  return `# Write ${name} here, in place of this line. Lines that begin with # are no token.\n`
}
