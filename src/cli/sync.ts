import { addDays, todayIn } from '../dates.ts'
import { AppError } from '../errors.ts'
import { createLog } from '../log.ts'
import { PROVIDERS } from '../providers/list.ts'
import type { SyncRunRow } from '../store/sync-runs.ts'
import { syncAll } from '../sync/run.ts'
import type { SyncProgress } from '../sync/state.ts'
import type { Values } from './args.ts'
import { BANK_OPTIONS, bankSettings } from './bank.ts'
import { type Command, printResult, type Terminal } from './command.ts'
import { withDatabase } from './data-dir.ts'

const FIRST_DAY = '1983-01-01'

export const sync: Command = {
  name: 'sync',
  takes: [],
  summary: 'fetch rates now: what is new, then what is missing; or exactly --from to --to',
  options: ['data-dir', 'from', 'to', 'backfill-from', ...BANK_OPTIONS, 'json'],
  example: 'cambista sync --from 2026-01-01 --to 2026-01-31',
  run({ values, terminal }) {
    const clock = () => new Date()
    const range = rangeOf(values, addDays(todayIn(clock), 1))
    const settings = bankSettings(values, terminal.env)
    return withDatabase(values, { mustExist: false }, async (db) => {
      // What went wrong is in the run that is printed; the log would only say it twice.
      const log = createLog({ level: 'error', format: 'text', write: terminal.err })
      const deps = {
        db,
        dataDir: values.text('data-dir'),
        clock,
        log,
        backfillFrom: values.text('backfill-from'),
        settings,
        changed: async () => {},
      }
      const progress = progressLine(terminal)
      const request = { trigger: 'cli' as const, range, signal: terminal.stop, progress: progress.show }
      const ends = await syncAll(deps, PROVIDERS, request)
      progress.clear()
      log.flush()
      const runs = ends.map(({ run }) => run)
      if (runs.length === 0)
        throw new AppError('failed', 'no provider is enabled: see cambista provider list')
      printResult(terminal, values, runs.length === 1 ? runs[0] : runs, runs.map(runLine))
      return exitCodeOf(runs)
    })
  },
}

/** A line that is written over while a person watches; nothing when nobody does. */
export function progressLine(terminal: Terminal): { show(progress: SyncProgress): void; clear(): void } {
  if (!terminal.interactive) return { show: () => {}, clear: () => {} }
  return {
    show: ({ feed, window, inserted, updated, unchanged }) =>
      terminal.err(
        `\r\x1b[2K${feed}  ${window.from} to ${window.to}  ${inserted} new, ${updated} replaced, ${unchanged} unchanged`,
      ),
    clear: () => terminal.err('\r\x1b[2K'),
  }
}

function runLine(run: SyncRunRow): string {
  const counts = `${run.inserted} new, ${run.updated} replaced, ${run.unchanged} unchanged`
  const message = run.message === null ? '' : `\n  ${run.message.replaceAll('; ', '\n  ')}`
  return `run ${run.id}: ${run.status}, ${run.date_from} to ${run.date_to}: ${counts}${message}`
}

function exitCodeOf(runs: readonly SyncRunRow[]): number {
  if (runs.some(({ status }) => status === 'error')) return 1
  return runs.some(({ status }) => status === 'parcial') ? 3 : 0
}

function rangeOf(values: Values, tomorrow: string) {
  const from = values.given('from')
  const to = values.given('to')
  if (from === undefined && to === undefined) return undefined
  const range = { from: from ?? FIRST_DAY, to: to ?? tomorrow }
  if (range.from > range.to) throw new AppError('usage', `--from ${range.from} is after --to ${range.to}`)
  if (range.to > tomorrow) throw new AppError('usage', `--to must not be after tomorrow, ${tomorrow}`)
  return range
}
