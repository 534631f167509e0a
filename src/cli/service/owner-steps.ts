// Steps of an upgrade in the data directory, in processes of its owner: a link there leads root nowhere.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  countNewRows,
  findEarlierDatabase,
  listCopies,
  measureDatabase,
  putCopyBack,
  removeLaterDatabases,
  useCopy,
} from '../../domain/operations/earlier-database.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Machine } from '../host.ts'

const STEPS = {
  /** `bytes`: size of the database. */
  list: ({ dataDir }: { dataDir: string }) => ({
    copies: listCopies(dataDir),
    bytes: measureDatabase(dataDir),
  }),
  return({ dataDir, ...rest }: { dataDir: string; schema: number; copies: readonly string[] }) {
    putCopyBack(dataDir, rest)
    return null
  },
  /** Null: there is no copy of the schema. */
  async count({ dataDir, schema }: { dataDir: string; schema: number }) {
    const copy = findEarlierDatabase(dataDir, schema)
    return copy === undefined ? null : { copy, ...(await countNewRows(dataDir, copy)) }
  },
  /** Returns the path of the later database. */
  use: ({ dataDir, copy }: { dataDir: string; copy: string }) => useCopy(dataDir, copy),
  forget: ({ dataDir }: { dataDir: string }) => removeLaterDatabases(dataDir),
}

type StepName = keyof typeof STEPS
type StepFacts<Name extends StepName> = Parameters<(typeof STEPS)[Name]>[0]
/** A step by its name, and its facts. */
export type OwnerStep = { [Name in StepName]: { step: Name } & StepFacts<Name> }[StepName]

/**
 * Runs a step in a process of its own, of a program of the machine.
 * @throws AppError `failed` with the message of that process
 */
export function runOwnerStep<Name extends StepName>(
  machine: Machine,
  program: string,
  step: { step: Name } & StepFacts<Name>,
): Awaited<ReturnType<(typeof STEPS)[Name]>> {
  const { uid, gid } = statSync(step.dataDir)
  const words = ['upgrade', '--data', JSON.stringify(step)]
  const { status, text } = machine.run(join(machine.root, program), words, { uid, gid })
  if (status !== 0) throw new AppError('failed', text.replace(/^cambista: /, ''))
  return JSON.parse(text)
}

/** Does a step, in the process of the owner. @throws AppError `failed` */
export async function doOwnerStep({ step, ...facts }: OwnerStep): Promise<unknown> {
  return await STEPS[step](facts as never)
}
