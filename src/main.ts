// run(argv): finds the command, runs it, sets the exit code. Errors end here as one line on stderr.

import { resolve } from 'node:path'
import { VERSION } from './assets.ts'
import { inWords, isDatabaseAddress, misused } from './cli/advice.ts'
import { checkRequired, parseWords } from './cli/args.ts'
import type { Command, Terminal } from './cli/command.ts'
import { readCommandLine } from './cli/command-line.ts'
import { COMMANDS, GROUPS } from './cli/commands.ts'
import { databaseIn } from './cli/data-dir.ts'
import { commandHelp, type HelpTexts, helpWidth, programHelp, usageOf } from './cli/help.ts'
import type { OptionValues } from './cli/option-values.ts'
import { OPTIONS } from './cli/options.ts'
import { placeOf, refuseWithoutRegion } from './cli/place/place.ts'
import { lendToLibraries, readSettings, SETTINGS_FILE, type Settings, withSettings } from './cli/settings.ts'
import { isJournal } from './cli/terminal-log.ts'
import { AppError, reasonOf } from './errors.ts'
import { asJournalErrors } from './log.ts'
import { PROVIDERS } from './providers/list.ts'
import type { Provider } from './providers/provider.ts'
import { lostDatabaseError } from './storage-error.ts'
import type { Place } from './store/place.ts'

/** Runs the program with this process as its terminal. */
export async function main(providers: readonly Provider[] = PROVIDERS): Promise<void> {
  process.umask(0o077) // whatever is written is for this user alone
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // Once asks, twice insists.
    process.on(signal, () => (stop.signal.aborted ? process.exit(1) : stop.abort()))
  }
  // Node would open its debugger on a port, to everybody on the machine.
  process.on('SIGUSR1', () => {})
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => {}) // a reader that went away (`| head`) is no failure of ours
  }
  process.exitCode = await run(process.argv.slice(2), {
    env: process.env,
    providers,
    settingsFile: SETTINGS_FILE,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    input: () => process.stdin,
    interactive: process.stderr.isTTY === true,
    columns: process.stdout.columns,
    journal: isJournal(process.env),
    stop: stop.signal,
  })
}

/** Runs one command line and returns the exit code: 0 done, 1 failed, 2 wrong usage, 3 done in part. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  let about: string | undefined
  try {
    const asked = readCommandLine(argv, COMMANDS)
    if (asked.what === 'version') terminal.out(`${VERSION}\n`)
    else if (asked.what === 'help') {
      const { of } = asked
      const texts = await textsFor(terminal)
      const width = helpWidth(terminal.columns)
      terminal.out(
        typeof of === 'object' ? commandHelp(of, texts, width) : programHelp(GROUPS, of, texts, width),
      )
      if (argv.length === 0) return 2
    } else {
      about = asked.command.name
      return await runCommand(asked.command, asked.words, terminal)
    }
    return 0
  } catch (error) {
    if (error instanceof AppError && error.code === 'usage') {
      const texts = await textsFor(terminal)
      sayError(texts.misuseText?.(error) ?? inWords(error), terminal)
      terminal.err(texts.tryHelp(about ?? texts.command))
      return 2
    }
    sayError(error instanceof AppError ? inWords(error) : reasonOf(lostDatabaseError(error)), terminal)
    return 1
  }
}

function sayError(message: string, terminal: Terminal): void {
  const line = `cambista: ${message}\n`
  terminal.err(terminal.journal ? asJournalErrors(line) : line)
}

async function runCommand(command: Command, words: readonly string[], terminal: Terminal): Promise<number> {
  const settings = readSettings(command.ignoresService ? undefined : terminal.settingsFile, terminal.env)
  const parsed = parseWords(words, command.options, terminal.env, settings, command.own)
  if (parsed.help) {
    terminal.out(commandHelp(command, await textsFor(terminal), helpWidth(terminal.columns)))
    return 0
  }
  const options: Partial<OptionValues> = parsed.options
  warnOfHidden(settings, options, terminal)
  checkPositionals(command, parsed.positionals)
  checkRequired(command.required ?? [], options, command.own)
  const { changesData } = command
  const say = (text: string) => terminal.err(text)
  let known: Place | undefined
  const place = () => {
    known ??= placeOf(options, { flags: parsed.flags, say })
    if (known.database !== undefined) lendToLibraries(settings)
    refuseWithoutRegion(known, process.env) // which the client of the bucket looks at
    return known
  }
  const hasPlace = options['data-dir'] !== undefined
  const env = withSettings(terminal.env, settings)
  return command.run({
    options,
    positionals: parsed.positionals,
    flags: parsed.flags,
    terminal: { ...terminal, env },
    settings,
    place: hasPlace ? place : undefined,
    withDatabase: hasPlace
      ? databaseIn(place, { changesData, providers: terminal.providers, say })
      : undefined,
  })
}

/** Loaded only where there is something to say: a start of the server needs no languages. The journal is English. */
async function textsFor({ journal, env }: Terminal): Promise<HelpTexts> {
  const { helpTexts } = await import('./cli/language/language.ts')
  return helpTexts(journal ? {} : env)
}

/** Says on stderr that the data directory may not be the one that is meant. */
function warnOfHidden(settings: Settings, options: Partial<OptionValues>, terminal: Terminal): void {
  const dataDir = options['data-dir']
  const inDatabase = options.database !== undefined || options['database-file'] !== undefined
  const told = inDatabase || (dataDir !== undefined && dataDir !== OPTIONS['data-dir'].fallback)
  if (settings.hidden && !told && options.url === undefined) {
    const used = dataDir === undefined ? '' : `; the data directory is ${resolve(dataDir)}`
    terminal.err(
      `cambista: not using the service's settings, because this user may not read ${settings.file}`,
    )
    terminal.err(` (sudo may)${used}\n`)
  }
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const { positionals } = command
  if (given.some(isDatabaseAddress)) throw misused({ misuse: 'address-word', takes: addressOptions(command) })
  const extra = given[positionals.length]
  const next = positionals[given.length]
  if (extra === undefined && (next === undefined || next.startsWith('['))) return
  const usage = usageOf(command)
  throw extra === undefined
    ? misused({ misuse: 'missing-word', word: next ?? '', usage })
    : misused({ misuse: 'extra-word', word: extra, usage })
}

/** Those of a command that are the address of a database; `--to` may be another thing elsewhere. */
function addressOptions({ options, own }: Command): string[] {
  return options.filter((name) => name === 'database' || (name === 'to' && own?.to?.value === 'URL'))
}
