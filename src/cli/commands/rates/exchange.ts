import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { exportable, exportedText } from '../../../domain/rates/export.ts'
import { openRateCache } from '../../../domain/rates/rate-cache.ts'
import { AppError, reasonOf } from '../../../errors.ts'
import { PROVIDERS } from '../../../providers/list.ts'
import { importRates } from '../../../sync/import.ts'
import { flag } from '../../call-options.ts'
import { command, printResult, type Terminal } from '../../command.ts'
import { writeNew } from '../positionals.ts'

export const ratesExport = command({
  name: 'export',
  positionals: ['[FILE]'],
  summary: 'write every stored rate, and which days are known, to a new FILE or to stdout',
  about: `The form is --format, else that of the ending of FILE (.csv, .ndjson), else CSV:
  provider,series_id,external_code,pair,rate_type,rate_date,value,rounded_to,stored_at
In CSV the days that are known are in lines that begin with #. The last line has the number of values and the SHA-256 of
all lines before, so that cambista import sees whether a file is whole. A server may run meanwhile.`,
  options: ['format', 'data-dir', 'json'],
  changesData: false,
  example: 'cambista export rates.csv',
  run({ options, positionals: [path], terminal, withDatabase }) {
    const format = options.format ?? (path?.toLowerCase().endsWith('.ndjson') ? 'ndjson' : 'csv')
    return withDatabase({ mustExist: true }, async (db) => {
      const found = await exportable(db, await openRateCache(db, PROVIDERS))
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

export const ratesImport = command({
  name: 'import',
  positionals: ['FILE'],
  summary: 'store the rates of a file that cambista export wrote, for a server that cannot reach the bank',
  about: `A file that was altered, or whose end is missing, is refused as a whole. New values are stored with the instant that the
file says, and the days that it knows are known here. Rounded values become those of the file where it has more digits.
An exact value is never changed without --replace: those that differ are counted, and the exit code is 3. A server may
run meanwhile, and sees it within a second.`,
  options: ['replace', 'dry-run', 'data-dir', 'json'],
  own: { 'dry-run': flag('only count what would be stored') },
  changesData: true,
  example: 'cambista import rates.csv',
  async run({ options, positionals: [path = ''], terminal, withDatabase }) {
    const file = await open(path).catch((error: unknown) => {
      throw unreadable(path, error)
    }) // before another user's data directory makes this process that user
    const { readExport } = await import('../../../domain/rates/export-file.ts')
    const series = await readExport(createReadStream(path, { fd: file })).catch((error: unknown) => {
      throw unreadable(path, error)
    })
    return withDatabase({ mustExist: false }, async (_, engine) => {
      const deps = { ...engine, providers: PROVIDERS, signal: terminal.stop }
      const dryRun = options['dry-run']
      const ends = await importRates(deps, series, { replace: options.replace, dryRun })
      const lines = ends.map(({ provider, inserted, updated, unchanged, kept, run }) => {
        const counts = `${inserted} new, ${updated} replaced, ${unchanged} unchanged, ${kept} kept that differ`
        const message = run?.message ? `\n  ${run.message}` : ''
        return `${run ? `run ${run.id}: ${run.status}` : 'dry run'}, ${provider}: ${counts}${message}`
      })
      printResult(terminal, options, ends, lines.length > 0 ? lines : ['the file has no values'])
      if (ends.some(({ run }) => run?.status === 'error')) return 1
      return ends.some(({ kept, run }) => kept > 0 || run?.status === 'parcial') ? 3 : 0
    })
  },
})

async function* untilStopped(parts: Iterable<Buffer>, { stop }: Terminal): AsyncGenerator<Buffer, void> {
  for (const part of parts) {
    if (stop.aborted) throw new AppError('failed', 'stopped before the end')
    yield part
  }
}

function unreadable(path: string, error: unknown): AppError {
  return new AppError('failed', `cannot import ${path}: ${reasonOf(error)}`, { cause: error })
}
