// Returns to the program from before an upgrade, by a swap of the two. After a migration the copy of the database from
// before it is used too.

import { linkSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { NewRows } from '../../domain/operations/earlier-database.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Terminal } from '../command.ts'
import { canConfirm, isConfirmed } from '../confirm.ts'
import { type Machine, replaceFile, runOrFail } from '../host.ts'
import { isSameProgram, type Program } from '../storage/probation.ts'
import { BACKUPS, readBackupDir, readDataDir, usesDatabase } from './backup.ts'
import { refuseOwnedByPackage } from './installations.ts'
import { runOwnerStep } from './owner-steps.ts'
import { lockPrograms, readProgram, requireInstalled } from './programs.ts'
import { DATA_DIR, EXECUTABLE, NEXT, PREVIOUS, UNIT } from './service-names.ts'
import { settleEarlier } from './upgrade.ts'

const NEWER = `${EXECUTABLE}.newer`

/**
 * Swaps program and former program. `losesData`: after a migration, returns to the copy of the database from before it.
 * The later database and all blobs stay until `forgetLater`.
 * @throws AppError `failed`
 */
export async function goBack(
  machine: Machine,
  terminal: Terminal,
  { losesData }: { losesData: boolean },
): Promise<void> {
  refuseOwnedByPackage(machine.root, 'upgrade')
  requireInstalled(machine)
  using _lock = lockPrograms(machine)
  settleEarlier(machine)
  const installed = requireInstalled(machine) // another one after a return
  const former = readProgram(machine, PREVIOUS)
  if (!former) throw new AppError('failed', `there is no former program: ${PREVIOUS} is missing`)
  const killedSwap = isSameProgram(installed, former) ? readProgram(machine, NEWER) : undefined
  const current = killedSwap ?? installed
  const needsCopy = !killedSwap && former.schema < current.schema && !usesDatabase(machine)
  if (needsCopy) {
    if (!losesData) {
      throw new AppError(
        'failed',
        `cambista ${former.version} cannot read the database, whose schema is ${current.schema} since the upgrade: sudo cambista upgrade --back --lose-since returns to the copy from before, and names what that lacks`,
      )
    }
    if (!(await returnToCopy(machine, terminal, former))) {
      machine.print('nothing was changed')
      return
    }
  }
  swapPrograms(machine, former, { isRepeated: killedSwap !== undefined, usesCopy: needsCopy })
  machine.print(`cambista ${former.version} is back; ${PREVIOUS} is cambista ${current.version}`)
}

/**
 * Removes the later databases that `goBack` has left, once the user confirms, and allows blobs to be removed.
 * @throws AppError `usage` without a terminal
 */
export async function forgetLater(machine: Machine, terminal: Terminal): Promise<void> {
  if (!canConfirm(terminal)) throw new AppError('usage', '--forget is confirmed at a terminal: there is none')
  if (
    !(await isConfirmed(terminal, 'Remove the later database, and the contents that it alone names?', {
      wholeWord: true,
    }))
  ) {
    machine.print('nothing was changed')
    return
  }
  const dataDir = join(machine.root, readDataDir(machine, DATA_DIR))
  const names = runOwnerStep(machine, EXECUTABLE, { step: 'forget', dataDir })
  for (const name of names) machine.print(`removed ${name}`)
  machine.print(
    names.length === 0
      ? 'there is no later database'
      : 'contents that no document needs are removed in the next days',
  )
}

/**
 * The former program starts with its own unit. `isRepeated`: finishes a killed swap, whose program is installed but may
 * not run yet. `usesCopy`: the service is stopped, over a database that only the former program reads.
 * @throws AppError `failed`
 */
function swapPrograms(
  machine: Machine,
  former: Program,
  { isRepeated, usesCopy }: { isRepeated: boolean; usesCopy: boolean },
): void {
  const at = (path: string) => join(machine.root, path)
  if (!isRepeated) replaceFile(at(NEWER), (temporary) => linkSync(at(EXECUTABLE), temporary))
  replaceFile(at(NEXT), (temporary) => linkSync(at(PREVIOUS), temporary))
  let { status, text } = machine.run(at(NEXT), ['service', 'install'])
  const installed = readProgram(machine, EXECUTABLE)
  rmSync(at(NEXT))
  if (!installed || !isSameProgram(installed, former)) {
    rmSync(at(NEWER))
    const next = usesCopy
      ? `; the service is stopped, and its database is the copy: sudo ${PREVIOUS} service install ends the return`
      : ''
    throw new AppError('failed', `the programs were not exchanged: ${text.replace(/^cambista: /, '')}${next}`)
  }
  machine.print(text)
  if (isRepeated) {
    machine.run('systemctl', ['daemon-reload'])
    status = machine.run('systemctl', ['restart', UNIT]).status
  }
  renameSync(at(NEWER), at(PREVIOUS))
  if (status !== 0) throw new AppError('failed', 'the program was exchanged, but does not start')
}

/** Returns false if the user does not confirm. @throws AppError `failed`; the service runs again */
async function returnToCopy(machine: Machine, terminal: Terminal, former: Program): Promise<boolean> {
  if (!canConfirm(terminal)) {
    throw new AppError('usage', '--lose-since is confirmed at a terminal: there is none')
  }
  const dataDir = join(machine.root, readDataDir(machine, DATA_DIR))
  const rows = runOwnerStep(machine, EXECUTABLE, { step: 'count', dataDir, schema: former.schema })
  if (rows === null) throw new AppError('failed', `there is no copy of schema ${former.schema} in ${dataDir}`)
  backUp(machine)
  for (const line of describeNewRows(rows)) machine.print(line)
  if (!(await isConfirmed(terminal, 'Go back to the copy?', { wholeWord: true }))) return false
  runOrFail(machine, 'systemctl', 'stop', UNIT)
  try {
    backUp(machine) // with what was written until the stop
    const later = runOwnerStep(machine, EXECUTABLE, { step: 'use', dataDir, copy: rows.copy })
    machine.print(`${later} is the later database: sudo cambista upgrade --forget removes it`)
  } catch (error) {
    machine.run('systemctl', ['start', UNIT])
    throw error
  }
  return true
}

/** Makes a backup by the installed program, and verifies it. @throws AppError `failed` */
function backUp(machine: Machine): void {
  const folder = readBackupDir(machine) ?? BACKUPS
  const executable = join(machine.root, EXECUTABLE)
  runOrFail(machine, executable, 'backup', 'create', folder)
  runOrFail(machine, executable, 'backup', 'verify', folder)
  machine.print(`${folder} has a verified backup of the later database`)
}

function describeNewRows(rows: NewRows & { copy: string }): string[] {
  const { documents, claims, corrections, keys } = rows
  return [
    `${rows.copy} lacks ${documents} documents, ${claims} claims, ${corrections} corrections of rates and ${keys} keys and tokens`,
    'keys and tokens that were revoked since are valid again, and finished documents are open again',
    'mailboxes are paused: cambista mailbox resume ends that',
  ]
}
