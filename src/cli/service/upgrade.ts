// Upgrades the service: verifies the new program, installs it on probation, and confirms it once it answers. Whatever ends
// this process, the next start of the unit settles the upgrade (put-back.ts).

import { chmodSync, copyFileSync, existsSync, linkSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  checkFile,
  compareVersions,
  readRelease,
  SUMS,
  selectChanges,
} from '../../domain/operations/release.ts'
import type { PublicKey } from '../../formats/minisign.ts'
import { AppError } from '../../runtime/errors.ts'
import { flush } from '../../runtime/file-hash.ts'
import { type Machine, replaceFile } from '../host.ts'
import {
  decideProbation,
  PROBATION_FILE,
  PROBATION_MS,
  type Program,
  RETURN_RECORD,
  readProbation,
  writeProbation,
} from '../storage/probation.ts'
import { readDataDir, usesDatabase } from './backup.ts'
import { refuseOwnedByPackage } from './installations.ts'
import { DATA_DIR, EXECUTABLE, NEXT, PREVIOUS, UNIT } from './names.ts'
import { addSettleStep, processStart, removeSettleStep } from './put-back.ts'

const LOOK_EVERY_MS = 500
const RETURN_MS = 60_000 // for the start that puts the former program back
const READY_AGAIN = ['healthcheck', '--wait', '60']

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
  settleEarlier(machine)
  const former = requireInstalled(machine)
  const copyMs = copyProgram(at(NEXT), upgrade.file)
  try {
    const program = await verifyCopy(machine, upgrade, stop)
    const order = compareVersions(program.version, former.version)
    if (order < 0) {
      const back = `${former.version} is installed, which is newer: sudo cambista upgrade --back goes back`
      throw new AppError('failed', `${upgrade.file} is cambista ${program.version}; ${back}`)
    }
    if (order === 0 && program.commit === former.commit) {
      machine.print(`nothing to do: cambista ${describe(program)} is installed`)
      return
    }
    for (const line of announce(machine, { former, program, copyMs })) machine.print(line)
    const wasFresh = machine.run(at(EXECUTABLE), ['healthcheck', '--fresh']).status === 0
    stop.throwIfAborted()
    await beginProbation(machine, { former, program })
    const isConfirmed = await watchProbation(machine)
    if (!isConfirmed) await reportReturn(machine, { former, program })
    machine.print(`cambista ${program.version} is confirmed, and writes`)
    const isFresh = machine.run(at(EXECUTABLE), ['healthcheck', '--fresh']).status === 0
    if (wasFresh && !isFresh) machine.print('the dollar was fresh before, and is not now: cambista doctor')
    machine.print(`${PREVIOUS} is the former program: sudo cambista upgrade --back goes back to it`)
  } finally {
    rmSync(at(NEXT), { force: true })
  }
}

/** Returns the program of the service. @throws AppError `failed` without one */
export function requireInstalled(machine: Machine): Program {
  const program = readProgram(machine, EXECUTABLE)
  if (program) return program
  const instead = 'sudo ./cambista service install makes the service'
  throw new AppError(
    'failed',
    `${EXECUTABLE} is no cambista with a service of version 0.2.0 or later: ${instead}`,
  )
}

/** Returns what a program prints of itself; undefined: it is missing, of another machine, or older than 0.2.0. */
export function readProgram(machine: Machine, path: string): Program | undefined {
  const { status, text } = machine.run(join(machine.root, path), ['--version', '--json'])
  if (status !== 0) return undefined
  try {
    const { version, commit, schema } = JSON.parse(text)
    return { version, commit, schema }
  } catch {
    return undefined
  }
}

/**
 * Settles an upgrade whose process was killed: a restart of the unit puts the former program back.
 * @throws AppError `failed` while the process of another upgrade runs, or when the former program is not put back
 */
export function settleEarlier(machine: Machine): void {
  const files = [PROBATION_FILE, RETURN_RECORD].map((path) => join(machine.root, path))
  const record = files.map(readProbation).find((one) => one !== undefined)
  if (!record) return
  const { pid, startTime } = record.upgrader
  const what = `the upgrade to cambista ${record.program.version}`
  if (processStart(pid) === startTime) {
    throw new AppError('failed', `${what} is not confirmed yet: wait for it (process ${pid})`)
  }
  machine.print(`${what} was broken off: cambista ${record.former.version} is put back first`)
  addSettleStep(machine)
  machine.run('systemctl', ['restart', UNIT])
  const { status, text } = machine.run(join(machine.root, EXECUTABLE), READY_AGAIN)
  const isThere = files.some((path) => existsSync(path))
  if (isThere || status !== 0) throw new AppError('failed', `${what} cannot be undone: ${text}`)
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
  const folder = dirname(resolve(file))
  const places = [join(folder, SUMS), join(dirname(folder), SUMS)]
  const release = readRelease(sums ?? places.find((path) => existsSync(path)) ?? join(folder, SUMS), key)
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

/** Returns the lines that describe the changes. */
function announce(
  machine: Machine,
  { former, program, copyMs }: { former: Program; program: Program; copyMs: number },
): string[] {
  const changes = machine.run(join(machine.root, NEXT), ['upgrade', '--changes']).text
  return [
    `cambista ${describe(former)} is upgraded to ${describe(program)}`,
    ...selectChanges(changes, former.version, program.version),
    ...announceMigration(machine, { former, program, copyMs }),
  ]
}

function announceMigration(
  machine: Machine,
  { former, program, copyMs }: { former: Program; program: Program; copyMs: number },
): string[] {
  if (program.schema === former.schema) return [`the database keeps its schema ${former.schema}`]
  if (usesDatabase(machine)) {
    return [`the nodes' database must have schema ${program.schema} before: cambista database upgrade`]
  }
  const file = join(machine.root, readDataDir(machine, DATA_DIR), 'cambista.db')
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  const seconds = Math.max(1, Math.round((size / 1e8) * (copyMs / 1000)))
  const migration = `the database is migrated from schema ${former.schema} to ${program.schema}`
  return [`${migration}; before, its ${(size / 1e6).toFixed(1)} MB are copied, in about ${seconds} s`]
}

/** Links the former program, records the probation, and installs the new program by its `service install`. */
async function beginProbation(
  machine: Machine,
  { former, program }: { former: Program; program: Program },
): Promise<void> {
  const at = (path: string) => join(machine.root, path)
  replaceFile(at(PREVIOUS), (temporary) => linkSync(at(EXECUTABLE), temporary))
  writeProbation(machine, {
    ...{ program, former, startedAt: new Date().toISOString(), starts: 0 },
    dataDir: usesDatabase(machine) ? undefined : readDataDir(machine, DATA_DIR),
    upgrader: { pid: process.pid, startTime: processStart(process.pid) ?? '' },
  })
  addSettleStep(machine)
  const { text } = machine.run(at(NEXT), ['service', 'install'])
  machine.print(text)
}

/** Watches the new program until it is confirmed (true) or put back (false). */
async function watchProbation(machine: Machine): Promise<boolean> {
  const at = (path: string) => join(machine.root, path)
  const end = performance.now() + PROBATION_MS
  let isRestarted = false
  while (existsSync(at(PROBATION_FILE))) {
    const { status, text } = machine.run(at(EXECUTABLE), ['healthcheck'])
    if (status === 0 && text.includes('on probation')) {
      machine.print(text)
      if (!decideProbation(machine.root, 'confirm')) break
      await flush(dirname(at(PROBATION_FILE)))
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
        `the former program was not put back: sudo ${PREVIOUS} upgrade --settle does it`,
      )
    }
    await wait(LOOK_EVERY_MS)
  }
  return false
}

/** @throws AppError `failed`, always: when the former program answers again, or does not */
async function reportReturn(
  machine: Machine,
  { former, program }: { former: Program; program: Program },
): Promise<never> {
  const what = `cambista ${program.version} did not start, or not become ready`
  const { status, text } = machine.run(join(machine.root, EXECUTABLE), READY_AGAIN)
  const end =
    status === 0
      ? `cambista ${former.version} is put back, and answers; nothing is lost`
      : `cambista ${former.version} is put back, but does not answer: ${text}`
  throw new AppError('failed', `${what}; ${end} (journalctl -u cambista says why)`)
}

function describe({ version, commit }: Program): string {
  return commit === null ? version : `${version} (${commit.slice(0, 12)})`
}
