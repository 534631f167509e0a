import { packedExecutable } from '../../../runtime/assets.ts'
import { AppError } from '../../../runtime/errors.ts'
import { command } from '../../command.ts'
import { currentUnit, installService } from '../../service/install.ts'
import { uninstallService } from '../../service/uninstall.ts'
import { LOW_PORTS } from './low-ports.ts'
import { openMachine } from './machine.ts'

export const serviceInstall = command({
  name: 'service install',
  options: ['backup-dir', 'root'],
  ignoresService: true,
  async run({ options, terminal }) {
    const instead = 'have your supervisor run cambista serve, or give --root DIR to prepare an image'
    const machine = openMachine(terminal, { rootDir: options.root, instead })
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
    const instead = 'it has no service, and --root DIR removes that of an image'
    uninstallService(openMachine(terminal, { rootDir: options.root, instead }))
  },
})

export const servicePrint = command({
  name: 'service print',
  options: ['low-ports'],
  ignoresService: true,
  async run({ options, terminal }) {
    if (options['low-ports']) terminal.out(LOW_PORTS)
    else terminal.out(currentUnit('/', (text) => terminal.err(`${text}\n`)))
  },
})
