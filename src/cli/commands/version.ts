import { VERSION } from '../../runtime/assets.ts'
import { command } from '../command.ts'

export const version = command({
  name: 'version',
  options: [],
  ignoresService: true,
  async run({ terminal }) {
    terminal.out(`${VERSION}\n`)
  },
})
