import { countRates } from '../../store/rates/rates.ts'
import { command, printResult } from '../command.ts'

export const ratesCount = command({
  name: 'rates count',
  options: ['data-dir', 'json'],
  run({ options, terminal, withDatabase }) {
    return withDatabase({ mustExist: true }, async (db) => {
      const { all } = await countRates(db)
      printResult(terminal, options, { rates: all }, [`${all} values are stored`])
      return 0
    })
  },
})
