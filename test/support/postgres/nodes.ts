// Nodes as an operator runs them: processes of their own over one PostgreSQL and one folder of contents, which a test
// kills, stops, lets go on and starts again.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { todayIn } from '../../../src/dates.ts'
import { type Bank, startBank } from '../../../src/demo/bank.ts'
import type { Db } from '../../../src/store/tables.ts'
import { type Program, startProgram } from '../program.ts'
import { openDatabaseOf, temporaryDirectory } from '../temporary.ts'
import { type CommandEnd, runCommand, until } from '../terminal.ts'
import { postgresAddressOf } from './database.ts'

const BANK_TOKEN = 'test-token'
const START_MS = 300_000

export type Node = Program & { url: string }

export type Cluster = {
  /** Stands for the database in `openDatabaseOf` and `fillDatabase`. */
  dataDir: string
  db: Db
  bank: Bank
  /** What every node and command is started with. */
  env: Record<string, string>
  /** Starts one more node, and waits until it is ready; it has no scheduler unless `flags` are others. */
  start(...flags: string[]): Promise<Node>
  /** A command line in this process. @throws when it fails */
  command(...words: string[]): Promise<CommandEnd>
  /** The same in a process of its own. */
  program(...words: string[]): Program
}

/** A cluster without a node; `url`: of a database other than one of the shared server. */
export async function openCluster(t: TestContext, url?: string): Promise<Cluster> {
  const dataDir = temporaryDirectory(t)
  const bank = await startBank({ token: BANK_TOKEN, today: () => todayIn(() => new Date()) })
  t.after(() => bank.close())
  const env = {
    CAMBISTA_DATABASE: url ?? (await postgresAddressOf(dataDir, t)),
    CAMBISTA_BLOBS: join(dataDir, 'contents'),
    CAMBISTA_BLOBS_SHARED: '1',
    CAMBISTA_BCCR_URL: bank.url,
    CAMBISTA_BCCR_PACE: '0',
    CAMBISTA_BCCR_TOKEN: BANK_TOKEN,
    HOME: dataDir,
  }
  const db = openDatabaseOf(dataDir)
  t.after(() => db.destroy())
  const program = (...words: string[]) => startProgram(t, words, env)
  return {
    ...{ dataDir, db, bank, env, program },
    async start(...flags) {
      const node = program('serve', '--port', '0', ...(flags.length > 0 ? flags : ['--no-scheduler']))
      const [, url = ''] = await node.says(/listening url=(\S+)/, START_MS)
      await until(async () => (await fetch(`${url}/readyz`)).status === 200, START_MS)
      return { ...node, url }
    },
    async command(...words) {
      const end = await runCommand(words, env)
      assert.equal(end.code, 0, `${words.join(' ')}: ${end.err}`)
      return end
    },
  }
}

/** Ends a process at once, as a machine does that loses its power. */
export async function killed(program: Program): Promise<void> {
  program.child.kill('SIGKILL')
  await program.ended()
}
