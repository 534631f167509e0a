import { readAsset } from '../../runtime/assets.ts'
import { AppError } from '../../runtime/errors.ts'
import { command } from '../command.ts'
import { nonEmpty } from '../options/formats.ts'
import { option } from '../options/names.ts'
import { forgetLater, goBack } from '../service/go-back.ts'
import { doOwnerStep } from '../service/owner-steps.ts'
import { settleUpgrade } from '../service/put-back.ts'
import { upgradeService } from '../service/upgrade.ts'
import { openMachine } from './server/machine.ts'
import { readKey } from './verify.ts'

const WAYS = ['back', 'forget', 'settle', 'changes', 'data'] as const

export const upgrade = command({
  name: 'upgrade',
  positionals: ['[FILE]'],
  options: ['sums', 'key', 'back', 'lose-since', 'forget', 'settle', 'changes', 'data'],
  overrides: { key: option('FILE', nonEmpty) },
  ignoresService: true,
  async run({ options, positionals: [file], terminal }) {
    const ways = WAYS.filter((name) => options[name])
    if (ways.length + (file === undefined ? 0 : 1) !== 1) {
      throw new AppError(
        'usage',
        'give the FILE of a newer program, or one of --back, --forget and --changes',
      )
    }
    if (options['lose-since'] && !options.back) {
      throw new AppError('usage', '--lose-since belongs to --back: it names what only the newer database has')
    }
    if (options.changes) {
      terminal.out(readAsset('CHANGELOG.md'))
      return
    }
    if (options.data !== undefined) {
      terminal.out(`${JSON.stringify(await doOwnerStep(JSON.parse(options.data)))}\n`)
      return
    }
    const instead = 'stop your server, exchange its program, and start it again (cambista manual upgrades)'
    const machine = openMachine(terminal, { instead })
    if (options.settle) settleUpgrade(machine)
    else if (options.forget) await forgetLater(machine, terminal)
    else if (options.back) await goBack(machine, terminal, { losesData: options['lose-since'] })
    else if (file !== undefined) {
      const request = { file, sums: options.sums, key: readKey(options.key) }
      await upgradeService(machine, request, terminal.stop)
    }
  },
})
