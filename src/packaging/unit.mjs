// The unit of systemd as a source of settings that containers and measurements have too.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const UNIT = join(import.meta.dirname, '../cli/service/cambista.service')

/** Settings of the memory allocator, each as NAME=VALUE. */
export const MALLOC = /^Environment=(MALLOC.*)$/m.exec(readFileSync(UNIT, 'utf8'))[1].split(' ')
