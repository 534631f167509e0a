import { exportable, exportedText } from '../../../domain/rates/export.ts'
import { openRateCache } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../errors.ts'
import { command, printResult, type Terminal } from '../../command.ts'
import { PLACE } from '../../place/options.ts'
import { writeNew } from '../positionals.ts'

export const ratesExport = command({
  name: 'export',
  positionals: ['[FILE]'],
  summary: 'write every stored rate, and which days are known, to a new FILE or to stdout',
  about: `The form is --format, else that of the ending of FILE (.csv, .ndjson), else CSV:
  provider,series_id,external_code,pair,rate_type,rate_date,
    value,rounded_to,stored_at
In CSV the days that are known are in lines that begin with #. The last line has the number of values and the SHA-256 of
all lines before, so that cambista import sees whether a file is whole. A server may run meanwhile.`,
  options: ['format', ...PLACE, 'json'],
  changesData: false,
  example: 'cambista export rates.csv',
  run({ options, positionals: [path], terminal, withDatabase }) {
    const format = options.format ?? (path?.toLowerCase().endsWith('.ndjson') ? 'ndjson' : 'csv')
    return withDatabase({ mustExist: true }, async (db) => {
      const found = await exportable(db, await openRateCache(db, terminal.providers))
      const text = untilStopped(exportedText(found, format), terminal)
      if (path === undefined) {
        for await (const bytes of text) terminal.out(bytes)
        return 0
      }
      await writeNew(path, text)
      const values = found.columns.reduce((sum, { days }) => sum + days.length, 0)
      printResult(terminal, options, { file: path, values }, [`${values} values written to ${path}`])
      return 0
    })
  },
})

async function* untilStopped(parts: Iterable<Buffer>, { stop }: Terminal): AsyncGenerator<Buffer, void> {
  for (const part of parts) {
    if (stop.aborted) throw new AppError('failed', 'stopped before the end')
    yield part
  }
}
