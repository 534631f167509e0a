import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import {
  type IndicatorInFile,
  isIndicatorExport,
  readIndicatorFile,
} from '../../../domain/indicators/indicator-export-file.ts'
import { readExport, type SeriesInFile } from '../../../domain/rates/export/export-file.ts'
import type { Provider } from '../../../providers/provider.ts'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { importRates } from '../../../sync/import/import.ts'
import { importIndicators } from '../../../sync/import/indicators.ts'
import { readSpreadsheet } from '../../../sync/import/spreadsheet.ts'
import { command, printResult } from '../../command.ts'
import { flag } from '../../options/names.ts'
import { STORAGE } from '../../options/storage.ts'

const LARGEST_SPREADSHEET = 32 * 1024 * 1024
const MAX_HEAD = 4096

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
    const exported = bytes ? { series: [] } : await readExported(path, file).catch(rethrow)
    return withDatabase({ mustExist: false }, async (_, engine) => {
      const deps = { ...engine, providers: terminal.providers, signal: terminal.stop }
      const rules = { replace: options.replace, dryRun: options['dry-run'] }
      const series = bytes
        ? await readSpreadsheet(engine, provider, { bytes, code, decimal, exact }).catch(rethrow)
        : exported.series
      const ends = exported.indicators
        ? await importIndicators(deps, exported.indicators, rules)
        : await importRates(deps, series, rules)
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

type ExportedFile = { series: SeriesInFile[]; indicators?: IndicatorInFile[] }

/** Reads an export of rates, or of indicators: its first line differs. */
async function readExported(path: string, file: FileHandle): Promise<ExportedFile> {
  const stream = createReadStream(path, { fd: file })
  const chunks = stream[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  let isWhole = false
  while (!isWhole && !head.includes(10) && head.length < MAX_HEAD) {
    const { value, done } = await chunks.next()
    isWhole = done === true
    if (!done) head = Buffer.concat([head, value])
  }
  async function* parts() {
    try {
      yield head
      if (!isWhole) yield* { [Symbol.asyncIterator]: () => chunks }
    } finally {
      stream.destroy()
    }
  }
  const [firstLine = ''] = head.toString('utf8', 0, MAX_HEAD).split('\n', 1)
  return isIndicatorExport(firstLine)
    ? { series: [], indicators: await readIndicatorFile(parts()) }
    : { series: await readExport(parts()) }
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
