import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packedExecutable } from '../assets.ts'
import { AppError } from '../errors.ts'
import type { Values } from './args.ts'
import type { Command, Terminal } from './command.ts'
import { type Machine, runHere } from './machine.ts'
import { installService, uninstallService, unitText } from './service-install.ts'

const BOOTED_BY_SYSTEMD = '/run/systemd/system'

export const serviceInstall: Command = {
  name: 'service install',
  takes: [],
  summary: 'make this executable a systemd service and start it; again after each upgrade',
  about: `It makes the system user cambista, the data directory /var/lib/cambista, a place for backups /var/backups/cambista,
the settings /etc/cambista/cambista.env, an empty file /etc/cambista/bccr-token for the bank's token, the executable
/usr/local/bin/cambista and the unit; it enables and starts the unit, and waits until it is ready. What is there is
kept: only the executable and the unit are replaced when they differ. From then on every cambista command takes its
settings from /etc/cambista/cambista.env, so that it works on the service's data.`,
  options: ['root'],
  ignoresService: true,
  example: 'sudo ./cambista service install',
  async run({ values, terminal }) {
    const machine = machineOf(values, terminal)
    const executable = packedExecutable()
    if (executable === undefined) {
      const how = 'npm run build, then sudo dist/cambista service install'
      throw new AppError('failed', `only the packed executable can be installed: ${how}`)
    }
    installService(machine, executable)
    return 0
  },
}

export const serviceUninstall: Command = {
  name: 'service uninstall',
  takes: [],
  summary: 'stop the service and remove its unit; data, settings, user and executable stay',
  options: ['root'],
  ignoresService: true,
  example: 'sudo cambista service uninstall',
  async run({ values, terminal }) {
    uninstallService(machineOf(values, terminal))
    return 0
  },
}

export const servicePrint: Command = {
  name: 'service print',
  takes: [],
  summary: 'print the systemd unit that service install writes',
  options: [],
  ignoresService: true,
  example: 'cambista service print',
  async run({ terminal }) {
    terminal.out(unitText())
    return 0
  },
}

/** @throws AppError `failed` when this process cannot do it here */
function machineOf(values: Values, terminal: Terminal): Machine {
  if (process.getuid?.() !== 0) throw new AppError('failed', 'only root can do that: run it with sudo')
  const root = resolve(values.given('root') ?? '/')
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
