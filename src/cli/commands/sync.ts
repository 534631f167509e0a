import { addDays, latest, todayIn } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { FIRST_DAY } from '../../providers/list.ts'
import type { SyncRunRow } from '../../store/sync-runs.ts'
import type { RunProgress } from '../../sync/progress.ts'
import { refine } from '../../sync/refine.ts'
import { ENDED, type SyncDeps, syncAll } from '../../sync/run.ts'
import type { SyncProgress } from '../../sync/state.ts'
import { command, printResult, type Terminal } from '../command.ts'
import type { OptionValues } from '../option-values.ts'
import { PLACE } from '../place/options.ts'
import { durationText, progressOf } from '../progress.ts'
import { PROVIDER_OPTIONS } from '../provider-options.ts'
import { settingsOfProviders } from '../provider-settings.ts'
import { terminalLog } from '../terminal-log.ts'

const PLAIN_EVERY_MS = 10_000
const FEW_REQUESTS = 20 // cron mails whatever is printed: the daily run is not worth it, however slow the bank is

export const sync = command({
  name: 'sync',
  positionals: [],
  summary: 'fetch rates now: what is new, then what is missing; or exactly --from to --to',
  options: [...PLACE, 'from', 'to', 'backfill-from', ...PROVIDER_OPTIONS, 'json'],
  changesData: true,
  example: 'cambista sync --from 2026-01-01 --to 2026-01-31',
  run({ options, terminal, withDatabase }) {
    const clock = () => new Date()
    const todays = terminal.providers.map(({ timeZone }) => todayIn(clock, timeZone))
    const range = rangeOf(options, addDays(todays.reduce(latest), 1))
    const settings = settingsOfProviders(options, terminal.env, terminal.providers)
    return withDatabase({ mustExist: false }, async (_, engine) => {
      const log = runLog(terminal)
      const deps = {
        ...engine,
        log,
        backfillFrom: options['backfill-from'],
        settings,
        changed: async () => {},
      }
      const line = progressOf(terminal, { plainEveryMs: PLAIN_EVERY_MS })
      const progress = (now: SyncProgress & RunProgress) => {
        if (terminal.interactive || now.requests + now.requestsLeft > FEW_REQUESTS) line.show(syncLine(now))
      }
      const request = { trigger: 'cli' as const, range, signal: terminal.stop, progress }
      const ends = await syncAll(deps, terminal.providers, request).finally(line.clear)
      const runs = ends.map(({ run }) => run)
      const isGood = range === undefined && runs.every(({ status }) => status === 'ok')
      const refined = isGood ? await refineNow(deps, terminal) : []
      log.flush()
      if (runs.length === 0)
        throw new AppError('failed', 'no provider is enabled: see cambista provider list')
      const lines = [...runs, ...refined].map(runLine)
      printResult(terminal, options, runs.length === 1 ? runs[0] : runs, lines)
      return exitCodeOf(runs)
    })
  },
})

/** Makes rounded values exact, where there is a token now; to be stopped at any time. */
async function refineNow(deps: SyncDeps, terminal: Terminal): Promise<SyncRunRow[]> {
  const line = progressOf(terminal)
  const progress = ({ group, window }: SyncProgress) =>
    line.show(
      `making rounded values exact  ${group}  ${window.from} to ${window.to}  (Ctrl-C stops it, nothing is lost)`,
    )
  return refine(deps, terminal.providers, { signal: terminal.stop, progress }).finally(line.clear)
}

/** What went wrong is in the run that is printed: its end is logged only in the journal, where stdout has no priority. */
function runLog(terminal: Terminal): Log {
  const log = terminalLog(terminal, { level: 'error', format: 'text' })
  if (terminal.journal) return log
  return { ...log, error: (event, fields) => event !== ENDED && log.error(event, fields) }
}

/** How far a sync is, such as `37 %  318  1998-03-01 to 1999-03-01  4 min left`. */
export function syncLine(progress: SyncProgress & RunProgress): string {
  const { group, window, requests, requestsLeft, msLeft } = progress
  const percent = Math.floor((100 * requests) / (requests + requestsLeft))
  const left = requestsLeft === 0 ? [] : [`${durationText(msLeft)} left`]
  return [`${percent} %`, group, `${window.from} to ${window.to}`, ...left].join('  ')
}

function runLine(run: SyncRunRow): string {
  const counts = `${run.inserted} new, ${run.updated} replaced, ${run.unchanged} unchanged`
  const message = run.message === null ? '' : `\n  ${run.message.replaceAll('; ', '\n  ')}`
  const what = run.trigger === 'refine' ? ' (rounded values made exact)' : ''
  return `run ${run.id}${what}: ${run.status}, ${run.date_from} to ${run.date_to}: ${counts}${message}`
}

function exitCodeOf(runs: readonly SyncRunRow[]): number {
  if (runs.some(({ status }) => status === 'error')) return 1
  return runs.some(({ status }) => status === 'parcial') ? 3 : 0
}

function rangeOf({ from, to }: Pick<OptionValues, 'from' | 'to'>, tomorrow: string) {
  if (from === undefined && to === undefined) return undefined
  const range = { from: from ?? FIRST_DAY, to: to ?? tomorrow }
  if (range.from > range.to) throw new AppError('usage', `--from ${range.from} is after --to ${range.to}`)
  if (range.to > tomorrow) throw new AppError('usage', `--to must not be after tomorrow, ${tomorrow}`)
  return range
}
