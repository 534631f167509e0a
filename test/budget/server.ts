// The server of the budget: a cambista in a process of its own, with rates since 2018 and a company. Clocks are fixed
// and no timer is due, so equal requests do equal work. measure.ts runs it: node server.ts calls|work

import type { TestContext } from 'node:test'
import type { TestAppOptions } from '../support/app.ts'
import type { Counts } from './measure.ts'

/** Facts that a client needs. */
export type ServerFacts = { url: string; key: string }
type Counter = { start(): void; read(): Counts }

const FIRST_DAY = '2018-01-01'
const NEVER_MS = 2 ** 31 - 1

performance.now = () => 0 // the driver of SQLite yields after 2 ms
const { setInterval: repeat } = globalThis
globalThis.setInterval = ((task: () => void) => repeat(task, NEVER_MS)) as typeof setInterval

/** Counters come first, as they replace functions that the program imports. */
async function createCounter(mode: string | undefined): Promise<(dataDir: string) => Counter> {
  if (mode === 'calls') return (await import('./count-calls.ts')).countCalls
  return (await import('./count-work.ts')).countWork()
}

const makeCounter = await createCounter(process.argv[2])
const { startTestApp } = await import('../support/app.ts')
const { fillDatabase } = await import('../support/directory.ts')
const lasting: Pick<TestContext, 'after'> = { after: () => undefined }
const start = (options: TestAppOptions) => startTestApp(lasting as TestContext, options)
const { dataDir, ...former } = await start({ backfillFrom: FIRST_DAY })
await former.sync()
await fillDatabase(dataDir)
await former.app.close()
await former.bank.close()
const app = await start({
  dataDir,
  backfillFrom: FIRST_DAY,
  repeatPoll: () => () => undefined,
  mailReadMs: NEVER_MS,
  listen: { compat: { open: 'any', serveRounded: false } },
})
const counter = makeCounter(dataDir)
process.on('message', (order: 'start' | 'read') => {
  if (order === 'start') counter.start()
  process.send?.(order === 'start' ? {} : counter.read())
})
const facts: ServerFacts = { url: app.app.url, key: app.key }
process.send?.(facts)
