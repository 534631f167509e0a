import { exportedIndicatorText, readIndicatorExport } from '../../../domain/indicators/indicator-export.ts'
import type { Column } from '../../../domain/rates/column.ts'
import { exportedText, readExportData } from '../../../domain/rates/export/export.ts'
import {
  findRecentPrices,
  type PriceFormat,
  priceLine,
  priceTitle,
  type RecentPrices,
} from '../../../domain/rates/prices.ts'
import { openRateCache } from '../../../domain/rates/rate-cache.ts'
import { DEFAULT_PROVIDER } from '../../../providers/list.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { Engine } from '../../../store/engine.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { currentDay } from '../../../values/dates.ts'
import { countNoun } from '../../../values/sizes.ts'
import { command, printResult, type Terminal } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import type { OptionValues } from '../../options/values.ts'
import { resultFile, writeNewFile } from '../positionals.ts'

const LINES_AT_ONCE = 2000

export const ratesExport = command({
  name: 'export',
  positionals: ['[FILE]'],
  options: ['format', 'indicators', 'prices', 'base', 'quote', 'type', ...STORAGE, 'json'],
  run({ options, flags, positionals: [file], terminal, withDatabase }) {
    const path = resultFile(file)
    if (options.indicators && options.prices !== undefined)
      throw new AppError('usage', '--indicators and --prices exclude each other')
    const read = options.prices === undefined ? valueReader(options, flags, path) : priceReader(options)
    return withDatabase({ mustExist: true }, async (db, engine) => {
      const { text, count, noun } = await read({ db, engine, terminal })
      if (path === undefined) {
        for await (const bytes of untilStopped(text, terminal)) terminal.out(bytes)
        return
      }
      await writeNewFile(path, untilStopped(text, terminal))
      printResult(terminal, options, { file: path, [`${noun}s`]: count }, [
        `${countNoun(count, noun)} written to ${path}`,
      ])
    })
  },
})

type ExportOptions = Pick<OptionValues, 'format' | 'indicators' | 'prices' | 'base' | 'quote' | 'type'>
type ReadExport = (from: { db: ReadDb; engine: Engine; terminal: Terminal }) => Promise<{
  text: Iterable<Buffer>
  count: number
  noun: 'value' | 'price'
}>

/** Returns a function that reads all rates, or all indicators. @throws AppError `usage` for options of prices */
function valueReader(options: ExportOptions, flags: readonly string[], path: string | undefined): ReadExport {
  const extra = ['base', 'quote', 'type'].find((name) => flags.includes(name))
  if (extra !== undefined)
    throw new AppError('usage', `--${extra} needs --prices ledger or --prices beancount`)
  const format = options.format ?? (path?.toLowerCase().endsWith('.ndjson') ? 'ndjson' : 'csv')
  const countValues = (columns: readonly Column[]) => columns.reduce((sum, { days }) => sum + days.length, 0)
  return async ({ db, terminal }) => {
    if (options.indicators) {
      const data = await readIndicatorExport(db)
      const count = countValues(data.indicators.map(({ column }) => column))
      return { text: exportedIndicatorText(data, format), count, noun: 'value' }
    }
    const data = await readExportData(db, await openRateCache(db, terminal.providers))
    return { text: exportedText(data, format), count: countValues(data.columns), noun: 'value' }
  }
}

/**
 * Returns a function that reads all prices of some pairs, by day. Each pair begins after its newest days that were not
 * synchronized. @throws AppError `usage` for options that do not fit
 */
function priceReader(options: ExportOptions): ReadExport {
  const { prices: format = 'ledger', base: bases, quote, type } = options
  if (options.format !== undefined) throw new AppError('usage', '--prices and --format exclude each other')
  if (!bases || quote === undefined)
    throw new AppError('usage', '--prices needs --base and --quote, such as --base USD,EUR --quote CRC')
  return async ({ db, engine, terminal }) => {
    const cache = await openRateCache(db, terminal.providers)
    const today = currentDay(engine.clock)
    const pairs = await Array.fromAsync(bases, (base) =>
      cache.read((snapshot) =>
        findRecentPrices(snapshot, { provider: DEFAULT_PROVIDER.code, base, quote, type }, today),
      ),
    )
    for (const comment of pairs.flatMap(beginComment)) terminal.err(`${comment}\n`)
    const count = pairs.reduce((sum, { points }) => sum + points.length, 0)
    return { text: priceBytes(format, pairs), count, noun: 'price' }
  }
}

/** Comments of all pairs, then the prices of each day in the order of the pairs. */
function* priceBytes(format: PriceFormat, pairs: readonly RecentPrices[]): Generator<Buffer, void> {
  const comments = pairs.flatMap((pair) => [
    priceTitle(pair),
    ...beginComment(pair).map((comment) => `; ${comment}`),
  ])
  yield Buffer.from(comments.map((comment) => `${comment}\n`).join(''))
  const lines = pairs.flatMap((pair, order) =>
    pair.points.map((point) => ({ day: point.date, order, text: priceLine(format, pair, point) })),
  )
  lines.sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : a.order - b.order))
  for (let first = 0; first < lines.length; first += LINES_AT_ONCE) {
    const some = lines.slice(first, first + LINES_AT_ONCE)
    yield Buffer.from(some.map(({ text }) => `${text}\n`).join(''))
  }
}

/** Where a pair begins because days before it were not synchronized. */
function beginComment({ base, quote, hole, points: [first] }: RecentPrices): string[] {
  if (!hole) return []
  const begin = first ? `begins at ${first.date}` : 'has no prices'
  return [`${base}/${quote} ${begin}; not synchronized: ${hole.from}..${hole.to}`]
}

async function* untilStopped(parts: Iterable<Buffer>, { stop }: Terminal): AsyncGenerator<Buffer, void> {
  for (const part of parts) {
    if (stop.aborted) throw new AppError('failed', 'stopped before the end')
    yield part
  }
}
