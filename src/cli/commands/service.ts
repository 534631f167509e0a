import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packedExecutable } from '../../runtime/assets.ts'
import { AppError } from '../../runtime/errors.ts'
import { command, type Terminal } from '../command.ts'
import { type Machine, spawnCommand } from '../host.ts'
import { installService, uninstallService, unitText } from '../service/install.ts'
import { LOW_PORTS } from './low-ports.ts'

const BOOTED_BY_SYSTEMD = '/run/systemd/system'

export const serviceInstall = command({
  name: 'service install',
  options: ['backup-dir', 'root'],
  ignoresService: true,
  async run({ options, terminal }) {
    const machine = openMachine(options.root, terminal)
    const executable = packedExecutable()
    if (executable === undefined) {
      const how = 'npm run build, then sudo dist/cambista service install'
      throw new AppError('failed', `only the packed executable can be installed: ${how}`)
    }
    installService(machine, executable, { backupDir: options['backup-dir'] })
  },
})

export const serviceUninstall = command({
  name: 'service uninstall',
  options: ['root'],
  ignoresService: true,
  async run({ options, terminal }) {
    uninstallService(openMachine(options.root, terminal))
  },
})

export const servicePrint = command({
  name: 'service print',
  options: ['low-ports'],
  ignoresService: true,
  async run({ options, terminal }) {
    if (options['low-ports']) terminal.out(LOW_PORTS)
    else terminal.out(unitText())
  },
})

/** Opens this machine, or the image in `rootDir`. @throws AppError `failed` without root, or without systemd */
function openMachine(rootDir: string | undefined, terminal: Terminal): Machine {
  if (process.getuid?.() !== 0) throw new AppError('failed', 'only root can do that: run it with sudo')
  const root = resolve(rootDir ?? '/')
  if (!existsSync(join(root, 'etc')))
    throw new AppError('failed', `there is no directory etc in ${root}: check --root`)
  if (root === '/' && !existsSync(BOOTED_BY_SYSTEMD)) {
    const instead = 'have your supervisor run cambista serve, or give --root DIR to prepare an image'
    throw new AppError(
      'failed',
      `systemd does not run this machine (there is no ${BOOTED_BY_SYSTEMD}): ${instead}`,
    )
  }
  return { root, live: root === '/', run: spawnCommand, print: (line) => terminal.out(`${line}\n`) }
}
