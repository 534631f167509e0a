import { exportedText, readExportData } from '../../../domain/rates/export.ts'
import { openRateCache } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../runtime/errors.ts'
import { command, printResult, type Terminal } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { writeNewFile } from '../positionals.ts'

export const ratesExport = command({
  name: 'export',
  positionals: ['[FILE]'],
  options: ['format', ...STORAGE, 'json'],
  run({ options, positionals: [path], terminal, withDatabase }) {
    const format = options.format ?? (path?.toLowerCase().endsWith('.ndjson') ? 'ndjson' : 'csv')
    return withDatabase({ mustExist: true }, async (db) => {
      const data = await readExportData(db, await openRateCache(db, terminal.providers))
      const text = untilStopped(exportedText(data, format), terminal)
      if (path === undefined) {
        for await (const bytes of text) terminal.out(bytes)
        return
      }
      await writeNewFile(path, text)
      const values = data.columns.reduce((sum, { days }) => sum + days.length, 0)
      printResult(terminal, options, { file: path, values }, [`${values} values written to ${path}`])
    })
  },
})

async function* untilStopped(parts: Iterable<Buffer>, { stop }: Terminal): AsyncGenerator<Buffer, void> {
  for (const part of parts) {
    if (stop.aborted) throw new AppError('failed', 'stopped before the end')
    yield part
  }
}
