// Puts the former program and its database back, before a start of the unit. Each step may be repeated: a killed one is
// finished by the next start.

import { existsSync, linkSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { putCopyBack } from '../../domain/operations/earlier-database.ts'
import { AppError } from '../../runtime/errors.ts'
import { type Machine, replaceFile, runOrFail, writeIfChanged } from '../host.ts'
import {
  decideProbation,
  PROBATION_FILE,
  type Probation,
  RETURN_RECORD,
  readProbation,
  writeProbation,
} from '../storage/probation.ts'
import { serviceUnit } from './install.ts'
import { EXECUTABLE, PREVIOUS, UNIT, UNIT_FILE } from './names.ts'

const DROP_IN = `/etc/systemd/system/${UNIT}.d/probation.conf`
const DROP_IN_TEXT = `# While an upgrade is not confirmed (cambista upgrade): a second start puts the former program back.
[Service]
ExecStartPre=+${PREVIOUS} upgrade --settle
RestartPreventExitStatus=
`

/** Makes each start of the unit call `settleUpgrade` first. */
export function addSettleStep(machine: Machine): void {
  writeIfChanged({ ...machine, print: () => {} }, DROP_IN, DROP_IN_TEXT)
  runOrFail(machine, 'systemctl', 'daemon-reload')
}

/** Removes what `addSettleStep` has added. */
export function removeSettleStep(machine: Machine): void {
  const file = join(machine.root, DROP_IN)
  if (!existsSync(file)) return
  rmSync(file)
  const folder = dirname(file)
  if (readdirSync(folder).length === 0) rmdirSync(folder)
  runOrFail(machine, 'systemctl', 'daemon-reload')
}

/**
 * Called before each start of the unit. The first one is that of the new program. A later one, or one without the
 * process of `upgrade`, puts the former program back.
 * @throws AppError `failed` after a return, so that systemd starts the unit again as it is then
 */
export function settleUpgrade(machine: Machine): void {
  const { root } = machine
  const record = readProbation(join(root, PROBATION_FILE))
  if (record?.starts === 0 && isRunning(record.upgrader)) {
    writeProbation(machine, { ...record, starts: 1 })
    return
  }
  if (record) decideProbation(root, 'return')
  const unfinished = readProbation(join(root, RETURN_RECORD))
  if (!unfinished) {
    removeSettleStep(machine)
    return
  }
  putBack(machine, unfinished)
  const { program, former } = unfinished
  throw new AppError(
    'failed',
    `the upgrade to cambista ${program.version} was not confirmed: cambista ${former.version} is put back, and the unit starts again`,
  )
}

/** The caller knows that no server runs. */
function putBack(machine: Machine, { dataDir, startedAt }: Probation): void {
  const at = (path: string) => join(machine.root, path)
  if (dataDir !== undefined) putCopyBack(at(dataDir), startedAt)
  if (existsSync(at(PREVIOUS))) {
    replaceFile(at(EXECUTABLE), (temporary) => linkSync(at(PREVIOUS), temporary))
  }
  const quiet: Machine = { ...machine, print: () => {} }
  if (existsSync(at(UNIT_FILE))) writeIfChanged(quiet, UNIT_FILE, serviceUnit(machine))
  runOrFail(machine, 'systemctl', 'daemon-reload')
  rmSync(at(RETURN_RECORD), { force: true })
  removeSettleStep(machine) // after the record: else nothing would finish a return that is killed here
  rmSync(at(PREVIOUS), { force: true }) // the installed program has the same bytes
}

/** Compares the start too, since ids of processes are used again. */
function isRunning({ pid, startTime }: Probation['upgrader']): boolean {
  return processStart(pid) === startTime
}

/** Returns the start of a process in ticks since the boot; undefined: there is none. */
export function processStart(pid: number): string | undefined {
  try {
    // The name, in parentheses, may have spaces. The start is the 20th field after it (proc(5)).
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19]
  } catch {
    return undefined
  }
}
