// Returns to the program from before an upgrade, by a swap of the two. After a migration the copy of the database from
// before it is used too.

import { linkSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  countNewRows,
  findEarlierDatabase,
  type NewRows,
  removeLaterDatabases,
  useCopy,
} from '../../domain/operations/earlier-database.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Terminal } from '../command.ts'
import { canConfirm, isConfirmed } from '../confirm.ts'
import { type Machine, replaceFile, runOrFail } from '../host.ts'
import type { Program } from '../storage/probation.ts'
import { BACKUPS, readBackupDir, readDataDir, usesDatabase } from './backup.ts'
import { refuseOwnedByPackage } from './installations.ts'
import { DATA_DIR, EXECUTABLE, NEXT, PREVIOUS, UNIT } from './names.ts'
import { readProgram, requireInstalled, settleEarlier } from './upgrade.ts'

const NEWER = `${EXECUTABLE}.newer`

/**
 * Swaps program and former program. `losesData`: after a migration, returns to the copy of the database from before it.
 * The later database and all contents stay until `forgetLater`.
 * @throws AppError `failed`; the service goes on as it was
 */
export async function goBack(
  machine: Machine,
  terminal: Terminal,
  { losesData }: { losesData: boolean },
): Promise<void> {
  refuseOwnedByPackage(machine.root, 'upgrade')
  settleEarlier(machine)
  const current = requireInstalled(machine)
  const former = readProgram(machine, PREVIOUS)
  if (!former) throw new AppError('failed', `there is no former program: ${PREVIOUS} is missing`)
  if (former.schema !== current.schema && !usesDatabase(machine)) {
    if (!losesData) {
      throw new AppError(
        'failed',
        `cambista ${former.version} cannot read the database, whose schema is ${current.schema} since the upgrade: sudo cambista upgrade --back --lose-since returns to the copy from before, and names what that lacks`,
      )
    }
    if (!(await returnToCopy(machine, terminal, { former, current }))) {
      machine.print('nothing was changed')
      return
    }
  }
  swapPrograms(machine)
  machine.print(`cambista ${former.version} is back; ${PREVIOUS} is cambista ${current.version}`)
}

/** Removes the later databases that `goBack` has left, and allows contents to be removed. */
export function forgetLater(machine: Machine): void {
  const names = removeLaterDatabases(join(machine.root, readDataDir(machine, DATA_DIR)))
  for (const name of names) machine.print(`removed ${name}`)
  machine.print(
    names.length === 0
      ? 'nothing to do: there is no later database'
      : 'contents that no document needs are removed again',
  )
}

/** The former program starts with its own unit; a killed swap loses neither of the two. */
function swapPrograms(machine: Machine): void {
  const at = (path: string) => join(machine.root, path)
  replaceFile(at(NEWER), (temporary) => linkSync(at(EXECUTABLE), temporary))
  replaceFile(at(NEXT), (temporary) => linkSync(at(PREVIOUS), temporary))
  const { status, text } = machine.run(at(NEXT), ['service', 'install'])
  machine.print(text)
  rmSync(at(NEXT))
  renameSync(at(NEWER), at(PREVIOUS))
  if (status !== 0)
    throw new AppError('failed', `the former program does not start: sudo cambista upgrade --back`)
}

/** Returns false if the user does not confirm. */
async function returnToCopy(
  machine: Machine,
  terminal: Terminal,
  { former, current }: { former: Program; current: Program },
): Promise<boolean> {
  if (!canConfirm(terminal)) {
    throw new AppError('usage', '--lose-since is confirmed at a terminal: there is none')
  }
  const dataDir = join(machine.root, readDataDir(machine, DATA_DIR))
  const copy = findEarlierDatabase(dataDir, former.schema)
  if (copy === undefined)
    throw new AppError('failed', `there is no copy of schema ${former.schema} in ${dataDir}`)
  const backupDir = readBackupDir(machine) ?? BACKUPS
  const executable = join(machine.root, EXECUTABLE)
  runOrFail(machine, executable, 'backup', 'create', backupDir)
  runOrFail(machine, executable, 'backup', 'verify', backupDir)
  machine.print(`the later database and its documents are in a verified backup, ${backupDir}`)
  machine.print(describeNewRows(await countNewRows(dataDir, copy), copy))
  if (!(await isConfirmed(terminal, 'Go back to the copy?'))) return false
  runOrFail(machine, 'systemctl', 'stop', UNIT)
  const later = useCopy(dataDir, copy, current.schema)
  machine.print(`${later} is the later database: sudo cambista upgrade --forget removes it`)
  return true
}

function describeNewRows({ documents, claims, corrections, keys }: NewRows, copy: string): string {
  return `${copy} lacks ${documents} documents, ${claims} claims, ${corrections} corrections of rates and ${keys} keys and tokens`
}
