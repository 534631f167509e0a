import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { SeriesInFile } from '../../../domain/rates/export-file.ts'
import { AppError, reasonOf } from '../../../errors.ts'
import type { Provider } from '../../../providers/provider.ts'
import { importRates } from '../../../sync/import/import.ts'
import { flag } from '../../call-options.ts'
import { command, printResult } from '../../command.ts'
import { PLACE } from '../../place/options.ts'

const LARGEST_SPREADSHEET = 32 * 1024 * 1024

export const ratesImport = command({
  name: 'import',
  positionals: ['FILE'],
  summary: 'store the rates of a file that cambista export wrote, for a server that cannot reach the bank',
  about: `A file that was altered, whose end is missing, or that has days after tomorrow is refused as a whole. New values are
stored with the instant that the file says, and the days that it knows are known here. Rounded values become those of
the file where it has more digits. An exact value is never changed without --replace: those that differ are counted,
and the exit code is 3. A server may run meanwhile, and sees it within a second.
With --bccr FILE is one that the central bank's website hands out, an .xlsx or the same as CSV: a row for each day, a
column for each day, or the days of the year by years. The titles say which indicator it is of, else --indicator. Only
days that it has are known then, and its values are rounded to the decimals that it shows.`,
  options: ['bccr', 'indicator', 'decimal', 'exact', 'replace', 'dry-run', ...PLACE, 'json'],
  own: { 'dry-run': flag('only count what would be stored') },
  changesData: true,
  example: 'cambista import rates.csv',
  async run({ options, positionals: [path = ''], terminal, withDatabase }) {
    const { bccr: isOfBank, indicator: code, decimal, exact } = options
    if (!isOfBank && (code !== undefined || decimal !== undefined || exact))
      throw new AppError('usage', '--indicator, --decimal and --exact go with --bccr')
    const failed = (error: unknown): never => {
      throw new AppError('failed', `cannot import ${path}: ${reasonOf(error)}`, { cause: error })
    }
    const file = await open(path).catch(failed) // before another user's data directory makes this process that user
    const provider = terminal.providers.find((one) => one.code === 'bccr') as Provider
    const bytes = isOfBank ? await bytesOf(file).catch(failed) : undefined
    const exported = bytes ? [] : await readExported(path, file).catch(failed)
    return withDatabase({ mustExist: false }, async (_, engine) => {
      const series = bytes
        ? await import('../../../sync/import/spreadsheet.ts')
            .then(({ readSpreadsheet }) => readSpreadsheet(engine, provider, { bytes, code, decimal, exact }))
            .catch(failed)
        : exported
      const deps = { ...engine, providers: terminal.providers, signal: terminal.stop }
      const ends = await importRates(deps, series, { replace: options.replace, dryRun: options['dry-run'] })
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

async function readExported(path: string, file: FileHandle): Promise<SeriesInFile[]> {
  const { readExport } = await import('../../../domain/rates/export-file.ts')
  return readExport(createReadStream(path, { fd: file }))
}

async function bytesOf(file: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of file.createReadStream()) {
    size += chunk.length
    if (size > LARGEST_SPREADSHEET) throw new AppError('failed', 'it is larger than 32 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
