// Programs of an installation: what an executable prints of itself, and the lock of those who exchange them.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, errorCode } from '../../runtime/errors.ts'
import type { Machine } from '../host.ts'
import type { Probation, Program } from '../storage/probation.ts'
import { EXECUTABLE, SETTINGS_DIR } from './service-names.ts'

const LOCK = join(SETTINGS_DIR, 'upgrade.lock')

export const OWN_PROCESS: Probation['upgrader'] = {
  pid: process.pid,
  startTime: processStart(process.pid) ?? '',
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

/** Returns the program of the service. @throws AppError `failed` without one */
export function requireInstalled(machine: Machine): Program {
  const program = readProgram(machine, EXECUTABLE)
  if (program) return program
  throw new AppError(
    'failed',
    `${EXECUTABLE} is no cambista with a service of version 0.2.0 or later: sudo ./cambista service install makes the service`,
  )
}

/**
 * Locks the programs against another `upgrade`. A lock of a dead process counts as free.
 * @throws AppError `failed` while another process has it
 */
export function lockPrograms(machine: Machine): Disposable {
  const path = join(machine.root, LOCK)
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify(OWN_PROCESS), { flag: 'wx', mode: 0o600 })
      return { [Symbol.dispose]: () => rmSync(path, { force: true }) }
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
    const holder = readLock(path)
    if (holder && isAlive(holder))
      throw new AppError('failed', `another upgrade is under way: wait for it (process ${holder.pid})`)
    rmSync(path, { force: true })
  }
}

function readLock(path: string): Probation['upgrader'] | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined // its process was killed while it wrote
  }
}

/** Compares the start too, since ids of processes are used again. */
export function isAlive({ pid, startTime }: Probation['upgrader']): boolean {
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
