// Upgrades the service: verifies the new program, installs it on probation, and confirms it once it answers. Whatever ends
// this process, the next start of the unit settles the upgrade (put-back.ts).

import { chmodSync, copyFileSync, existsSync, linkSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  checkFile,
  compareVersions,
  readRelease,
  selectChanges,
  sumsPath,
} from '../../domain/operations/release.ts'
import type { PublicKey } from '../../formats/minisign.ts'
import { AppError } from '../../runtime/errors.ts'
import { flush } from '../../runtime/file-hash.ts'
import { type CommandResult, type Machine, replaceFile, runOrFail } from '../host.ts'
import { SETTINGS_FILE } from '../parse/settings.ts'
import {
  decideProbation,
  isSameProgram,
  PROBATION_MS,
  PROBATION_PATH,
  type Program,
  RETURN_PATH,
  readProbation,
  writeProbation,
} from '../storage/probation.ts'
import { readDataDir, usesDatabase } from './backup.ts'
import { refuseOwnedByPackage } from './installations.ts'
import { runOwnerStep } from './owner-steps.ts'
import { lockPrograms, OWN_PROCESS, readProgram, requireInstalled } from './programs.ts'
import { addSettleStep, removeSettleStep } from './put-back.ts'
import { DATA_DIR, EXECUTABLE, NEXT, PREVIOUS, UNIT } from './service-names.ts'

const LOOK_EVERY_MS = 500
const RETURN_MS = 60_000 // for the start that puts the former program back
const READY_AGAIN = ['--wait', '60']
/** Words of /readyz of a server on probation. */
const ON_PROBATION = 'on probation'
const MOST_WRITING_LOOKS = 6 // the former server may answer until it ends

type Upgrade = {
  file: string
  /** Sums of the release; undefined: beside the file, or in the directory above. */
  sums: string | undefined
  key: PublicKey
}

/**
 * Replaces the program of the service by another file.
 * @throws AppError `failed`: nothing was changed, or the former program and its database are put back
 */
export async function upgradeService(machine: Machine, upgrade: Upgrade, stop: AbortSignal): Promise<void> {
  const at = (path: string) => join(machine.root, path)
  refuseOwnedByPackage(machine.root, 'upgrade')
  requireInstalled(machine)
  using _lock = lockPrograms(machine)
  settleEarlier(machine)
  const former = requireInstalled(machine) // another one after a return
  refuseEarly(machine, former, upgrade.file)
  refuseSilent(machine)
  const copyMs = copyProgram(at(NEXT), upgrade.file)
  try {
    const program = await verifyCopy(machine, upgrade, stop)
    const order = compareVersions(program.version, former.version)
    if (order < 0) {
      const back = `${former.version} is installed, which is newer: sudo cambista upgrade --back goes back`
      throw new AppError('failed', `${upgrade.file} is cambista ${program.version}; ${back}`)
    }
    if (isSameProgram(program, former)) {
      machine.print(`nothing to do: cambista ${describe(program)} is installed`)
      return
    }
    const change: Change = { former, program, data: readData(machine) }
    for (const line of announce(machine, change, copyMs)) machine.print(line)
    if (!change.data) requireSharedSchema(machine, change, upgrade.file)
    const wasFresh = checkHealth(machine, '--fresh').status === 0
    stop.throwIfAborted()
    beginProbation(machine, change)
    const isConfirmed = await watchProbation(machine)
    if (!isConfirmed) reportReturn(machine, { former, program })
    machine.print(`cambista ${program.version} is confirmed, and writes`)
    const isFresh = checkHealth(machine, '--fresh').status === 0
    if (wasFresh && !isFresh) machine.print('the dollar was fresh before, and is not now: cambista doctor')
    machine.print(`${PREVIOUS} is the former program: sudo cambista upgrade --back goes back to it`)
  } finally {
    rmSync(at(NEXT), { force: true })
  }
}

/**
 * Settles an upgrade whose process was killed: a restart of the unit puts the former program back. The caller has the
 * lock of the programs.
 * @throws AppError `failed` when the former program is not put back
 */
export function settleEarlier(machine: Machine): void {
  const files = [PROBATION_PATH, RETURN_PATH].map((path) => join(machine.root, path))
  const probation = files.map(readProbation).find((one) => one !== undefined)
  if (!probation) return
  const what = `the upgrade to cambista ${probation.program.version}`
  machine.print(`${what} was broken off: cambista ${probation.former.version} is put back first`)
  addSettleStep(machine)
  machine.run('systemctl', ['restart', UNIT])
  const { status, text } = checkHealth(machine, ...READY_AGAIN)
  const isThere = files.some((path) => existsSync(path))
  if (isThere || status !== 0) throw new AppError('failed', `${what} cannot be undone: ${text}`)
}

/** @throws AppError `failed` for a program that cannot put itself back, as 0.2.0 */
function refuseEarly(machine: Machine, former: Program, file: string): void {
  if (machine.run(join(machine.root, EXECUTABLE), ['upgrade', '--changes']).status === 0) return
  const way = `sudo ${file} service install upgrades it, without probation`
  throw new AppError('failed', `cambista ${former.version} of the service has no command upgrade: ${way}`)
}

/** @throws AppError `failed` for a service that runs, and whose answers this process cannot see */
function refuseSilent(machine: Machine): void {
  if (machine.run('systemctl', ['is-active', UNIT]).text !== 'active') return
  const { status, text } = checkHealth(machine)
  if (status === 0) return
  const why = text.replace(/^cambista: /, '')
  throw new AppError(
    'failed',
    `the service runs, but does not answer as ${SETTINGS_FILE} says, so an upgrade could not be confirmed: ${why}`,
  )
}

/** Queries the server of the data directory, whatever its port, or that of the settings. */
function checkHealth(machine: Machine, ...words: string[]): CommandResult {
  const place = usesDatabase(machine)
    ? []
    : ['--data-dir', join(machine.root, readDataDir(machine, DATA_DIR))]
  return machine.run(join(machine.root, EXECUTABLE), ['healthcheck', ...place, ...words])
}

/** Copies the file, so that what is verified cannot be exchanged. Returns the milliseconds that 100 MB take. */
function copyProgram(target: string, file: string): number {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new AppError('failed', `there is no file ${file}`)
  const began = performance.now()
  replaceFile(target, (temporary) => {
    copyFileSync(file, temporary)
    chmodSync(temporary, 0o755)
  })
  return ((performance.now() - began) / statSync(target).size) * 1e8
}

async function verifyCopy(
  machine: Machine,
  { file, sums, key }: Upgrade,
  stop: AbortSignal,
): Promise<Program> {
  const release = readRelease(sums ?? sumsPath(file), key)
  const result = await checkFile(join(machine.root, NEXT), release, stop)
  if ('fault' in result) throw new AppError('failed', `${file} is no file of cambista ${release.version}`)
  const program = readProgram(machine, NEXT)
  if (program?.version === release.version) return program
  const hint = 'give the executable out of the archive of this kind of machine'
  throw new AppError(
    'failed',
    `${file} (${result.name}) does not run as cambista ${release.version}: ${hint}`,
  )
}

type Change = {
  former: Program
  program: Program
  /** Undefined: nodes share the database. */
  data: { dataDir: string; copies: readonly string[]; bytes: number } | undefined
}

function readData(machine: Machine): Change['data'] {
  if (usesDatabase(machine)) return undefined
  const dataDir = readDataDir(machine, DATA_DIR)
  const place = join(machine.root, dataDir)
  if (!existsSync(place)) return { dataDir, copies: [], bytes: 0 }
  return { dataDir, ...runOwnerStep(machine, EXECUTABLE, { step: 'list', dataDir: place }) }
}

/** Returns the lines that describe the changes. `copyMs`: milliseconds that a copy of 100 MB takes. */
function announce(machine: Machine, { former, program, data }: Change, copyMs: number): string[] {
  const changes = machine.run(join(machine.root, NEXT), ['upgrade', '--changes']).text
  return [
    `cambista ${describe(former)} is upgraded to ${describe(program)}`,
    ...selectChanges(changes, former.version, program.version),
    announceMigration({ former, program, data }, copyMs),
  ]
}

function announceMigration({ former, program, data }: Change, copyMs: number): string {
  if (program.schema === former.schema) return `the database keeps its schema ${former.schema}`
  if (!data) return `schema ${former.schema} of the nodes' database becomes ${program.schema}`
  const seconds = Math.max(1, Math.round((data.bytes / 1e8) * (copyMs / 1000)))
  const migration = `the database is migrated from schema ${former.schema} to ${program.schema}`
  return `${migration}; before, its ${(data.bytes / 1e6).toFixed(1)} MB are copied, in about ${seconds} s`
}

/** @throws AppError `failed` unless the database that nodes share has the schema of the new program */
function requireSharedSchema(machine: Machine, { former, program }: Change, file: string): void {
  if (program.schema === former.schema) return
  const output = runOrFail(machine, join(machine.root, NEXT), 'database', 'upgrade', '--dry-run', '--json')
  const [document = ''] = /^\{.*?^\}$/ms.exec(output) ?? [] // messages of stderr follow
  const { from, to } = JSON.parse(document)
  if (from === to) {
    machine.print(`the nodes' database has schema ${to} already`)
    return
  }
  const need = `cambista ${program.version} needs schema ${to}`
  throw new AppError(
    'failed',
    `the nodes' database has schema ${from}, and ${need}: run ${file} database upgrade before`,
  )
}

/**
 * Links the former program, records the probation, and installs the new program by its `service install`.
 * @throws AppError `failed` when the new program was not installed; the former one goes on
 */
function beginProbation(machine: Machine, { former, program, data }: Change): void {
  const at = (path: string) => join(machine.root, path)
  replaceFile(at(PREVIOUS), (temporary) => linkSync(at(EXECUTABLE), temporary))
  addSettleStep(machine) // before the probation: without one it has no effect
  const { dataDir, copies = [] } = data ?? {}
  writeProbation(machine, { program, former, dataDir, copies, starts: 0, upgrader: OWN_PROCESS })
  const { text } = machine.run(at(NEXT), ['service', 'install'])
  const installed = readProgram(machine, EXECUTABLE)
  if (!installed || !isSameProgram(installed, program)) {
    decideProbation(machine.root, 'confirm')
    removeSettleStep(machine)
    throw new AppError(
      'failed',
      `cambista ${program.version} was not installed: ${text.replace(/^cambista: /, '')}`,
    )
  }
  machine.print(text)
}

/** Watches the new program until it is confirmed (true) or put back (false). @throws AppError `failed` for neither */
async function watchProbation(machine: Machine): Promise<boolean> {
  const files = [PROBATION_PATH, RETURN_PATH].map((path) => join(machine.root, path))
  const end = performance.now() + PROBATION_MS
  let isRestarted = false
  let writes = 0
  while (files.some((path) => existsSync(path))) {
    const { status, text } = checkHealth(machine)
    const isOnProbation = text.includes(ON_PROBATION)
    // A server that does not see the probation writes already, and must not be undone.
    if (status === 0 && existsSync(join(machine.root, PROBATION_PATH))) writes += isOnProbation ? 0 : 1
    if (status === 0 && (isOnProbation || writes > MOST_WRITING_LOOKS)) {
      machine.print(text)
      if (!decideProbation(machine.root, 'confirm')) continue
      await flush(dirname(join(machine.root, PROBATION_PATH)))
      removeSettleStep(machine)
      return true
    }
    const { text: state } = machine.run('systemctl', ['is-active', UNIT])
    const isLate = performance.now() > end
    if (!isRestarted && (isLate || /^(failed|inactive)$/.test(state))) {
      isRestarted = true // its start puts the former program back
      machine.run('systemctl', ['reset-failed', UNIT])
      machine.run('systemctl', ['restart', UNIT])
    }
    if (performance.now() > end + RETURN_MS) {
      throw new AppError(
        'failed',
        `the former program was not put back: sudo systemctl restart ${UNIT} does it`,
      )
    }
    await wait(LOOK_EVERY_MS)
  }
  return false
}

/** @throws AppError `failed`, always: when the former program answers again, or does not */
function reportReturn(machine: Machine, { former, program }: { former: Program; program: Program }): never {
  const what = `cambista ${program.version} did not start, or not become ready`
  const { status, text } = checkHealth(machine, ...READY_AGAIN)
  const end =
    status === 0
      ? `cambista ${former.version} is put back, and answers; nothing is lost`
      : `cambista ${former.version} is put back, but does not answer: ${text}`
  throw new AppError('failed', `${what}; ${end} (journalctl -u cambista says why)`)
}

function describe({ version, commit }: Program): string {
  return commit === null ? version : `${version} (${commit.slice(0, 12)})`
}
