// Record of an upgrade that is not confirmed yet: /etc/cambista/probation.json. Its new program serves on probation and
// only reads. `upgrade` confirms it by removing the file. The next start of the unit renames the file instead, and puts
// the former program back. The first of the two decides.

import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readBuild, VERSION } from '../../runtime/assets.ts'
import { AppError, errorCode } from '../../runtime/errors.ts'
import { flush } from '../../runtime/file-hash.ts'
import { type Machine, replaceFile } from '../host.ts'
import { SETTINGS_FILE } from '../parse/settings.ts'

export type Probation = {
  /** The new program. */
  program: Program
  /** The program before the upgrade. */
  former: Program
  /** Undefined: nodes share the database, whose schema is not put back. */
  dataDir?: string | undefined
  /** Copies of the database that are older than the upgrade. */
  copies: readonly string[]
  /** Starts of the unit since the upgrade. */
  starts: number
  /** The process of `upgrade`: its id, and its start in ticks of the kernel. */
  upgrader: { pid: number; startTime: string }
}

export type Program = { version: string; commit: string | null; schema: number }

const FILE = 'probation.json'
/** Name of the file while the former program is put back. */
const RETURN_FILE = 'probation.back.json'
export const PROBATION_PATH = join(dirname(SETTINGS_FILE), FILE)
export const RETURN_PATH = join(dirname(SETTINGS_FILE), RETURN_FILE)
/** Longest probation. Then the server ends, and its next start puts the former program back. */
export const PROBATION_MS = 5 * 60_000
const POLL_MS = 250

/** Reads a probation; undefined: there is none, or this user may not read it. */
export function readProbation(file: string): Probation | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (/^(ENOENT|ENOTDIR|EACCES)$/.test(errorCode(error))) return undefined
    throw error
  }
}

/** Writes the probation, for root and the service. */
export function writeProbation({ root }: Pick<Machine, 'root'>, probation: Probation): void {
  const target = join(root, PROBATION_PATH)
  const { gid } = statSync(dirname(target))
  replaceFile(target, (temporary) => {
    writeFileSync(temporary, `${JSON.stringify(probation, null, 2)}\n`, { flag: 'wx', mode: 0o600 })
    chownSync(temporary, process.getuid?.() ?? 0, gid)
    chmodSync(temporary, 0o640)
  })
}

/** Confirms an upgrade, or begins the return of the former program. Returns false if it was decided before. */
export function decideProbation(root: string, decision: 'confirm' | 'return'): boolean {
  const file = join(root, PROBATION_PATH)
  const target = join(root, RETURN_PATH)
  try {
    if (decision === 'confirm') rmSync(file)
    else renameSync(file, target)
    return true
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    return false
  }
}

/**
 * Returns the file of this program's probation, wherever its data are. `settingsFile`: settings of the service, beside
 * which the file is.
 */
export function findProbation(settingsFile: string | undefined): string | undefined {
  if (settingsFile === undefined) return undefined
  const file = join(dirname(settingsFile), FILE)
  const probation = readProbation(file)
  return probation && isSameProgram(probation.program, OWN) ? file : undefined
}

/** Returns true once the upgrade is confirmed; false after PROBATION_MS, after a return, or when stopped. */
export async function awaitDecision(file: string, stop: AbortSignal): Promise<boolean> {
  const end = performance.now() + PROBATION_MS
  while (lstatSync(file, { throwIfNoEntry: false })) {
    if (performance.now() > end || stop.aborted) return false
    await wait(POLL_MS)
  }
  if (existsSync(join(dirname(file), RETURN_FILE))) return false
  await flush(dirname(file)) // after a power cut it must not be there again, for documents are accepted from now on
  return true
}

/** @throws AppError `failed` for a command that would change data while an upgrade may be undone */
export function refuseOnProbation(settingsFile: string | undefined): void {
  if (settingsFile === undefined) return
  const files = [FILE, RETURN_FILE].map((name) => join(dirname(settingsFile), name))
  const probation = files.map(readProbation).find((one) => one !== undefined)
  if (!probation) return
  const { version } = probation.program
  throw new AppError(
    'failed',
    `the upgrade to cambista ${version} is not confirmed yet, and nothing may be written: try again in a moment`,
  )
}

/** Returns true for the same version of the same commit. */
export function isSameProgram(one: OwnProgram, other: OwnProgram): boolean {
  return one.version === other.version && one.commit === other.commit
}

type OwnProgram = Pick<Program, 'version' | 'commit'>

const OWN: OwnProgram = { version: VERSION, commit: readBuild()?.commit ?? null }
