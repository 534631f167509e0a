// Puts the former program and its database back, before a start of the unit. Each step may be repeated: a killed one is
// finished by the next start.

import { existsSync, linkSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError, errorCode } from '../../runtime/errors.ts'
import { flushNow } from '../../runtime/file-hash.ts'
import { type Machine, replaceFile, runOrFail, writeIfChanged } from '../host.ts'
import {
  decideProbation,
  isSameProgram,
  PROBATION_PATH,
  type Probation,
  RETURN_PATH,
  readProbation,
  writeProbation,
} from '../storage/probation.ts'
import { serviceUnit } from './install.ts'
import { runOwnerStep } from './owner-steps.ts'
import { isAlive, readProgram } from './programs.ts'
import { EXECUTABLE, PREVIOUS, UNIT, UNIT_FILE } from './service-names.ts'

// The last of the drop-ins, so that no other one resets it.
const DROP_IN = `/etc/systemd/system/${UNIT}.d/zz-probation.conf`
const DROP_IN_TEXT = `# While an upgrade is not confirmed (cambista upgrade): a second start puts the former program back.
[Service]
ExecStartPre=+${PREVIOUS} upgrade --settle
Restart=on-failure
RestartPreventExitStatus=
`

/** Makes each start of the unit call `settleUpgrade` first. */
export function addSettleStep(machine: Machine): void {
  writeIfChanged({ ...machine, print: () => {} }, DROP_IN, DROP_IN_TEXT)
  runOrFail(machine, 'systemctl', 'daemon-reload')
}

/** Removes what `addSettleStep` has added. Another process may do the same. */
export function removeSettleStep(machine: Machine): void {
  const file = join(machine.root, DROP_IN)
  if (!existsSync(file)) return
  rmSync(file, { force: true })
  try {
    rmdirSync(dirname(file))
  } catch (error) {
    if (!/^(ENOENT|ENOTEMPTY)$/.test(errorCode(error))) throw error // with other drop-ins it stays
    flushNow(dirname(file))
  }
  runOrFail(machine, 'systemctl', 'daemon-reload')
}

/**
 * Called before each start of the unit. The first one is that of the new program. A later one, or one without the
 * process of `upgrade`, puts the former program back.
 * @throws AppError `failed` after a return, so that systemd starts the unit again as it is then; also for a running
 *   service
 */
export function settleUpgrade(machine: Machine): void {
  const { root } = machine
  if (machine.run('systemctl', ['is-active', UNIT]).text === 'active') {
    throw new AppError('failed', `the service runs: sudo systemctl restart ${UNIT} settles the upgrade`)
  }
  const probation = readProbation(join(root, PROBATION_PATH))
  const installed = probation && readProgram(machine, EXECUTABLE)
  if (probation && (!installed || !isSameProgram(installed, probation.program))) {
    decideProbation(root, 'confirm') // the new program was never installed, or another one has replaced it
  } else if (probation?.starts === 0 && isAlive(probation.upgrader)) {
    writeProbation(machine, { ...probation, starts: 1 })
    return
  } else if (probation) decideProbation(root, 'return')
  const unfinished = readProbation(join(root, RETURN_PATH))
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

/** First the database: the former program in its place means that it is put back. */
function putBack(machine: Machine, { dataDir, former, program, copies }: Probation): void {
  const at = (path: string) => join(machine.root, path)
  if (dataDir !== undefined && program.schema !== former.schema && existsSync(at(dataDir))) {
    const step = { step: 'return', dataDir: at(dataDir), schema: former.schema, copies } as const
    runOwnerStep(machine, PREVIOUS, step)
  }
  if (existsSync(at(PREVIOUS))) {
    replaceFile(at(EXECUTABLE), (temporary) => linkSync(at(PREVIOUS), temporary))
  }
  const quiet: Machine = { ...machine, print: () => {} }
  if (existsSync(at(UNIT_FILE))) writeIfChanged(quiet, UNIT_FILE, serviceUnit(machine))
  runOrFail(machine, 'systemctl', 'daemon-reload')
  removeDurably(at(RETURN_PATH))
  removeSettleStep(machine) // after the probation: else nothing would finish a return that is killed here
  removeDurably(at(PREVIOUS)) // the installed program has the same bytes
}

function removeDurably(path: string): void {
  rmSync(path, { force: true })
  flushNow(dirname(path))
}
