// Steps of an upgrade in the data directory, in processes of its owner: a link there leads root nowhere.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  countNewRows,
  findEarlierDatabase,
  listCopies,
  measureDatabase,
  type NewRows,
  putCopyBack,
  removeLaterDatabases,
  useCopy,
} from '../../domain/operations/earlier-database.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Machine } from '../host.ts'

/** Each returns its result of `OwnerResults`. */
export type OwnerStep =
  | { step: 'list'; dataDir: string }
  | { step: 'return'; dataDir: string; schema: number; copies: readonly string[] }
  | { step: 'count'; dataDir: string; schema: number }
  | { step: 'use'; dataDir: string; copy: string }
  | { step: 'forget'; dataDir: string }

export type OwnerResults = {
  /** `bytes`: size of the database. */
  list: { copies: string[]; bytes: number }
  return: null
  /** Null: there is no copy of the schema. */
  count: (NewRows & { copy: string }) | null
  /** Path of the later database. */
  use: string
  forget: string[]
}

/**
 * Runs a step in a process of its own, of a program of the machine.
 * @throws AppError `failed` with the message of that process
 */
export function runOwnerStep<Step extends OwnerStep>(
  machine: Machine,
  program: string,
  step: Step,
): OwnerResults[Step['step']] {
  const { uid, gid } = statSync(step.dataDir)
  const words = ['upgrade', '--data', JSON.stringify(step)]
  const { status, text } = machine.run(join(machine.root, program), words, { uid, gid })
  if (status !== 0) throw new AppError('failed', text.replace(/^cambista: /, ''))
  return JSON.parse(text)
}

/** Does a step, in the process of the owner. @throws AppError `failed` */
export async function doOwnerStep(step: OwnerStep): Promise<OwnerResults[OwnerStep['step']]> {
  const { dataDir } = step
  switch (step.step) {
    case 'list':
      return { copies: listCopies(dataDir), bytes: measureDatabase(dataDir) }
    case 'return':
      putCopyBack(dataDir, step)
      return null
    case 'count': {
      const copy = findEarlierDatabase(dataDir, step.schema)
      return copy === undefined ? null : { copy, ...(await countNewRows(dataDir, copy)) }
    }
    case 'use':
      return useCopy(dataDir, step.copy)
    case 'forget':
      return removeLaterDatabases(dataDir)
  }
}
