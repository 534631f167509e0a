import { VERSION } from '../../assets.ts'
import { command } from '../command.ts'

export const version = command({
  name: 'version',
  positionals: [],
  summary: 'print the version, as --version, -V and -v do',
  options: [],
  ignoresService: true,
  changesData: false,
  example: 'cambista version',
  async run({ terminal }) {
    terminal.out(`${VERSION}\n`)
    return 0
  },
})
