// The unit of systemd as a source of settings that containers and measurements have too.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const UNIT = join(import.meta.dirname, '../cli/service/cambista.service')

const [, settings] = /^Environment=(MALLOC.*)$/m.exec(readFileSync(UNIT, 'utf8'))

/** Settings of the memory allocator, by name. */
export const ALLOCATOR = Object.fromEntries(settings.split(' ').map((setting) => setting.split('=')))
