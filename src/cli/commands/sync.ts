import { FIRST_DAY } from '../../providers/list.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { IndicatorRun } from '../../store/indicators/runs.ts'
import { hasInvented, selectProviders } from '../../store/rates/providers.ts'
import { selectSeries } from '../../store/rates/series.ts'
import type { SyncRunRow } from '../../store/rates/sync-runs.ts'
import type { ReadDb } from '../../store/tables.ts'
import { readIndicators } from '../../sync/indicators/indicator-run.ts'
import type { RunProgress } from '../../sync/progress.ts'
import { refine } from '../../sync/refine.ts'
import { RUN_FINISHED, type SyncDeps, syncAll } from '../../sync/run.ts'
import type { AcceptedJump, SyncProgress } from '../../sync/state.ts'
import { addDays, currentDay, isIsoDate, latest } from '../../values/dates.ts'
import { command, printResult, type Terminal } from '../command.ts'
import { PROVIDER_OPTIONS } from '../options/provider-options.ts'
import { STORAGE } from '../options/storage.ts'
import type { OptionValues } from '../options/values.ts'
import { providerSettingsReader } from '../parse/provider-settings.ts'
import { trustExtraCertificates } from '../parse/settings.ts'
import { createProgress, durationText } from '../progress-line.ts'
import { terminalLog } from '../terminal-log.ts'

const PLAIN_EVERY_MS = 10_000
const FEW_REQUESTS = 20 // cron mails all output, and the daily run of few requests should send no mail

export const sync = command({
  name: 'sync',
  positionals: ['[DAY]'],
  options: [...STORAGE, 'from', 'to', 'accept-jump', 'backfill-from', ...PROVIDER_OPTIONS, 'json'],
  changesData: true,
  run({ options, positionals, terminal, settings: serviceSettings, withDatabase }) {
    const clock = () => new Date()
    const required = terminal.providers.filter(({ isOptional }) => !isOptional)
    const currentDays = required.map(({ timeZone }) => currentDay(clock, timeZone))
    const tomorrow = addDays(currentDays.reduce(latest), 1)
    const acceptedJump = parseJump(options, positionals[0])
    const { day = options.from } = acceptedJump ?? {}
    const range = dateRange({ from: day, to: acceptedJump?.day ?? options.to }, tomorrow)
    const settings = providerSettingsReader(options, terminal.env, terminal.providers)
    return withDatabase({ mustExist: false }, async (db, engine) => {
      trustExtraCertificates(serviceSettings, terminal.err)
      const log = runLog(terminal)
      const deps = {
        ...engine,
        log,
        backfillFrom: options['backfill-from'],
        settings,
        onCommit: async () => {},
      }
      const line = createProgress(terminal, { plainEveryMs: PLAIN_EVERY_MS })
      const progress = (now: SyncProgress & RunProgress) => {
        if (terminal.interactive || now.requests + now.requestsLeft > FEW_REQUESTS) line.show(syncLine(now))
      }
      const request = { trigger: 'cli' as const, range, acceptedJump, signal: terminal.stop, progress }
      const providers = acceptedJump ? await jumpProviders(db, terminal, acceptedJump) : terminal.providers
      const results = await syncAll(deps, providers, request).finally(line.clear)
      const runs = results.map(({ run }) => run)
      const isComplete = range === undefined && results.every(({ complete }) => complete)
      const refined = isComplete ? await refineNow(deps, terminal) : []
      const indicatorRuns = isComplete ? await readIndicatorsNow(deps, terminal) : []
      log.flush()
      if (runs.length === 0) {
        const why = hasInvented(await selectProviders(db))
          ? 'the values are invented, and no source joins them'
          : 'no provider is enabled'
        throw new AppError('failed', `${why}: see cambista provider list`)
      }
      const laterRuns = [
        ...refined.map((run) => ({ ...run, line: runLine(run) })),
        ...indicatorRuns.map((run) => ({ ...run, line: indicatorLine(run) })),
      ]
      const lines = [...runs.map(runLine), ...laterRuns.map(({ line }) => line)]
      printResult(terminal, options, runs.length === 1 ? runs[0] : runs, lines)
      const failures = laterRuns.filter(({ status }) => status !== 'ok')
      if (options.json) for (const { line } of failures) terminal.err(`${line}\n`)
      return exitCode(runs) || (failures.length > 0 ? 3 : 0)
    })
  },
})

/** @throws AppError `usage` unless the series has its day alone */
function parseJump(
  { 'accept-jump': seriesId, from, to }: Pick<OptionValues, 'accept-jump' | 'from' | 'to'>,
  word: string | undefined,
): AcceptedJump | undefined {
  if (seriesId === undefined && word === undefined) return undefined
  if (seriesId === undefined) throw new AppError('usage', 'DAY belongs to --accept-jump SERIES')
  if (from !== undefined || to !== undefined)
    throw new AppError('usage', '--accept-jump reads its DAY: leave out --from and --to')
  if (word !== undefined && isIsoDate(word)) return { seriesId, day: word }
  throw new AppError('usage', '--accept-jump SERIES needs its DAY, such as 2026-01-31')
}

/** Returns the provider of the series. @throws AppError `failed` for an unknown series */
async function jumpProviders(db: ReadDb, { providers }: Terminal, { seriesId }: AcceptedJump) {
  const series = (await selectSeries(db)).find(({ id }) => id === seriesId)
  if (!series) throw new AppError('failed', `there is no series ${seriesId}`, { advice: { about: 'series' } })
  const row = (await selectProviders(db)).find(({ id }) => id === series.provider_id)
  return providers.filter(({ code }) => code === row?.code)
}

/** Makes rounded values exact, if there is a token now. A stop loses nothing. */
async function refineNow(deps: SyncDeps, terminal: Terminal): Promise<SyncRunRow[]> {
  const line = createProgress(terminal)
  const progress = ({ group, window }: SyncProgress) =>
    line.show(
      `making rounded values exact  ${group}  ${window.from} to ${window.to}  (Ctrl-C stops it, nothing is lost)`,
    )
  return refine(deps, terminal.providers, { signal: terminal.stop, progress }).finally(line.clear)
}

/** Reads the indicators that are due. A person does not wait for their history. */
function readIndicatorsNow(deps: SyncDeps, terminal: Terminal): Promise<IndicatorRun[]> {
  const request = { trigger: 'cli', signal: terminal.stop, isNewestOnly: terminal.interactive } as const
  const runs = Array.fromAsync(terminal.providers, (provider) => readIndicators(deps, provider, request))
  return runs.then((all) => all.filter((run) => run !== undefined))
}

/**
 * Opens the log. The command prints the error of a run, so the log line of its end is left out. The journal gets it, for
 * its priority.
 */
function runLog(terminal: Terminal): Log {
  const log = terminalLog(terminal, { level: 'error', format: 'text' })
  if (terminal.journal) return log
  return { ...log, error: (event, fields) => event !== RUN_FINISHED && log.error(event, fields) }
}

/** Formats the progress of a sync, such as `37 %  318  1998-03-01 to 1999-03-01  4 min left`. */
export function syncLine(progress: SyncProgress & RunProgress): string {
  const { group, window, requests, requestsLeft, msLeft } = progress
  const percent = Math.floor((100 * requests) / (requests + requestsLeft))
  const timeLeft = requestsLeft === 0 ? [] : [`${durationText(msLeft)} left`]
  return [`${percent} %`, group, `${window.from} to ${window.to}`, ...timeLeft].join('  ')
}

function runLine(run: SyncRunRow): string {
  const counts = `${run.inserted} new, ${run.updated} replaced, ${run.unchanged} unchanged`
  const message = run.message === null ? '' : `\n  ${run.message.replaceAll('; ', '\n  ')}`
  const kind = run.trigger === 'refine' ? ' (rounded values made exact)' : ''
  return `run ${run.id}${kind}: ${run.status}, ${run.date_from} to ${run.date_to}: ${counts}${message}`
}

function indicatorLine(run: IndicatorRun): string {
  const { id, status, inserted, updated, unchanged, message } = run
  const counts = `${inserted} new, ${updated} replaced, ${unchanged} unchanged`
  return `indicators, run ${id}: ${status}: ${counts}${message === null ? '' : `\n  ${message.replaceAll('; ', '\n  ')}`}`
}

function exitCode(runs: readonly SyncRunRow[]): number {
  if (runs.some(({ status }) => status === 'error')) return 1
  return runs.some(({ status }) => status === 'parcial') ? 3 : 0
}

function dateRange({ from, to }: Pick<OptionValues, 'from' | 'to'>, tomorrow: string) {
  if (from === undefined && to === undefined) return undefined
  const range = { from: from ?? FIRST_DAY, to: to ?? tomorrow }
  if (range.from > range.to) throw new AppError('usage', `--from ${range.from} is after --to ${range.to}`)
  if (range.to > tomorrow) throw new AppError('usage', `--to must not be after tomorrow, ${tomorrow}`)
  return range
}
