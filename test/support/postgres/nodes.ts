// Nodes as an operator runs them: processes over one PostgreSQL and one folder of blobs. A test kills, stops, resumes
// and restarts them.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Bank, startBank } from '../../../src/demo/bank.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { currentDay } from '../../../src/values/dates.ts'
import { type Program, startProgram } from '../program.ts'
import { openTestDatabase, temporaryDirectory } from '../temporary.ts'
import { type CommandEnd, runCommand, until } from '../terminal.ts'
import { postgresAddress } from './database.ts'

const BANK_TOKEN = 'test-token'
const START_MS = 300_000

export type Node = Program & { url: string }

export type Cluster = {
  /** Names the database in `openTestDatabase` and `fillDatabase`. */
  dataDir: string
  db: WriteDb
  bank: Bank
  /** Environment of every node and command. */
  env: Record<string, string>
  /** Starts one more node and waits until it is ready. By default `flags` turn its scheduler off. */
  start(...flags: string[]): Promise<Node>
  /** Runs a command line in this process. @throws if it fails */
  command(...words: string[]): Promise<CommandEnd>
  /** Runs a command line in a process of its own. */
  program(...words: string[]): Program
}

/** A cluster without nodes; `url` names a database outside the shared server. */
export async function openCluster(t: TestContext, url?: string): Promise<Cluster> {
  const dataDir = temporaryDirectory(t)
  const bank = await startBank({ token: BANK_TOKEN, today: () => currentDay(() => new Date()) })
  t.after(() => bank.close())
  const env = {
    CAMBISTA_DATABASE: url ?? (await postgresAddress(dataDir)),
    CAMBISTA_BLOBS: join(dataDir, 'contents'),
    CAMBISTA_BLOBS_SHARED: '1',
    CAMBISTA_BCCR_URL: bank.url,
    CAMBISTA_BCCR_PACE: '0',
    CAMBISTA_BCCR_TOKEN: BANK_TOKEN,
    HOME: dataDir,
  }
  const db = openTestDatabase(dataDir)
  t.after(() => db.destroy())
  const program = (...words: string[]) => startProgram(t, words, env)
  return {
    ...{ dataDir, db, bank, env, program },
    async start(...flags) {
      const node = program('serve', '--port', '0', ...(flags.length > 0 ? flags : ['--no-scheduler']))
      const [, url = ''] = await node.waitForOutput(/listening url=(\S+)/, START_MS)
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

/** Kills a process at once, as a power failure does. */
export async function killProgram(program: Program): Promise<void> {
  program.child.kill('SIGKILL')
  await program.waitForExit()
}
