import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { readExport, type SeriesInFile } from '../../../domain/rates/export-file.ts'
import type { Provider } from '../../../providers/provider.ts'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { importRates } from '../../../sync/import/import.ts'
import { readSpreadsheet } from '../../../sync/import/spreadsheet.ts'
import { command, printResult } from '../../command.ts'
import { flag } from '../../options/names.ts'
import { STORAGE } from '../../options/storage.ts'

const LARGEST_SPREADSHEET = 32 * 1024 * 1024

export const ratesImport = command({
  name: 'import',
  positionals: ['FILE'],
  options: ['bccr', 'indicator', 'decimal', 'exact', 'replace', 'dry-run', ...STORAGE, 'json'],
  overrides: { 'dry-run': flag },
  changesData: true,
  async run({ options, positionals: [path = ''], terminal, withDatabase }) {
    const { bccr: isOfBank, indicator: code, decimal, exact } = options
    if (!isOfBank && (code !== undefined || decimal !== undefined || exact))
      throw new AppError('usage', '--indicator, --decimal and --exact go with --bccr')
    const rethrow = (error: unknown): never => {
      throw new AppError('failed', `cannot import ${path}: ${errorReason(error)}`, { cause: error })
    }
    const file = await open(path).catch(rethrow) // before `becomeOwner`, whose user may not read the file
    const provider = terminal.providers.find((one) => one.code === 'bccr') as Provider
    const bytes = isOfBank ? await readBytes(file).catch(rethrow) : undefined
    const exported = bytes ? [] : await readExported(path, file).catch(rethrow)
    return withDatabase({ mustExist: false }, async (_, engine) => {
      const series = bytes
        ? await readSpreadsheet(engine, provider, { bytes, code, decimal, exact }).catch(rethrow)
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
  return readExport(createReadStream(path, { fd: file }))
}

async function readBytes(file: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of file.createReadStream()) {
    size += chunk.length
    if (size > LARGEST_SPREADSHEET) throw new AppError('failed', 'it is larger than 32 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
