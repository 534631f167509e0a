// Entry: finds the command, runs it and sets the exit code. An error becomes one line on stderr.

import { fstatSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command, Terminal } from './cli/command.ts'
import { readCommandLine } from './cli/command-line.ts'
import { COMMAND_NAMES, loadCommand, loadCommands } from './cli/commands.ts'
import {
  isDatabaseAddress,
  messageWithAdvice,
  usageError,
  usageErrorDetails,
  usageErrorText,
} from './cli/help/advice.ts'
import { messageLanguage } from './cli/help/locale.ts'
import { type HelpTexts, helpTexts } from './cli/help/texts.ts'
import { commandHelp, commandUsage, describeCommands, helpWidth, programHelp } from './cli/help.ts'
import { OPTIONS } from './cli/options/options.ts'
import type { OptionValues } from './cli/options/values.ts'
import { checkRequired, parseWords } from './cli/parse/args.ts'
import { outgoingProxies, useProxies } from './cli/parse/proxies.ts'
import {
  exportLibraryEnv,
  readSettings,
  SETTINGS_FILE,
  type Settings,
  trustExtraCertificates,
  withSettings,
} from './cli/parse/settings.ts'
import { databaseOpener } from './cli/storage/data-dir.ts'
import { refuseWithoutRegion, storageConfig } from './cli/storage/storage-options.ts'
import { isJournal } from './cli/terminal-log.ts'
import { ROUTES } from './http/routes.ts'
import { PROVIDERS } from './providers/list.ts'
import type { Provider } from './providers/provider.ts'
import { AppError, errorCode, errorReason } from './runtime/errors.ts'
import { journalErrors } from './runtime/log.ts'
import { lostDatabaseError } from './runtime/storage-error.ts'
import type { StorageConfig } from './store/storage-config.ts'

/** Runs the program with this process as its terminal. */
export async function main(providers: readonly Provider[] = PROVIDERS): Promise<void> {
  process.umask(0o077) // new files are for this user alone
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // The first signal stops the command, the second ends the process.
    process.on(signal, () => (stop.signal.aborted ? process.exit(1) : stop.abort()))
  }
  // Without a handler Node opens its debugger on a port, to every user of the machine.
  process.on('SIGUSR1', () => {})
  if (process.argv[2] === 'serve') process.on('SIGHUP', () => {}) // before its first line, and after its last one
  process.stderr.on('error', () => {}) // nobody can read a message about it
  process.stdout.on('error', (error) => {
    if (errorCode(error) === 'EPIPE' || process.exitCode === 1) return // a reader that ends (`| head`) is no error
    process.exitCode = 1
    process.stderr.write(`cambista: cannot write to stdout: ${errorReason(error)}\n`)
  })
  const exitCode = await run(process.argv.slice(2), {
    env: process.env,
    providers,
    bundlePage,
    settingsFile: SETTINGS_FILE,
    out: writeResult,
    err: (text) => process.stderr.write(text),
    input: () => process.stdin,
    interactive: process.stderr.isTTY === true,
    columns: process.stdout.columns,
    journal: isJournal(process.env),
    stop: stop.signal,
  })
  process.exitCode ??= exitCode
}

/** Bundles the page of a checkout. No literal names the bundler, so that the executable does not contain it. */
async function bundlePage(): Promise<string> {
  const bundler = new URL('web/bundle.mjs', import.meta.url).href
  const { bundledPage }: { bundledPage(routes: typeof ROUTES): Promise<string> } = await import(bundler)
  return bundledPage(ROUTES)
}

/** Writes to stdout. For a full disk its stream reports no error after a part of a text. */
function writeResult(text: string | Uint8Array): void {
  if (!fstatSync(1).isFile()) process.stdout.write(text)
  else {
    try {
      writeFileSync(1, text)
    } catch (error) {
      process.stdout.emit('error', error)
    }
  }
}

/** Runs one command line and returns the exit code: 0 done, 1 failed, 2 wrong usage, 3 done in part. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  let commandName: string | undefined
  try {
    const commandLine = readCommandLine(argv, COMMAND_NAMES)
    if (commandLine.kind === 'version') {
      return await runCommand(await loadCommand('version'), commandLine.words, terminal)
    }
    if (commandLine.kind === 'help') {
      const texts = terminalTexts(terminal)
      const width = helpWidth(terminal.columns)
      const { command, group, json = false } = commandLine
      if (json) {
        const commands = await loadCommands()
        const isWanted = ({ name }: Command) =>
          command !== undefined ? name === command : group === undefined || name.startsWith(`${group} `)
        terminal.out(`${JSON.stringify(describeCommands(commands.filter(isWanted), texts), null, 2)}\n`)
        return 0
      }
      terminal.out(
        command === undefined
          ? programHelp(await loadCommands(), group, texts, width)
          : commandHelp(await loadCommand(command), texts, width),
      )
      if (argv.length === 0) return 2
    } else {
      commandName = commandLine.command
      return await runCommand(await loadCommand(commandName), commandLine.words, terminal)
    }
    return 0
  } catch (error) {
    const texts = terminalTexts(terminal)
    if (error instanceof AppError && error.code === 'usage') {
      const details = usageErrorDetails(error)
      printError(
        details ? usageErrorText(details, texts) : texts.translate(messageWithAdvice(error)),
        terminal,
      )
      terminal.err(`${texts.text('try', { command: commandName ?? texts.placeholder('COMMAND') })}\n`)
      return 2
    }
    printError(
      error instanceof AppError
        ? texts.translate(messageWithAdvice(error))
        : errorReason(lostDatabaseError(error)),
      terminal,
    )
    return 1
  }
}

function printError(message: string, terminal: Terminal): void {
  const line = `cambista: ${message}\n`
  terminal.err(terminal.journal ? journalErrors(line) : line)
}

async function runCommand(command: Command, words: readonly string[], terminal: Terminal): Promise<number> {
  const settings = readSettings(command.ignoresService ? undefined : terminal.settingsFile, terminal.env)
  const args = parseWords(words, command.options, terminal.env, settings, command.overrides)
  if (args.help) {
    terminal.out(commandHelp(command, terminalTexts(terminal), helpWidth(terminal.columns)))
    return 0
  }
  const options: Partial<OptionValues> = args.options
  warnHiddenSettings(settings, options, terminal)
  checkPositionals(command, args.positionals)
  checkRequired(command.required ?? [], options, command.overrides)
  const { changesData } = command
  const print = (text: string) => terminal.err(text)
  using parts = new DisposableStack()
  let config: StorageConfig | undefined
  const storage = () => {
    if (config) return config
    const outgoing = outgoingProxies(terminal.env, settings)
    parts.defer(useProxies(outgoing))
    config = { ...storageConfig(options, { flags: args.flags, warn: print }), outgoing }
    if (config.database !== undefined) {
      exportLibraryEnv(settings)
      trustExtraCertificates(settings, print)
    }
    refuseWithoutRegion(config, process.env) // the client of the bucket reads the region from there
    return config
  }
  const hasStorage = options['data-dir'] !== undefined
  const env = withSettings(terminal.env, settings)
  const exitCode = await command.run({
    options,
    positionals: args.positionals,
    flags: args.flags,
    terminal: { ...terminal, env },
    settings,
    storage: hasStorage ? storage : undefined,
    withDatabase: hasStorage ? databaseOpener(storage, { changesData, print, ...terminal }) : undefined,
  })
  return exitCode ?? 0
}

/** Texts in the language of the terminal; the journal is English. */
function terminalTexts({ journal, env }: Terminal): HelpTexts {
  return helpTexts(journal ? 'en' : messageLanguage(env))
}

/** Warns that the service's settings are hidden, so that the data directory may not be the service's. */
function warnHiddenSettings(settings: Settings, options: Partial<OptionValues>, terminal: Terminal): void {
  const dataDir = options['data-dir']
  const hasDatabase = options.database !== undefined || options['database-file'] !== undefined
  const isChosen = hasDatabase || (dataDir !== undefined && dataDir !== OPTIONS['data-dir'].fallback)
  if (settings.hidden && !isChosen && options.url === undefined) {
    const note = dataDir === undefined ? '' : `; the data directory is ${resolve(dataDir)}`
    terminal.err(
      `cambista: not using the service's settings, because this user may not read ${settings.file}`,
    )
    terminal.err(` (sudo may)${note}\n`)
  }
}

function checkPositionals(command: Command, words: readonly string[]): void {
  const { positionals } = command
  if (words.some(isDatabaseAddress))
    throw usageError({ reason: 'address-word', takes: addressOptions(command) })
  const extra = positionals.at(-1)?.endsWith('…') ? undefined : words[positionals.length]
  const next = positionals[words.length]
  if (extra === undefined && (next === undefined || next.startsWith('['))) return
  const usage = commandUsage(command)
  throw extra === undefined
    ? usageError({ reason: 'missing-word', word: next ?? '', usage })
    : usageError({ reason: 'extra-word', word: extra, usage })
}

/** Options of a command that take the address of a database. `--to` does so only in `cluster import`. */
function addressOptions({ options, overrides }: Command): string[] {
  return options.filter((name) => name === 'database' || (name === 'to' && overrides?.to?.value === 'URL'))
}
