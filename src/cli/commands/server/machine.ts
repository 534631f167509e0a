// Opens the machine for commands of root that change its service.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { AppError } from '../../../runtime/errors.ts'
import type { Terminal } from '../../command.ts'
import { type Machine, spawnCommand } from '../../host.ts'

const BOOTED_BY_SYSTEMD = '/run/systemd/system'

/**
 * Opens this machine, or the image in `rootDir`. `instead`: advice for a machine without systemd.
 * @throws AppError `failed` without root, or without systemd
 */
export function openMachine(
  terminal: Terminal,
  { rootDir, instead }: { rootDir?: string | undefined; instead: string },
): Machine {
  if (process.getuid?.() !== 0) throw new AppError('failed', 'only root can do that: run it with sudo')
  const root = resolve(rootDir ?? '/')
  if (!existsSync(join(root, 'etc')))
    throw new AppError('failed', `there is no directory etc in ${root}: check --root`)
  if (root === '/' && !existsSync(BOOTED_BY_SYSTEMD)) {
    throw new AppError(
      'failed',
      `systemd does not run this machine (there is no ${BOOTED_BY_SYSTEMD}): ${instead}`,
    )
  }
  return { root, live: root === '/', run: spawnCommand, print: (line) => terminal.out(`${line}\n`) }
}
