// run(argv): finds the command, runs it, sets the exit code. Errors end here as one line on stderr.

import { resolve } from 'node:path'
import { VERSION } from './assets.ts'
import { agentActivate, agentCreate, agentDeactivate, agentList } from './cli/agent.ts'
import { parseWords, type Values } from './cli/args.ts'
import { backupCreate, backupRestore, backupVerify } from './cli/backup.ts'
import type { Command, Terminal } from './cli/command.ts'
import { companyCreate, companyList } from './cli/company.ts'
import { demo } from './cli/demo.ts'
import { directoryExport, directoryImport } from './cli/directory.ts'
import { doctor } from './cli/doctor.ts'
import { documentExport, documentList, documentShow } from './cli/document.ts'
import { documentDelete, documentPurge } from './cli/document-removal.ts'
import { healthcheck } from './cli/healthcheck.ts'
import { commandHelp, programHelp, usageOf } from './cli/help.ts'
import { keyCreate, keyList, keyRevoke } from './cli/key.ts'
import { OPTIONS } from './cli/options.ts'
import { ownerCreate, ownerList } from './cli/owner.ts'
import { providerDisable, providerEnable, providerList } from './cli/provider.ts'
import { revisionList } from './cli/revision.ts'
import { seriesDisable, seriesEnable, seriesList } from './cli/series.ts'
import { serve } from './cli/serve.ts'
import { serviceInstall, servicePrint, serviceUninstall } from './cli/service.ts'
import { readSettings, SETTINGS_FILE, type Settings, withSettings } from './cli/settings.ts'
import { sync } from './cli/sync.ts'
import { tokenCreate, tokenList, tokenRevoke } from './cli/token.ts'
import { AppError, reasonOf } from './errors.ts'

export const COMMANDS: readonly Command[] = [
  serve,
  sync,
  demo,
  healthcheck,
  serviceInstall,
  serviceUninstall,
  servicePrint,
  keyCreate,
  keyList,
  keyRevoke,
  providerList,
  providerEnable,
  providerDisable,
  seriesList,
  seriesEnable,
  seriesDisable,
  revisionList,
  companyCreate,
  companyList,
  ownerCreate,
  ownerList,
  agentCreate,
  agentActivate,
  agentDeactivate,
  agentList,
  directoryImport,
  directoryExport,
  tokenCreate,
  tokenList,
  tokenRevoke,
  documentList,
  documentShow,
  documentExport,
  documentDelete,
  documentPurge,
  backupCreate,
  backupVerify,
  backupRestore,
  doctor,
]

const CHANGES =
  /^sync$|^(?!backup ).* (create|revoke|enable|disable|activate|deactivate|import|delete|purge)$/

/** Runs the program with this process as its terminal. */
export async function main(): Promise<void> {
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
    settingsFile: SETTINGS_FILE,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    interactive: process.stderr.isTTY === true,
    stop: stop.signal,
  })
}

/** Runs one command line and returns the exit code: 0 done, 1 failed, 2 wrong usage, 3 a sync that was parcial. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [first, second] = argv
  let asked = 'COMMAND'
  try {
    if (first === '--version') terminal.out(`${VERSION}\n`)
    else if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
      terminal.out(programHelp(COMMANDS))
      if (first === undefined) return 2
    } else if (isHelpOfGroup(first, second)) {
      terminal.out(programHelp(COMMANDS.filter(({ name }) => name.startsWith(`${first} `))))
    } else {
      const command = findCommand(first, second)
      asked = command.name
      const words = argv.slice(command.name.split(' ').length)
      const settings = readSettings(command.ignoresService ? undefined : terminal.settingsFile, terminal.env)
      const { values, positionals, help } = parseWords(words, command.options, terminal.env, settings)
      if (!help) {
        tellWhere(command, values, settings, terminal)
        values.upgraded = ({ from, to, copy }) =>
          terminal.err(`The database was of schema ${from} and is of ${to} now; as it was it is in ${copy}\n`)
        const within = { ...terminal, env: withSettings(terminal.env, settings) }
        return await command.run({ values, words: takenWords(command, positionals), terminal: within })
      }
      terminal.out(commandHelp(command))
    }
    return 0
  } catch (error) {
    const usage = error instanceof AppError && error.code === 'usage'
    const message = error instanceof AppError ? error.message : reasonOf(error)
    terminal.err(`cambista: ${message}\n`)
    if (usage) terminal.err(`Try cambista --help, or cambista ${asked} --help.\n`)
    return usage ? 2 : 1
  }
}

/** Says on stderr which data directory a command changes, and when it may not be the one that is meant. */
function tellWhere(command: Command, values: Values, settings: Settings, terminal: Terminal): void {
  if (CHANGES.test(command.name)) {
    values.opened = (dataDir) => terminal.err(`data directory: ${resolve(dataDir)}\n`)
  }
  const dataDir = values.given('data-dir')
  const told = dataDir !== undefined && dataDir !== OPTIONS['data-dir'].fallback
  if (settings.hidden && !told && values.given('url') === undefined) {
    const used = dataDir === undefined ? '' : `; the data directory is ${resolve(dataDir)}`
    terminal.err(
      `cambista: not using the service's settings, because this user may not read ${settings.file}`,
    )
    terminal.err(` (sudo may)${used}\n`)
  }
}

/** Whether help is asked for with the first of two words, such as `key --help`. */
function isHelpOfGroup(first: string, second: string | undefined): boolean {
  return (second === '--help' || second === '-h') && COMMANDS.some(({ name }) => name.startsWith(`${first} `))
}

function findCommand(first: string, second: string | undefined): Command {
  const found = COMMANDS.find(({ name }) => name === first || name === `${first} ${second}`)
  if (found) return found
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name)
  const hint = group.length > 0 ? `, but there are: ${group.join(', ')}` : ''
  throw new AppError(
    'usage',
    `there is no command ${JSON.stringify([first, second].join(' ').trim())}${hint}`,
  )
}

function takenWords(command: Command, positionals: string[]): string[] {
  if (positionals.length === command.takes.length) return positionals
  const extra = positionals[command.takes.length]
  const fault =
    extra === undefined
      ? `${command.takes[positionals.length]} is missing`
      : `unexpected ${JSON.stringify(extra)}`
  throw new AppError('usage', `${fault}; usage: cambista ${usageOf(command)} [flags]`)
}
