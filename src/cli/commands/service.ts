import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packedExecutable } from '../../assets.ts'
import { AppError } from '../../errors.ts'
import { command, type Terminal } from '../command.ts'
import { type Machine, runHere } from '../host.ts'
import { installService, uninstallService, unitText } from './install.ts'
import { TOKENS } from './names.ts'

const BOOTED_BY_SYSTEMD = '/run/systemd/system'

export const serviceInstall = command({
  name: 'service install',
  positionals: [],
  summary: 'make this executable a systemd service and start it; again after each upgrade',
  about: `It makes the system user cambista, the data directory /var/lib/cambista, a place for backups /var/backups/cambista,
the settings /etc/cambista/cambista.env, ${TOKENS.map(({ file, name }) => `${file} for ${name}`).join(', ')}, the executable
/usr/local/bin/cambista and the unit; it enables and starts the unit, and waits until it is ready. What is there is
kept: only the executable and the unit are replaced when they differ. From then on every cambista command takes its
settings from /etc/cambista/cambista.env, so that it works on the service's data.

With --backup-dir the service makes a backup each night: DIR is made if only it is missing, belongs to the user cambista,
is written into the settings and into the unit. It must be empty or a backup set, and should be on another disk.`,
  options: ['backup-dir', 'root'],
  ignoresService: true,
  changesData: false,
  example: 'sudo ./cambista service install --backup-dir /mnt/backup/cambista',
  async run({ options, terminal }) {
    const machine = machineOf(options.root, terminal)
    const executable = packedExecutable()
    if (executable === undefined) {
      const how = 'npm run build, then sudo dist/cambista service install'
      throw new AppError('failed', `only the packed executable can be installed: ${how}`)
    }
    installService(machine, executable, { backupDir: options['backup-dir'] })
    return 0
  },
})

export const serviceUninstall = command({
  name: 'service uninstall',
  positionals: [],
  summary: 'stop the service and remove its unit; data, settings, user and executable stay',
  options: ['root'],
  ignoresService: true,
  changesData: false,
  example: 'sudo cambista service uninstall',
  async run({ options, terminal }) {
    uninstallService(machineOf(options.root, terminal))
    return 0
  },
})

export const servicePrint = command({
  name: 'service print',
  positionals: [],
  summary: 'print the systemd unit that service install writes',
  options: ['low-ports'],
  ignoresService: true,
  changesData: false,
  example: 'cambista service print',
  async run({ options, terminal }) {
    if (options['low-ports']) terminal.out((await import('../commands/low-ports.ts')).LOW_PORTS)
    else terminal.out(unitText())
    return 0
  },
})

/** @throws AppError `failed` when this process cannot do it here */
function machineOf(rootDir: string | undefined, terminal: Terminal): Machine {
  if (process.getuid?.() !== 0) throw new AppError('failed', 'only root can do that: run it with sudo')
  const root = resolve(rootDir ?? '/')
  if (!existsSync(join(root, 'etc')))
    throw new AppError('failed', `there is no system in ${root}: check --root`)
  if (root === '/' && !existsSync(BOOTED_BY_SYSTEMD)) {
    const instead = 'have your supervisor run cambista serve, or give --root DIR to prepare an image'
    throw new AppError(
      'failed',
      `systemd does not run this machine (there is no ${BOOTED_BY_SYSTEMD}): ${instead}`,
    )
  }
  return { root, live: root === '/', run: runHere, say: (line) => terminal.out(`${line}\n`) }
}
