import { countRates } from '../../store/rates/rates.ts'
import { command, printResult } from '../command.ts'

export const ratesCount = command({
  name: 'rates count',
  positionals: [],
  summary: 'say how many values are stored',
  options: ['data-dir', 'json'],
  changesData: false,
  example: 'cambista rates count',
  run({ options, terminal, withDatabase }) {
    return withDatabase({ mustExist: true }, async (db) => {
      const { all } = await countRates(db)
      printResult(terminal, options, { rates: all }, [`${all} values are stored`])
      return 0
    })
  },
})
