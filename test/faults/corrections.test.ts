// A bank that corrects values at random, refined values, imports, and syncs that are killed at random requests. Hooks
// report each correction once, and nothing else. A receiver that stores ids does nothing twice by a redelivery.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Bank, startBank } from '../../src/demo/bank.ts'
import { inventedValue } from '../../src/demo/invented-rates.ts'
import { selectRevisions } from '../../src/store/rates/change-log.ts'
import { selectSeries } from '../../src/store/rates/series.ts'
import { selectRuns } from '../../src/store/rates/sync-runs.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { addDays, currentDay, type IsoDate } from '../../src/values/dates.ts'
import { runJson } from '../support/company.ts'
import { type Receiver, startReceiver } from '../support/hooks/receiver.ts'
import { startProgram } from '../support/program.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { runCommand, until } from '../support/terminal.ts'
import { figure, PROGRAM, scaled } from './scale.ts'

const ROUNDS = scaled({ short: 4, long: 400 })
const MOST_ROUNDS = ROUNDS + 40 // four rounds may have no kill by chance
const DAYS = 40
const CODES = ['317', '318', '333', '325']
const TOKEN = 'test-token'
const KILLED_SHARE = 0.5
const LAST_MOMENTS_MS = 150 // between the last answer of the bank and the end of the process
/** Relative change of a correction, beyond the rounding of the bank's website. */
const CORRECTION = 0.01

type Correction = { id: number; series_id: number; rate_date: IsoDate }
type Event = { run_id: number; count: number; corrections: Correction[] }
type World = {
  t: TestContext
  random: Random
  dataDir: string
  bank: Bank
  /** Corrected values of the bank by code and day. */
  values: Map<string, number>
  receiver: Receiver
  totals: { corrections: number; kills: number; imports: number }
}

const today = () => currentDay(() => new Date())

test(`\`rates.corrected\` reports each correction of a bank once over ${ROUNDS} syncs and their kills`, async (t) => {
  const random = createRandom(SEED)
  figure(t, 'seed', SEED)
  const values = new Map<string, number>()
  const bank = await startBank({ token: TOKEN, today, value: publishValue })
  t.after(() => bank.close())
  function publishValue(code: string, day: IsoDate): string | undefined {
    return values.get(`${code} ${day}`)?.toFixed(5)
  }
  const receiver = await startReceiver(t)
  receiver.answer = (response) => {
    if (random.chance(0.2)) response.destroy()
    else response.writeHead(random.chance(0.1) ? 500 : 204).end()
  }
  const dataDir = temporaryDirectory(t)
  const world: World = {
    t,
    random,
    dataDir,
    bank,
    values,
    receiver,
    totals: { corrections: 0, kills: 0, imports: 0 },
  }
  await sync(world, { mayBeKilled: false })
  await runJson(dataDir, 'hook', 'create', '--url', receiver.url, '--event', 'rates.corrected')
  const { totals } = world
  const isComplete = () => totals.corrections > 0 && totals.kills > 0
  for (let round = 0; round < ROUNDS || (!isComplete() && round < MOST_ROUNDS); round += 1) {
    correctValues(world)
    if (random.chance(0.15)) await importOther(world)
    await sync(world, { mayBeKilled: true })
    if (random.chance(0.1)) await deliver(world)
  }
  await sync(world, { mayBeKilled: false })
  receiver.answer = (response) => response.writeHead(204).end()
  await deliver(world)
  const before = receiver.received.length
  await runJson(dataDir, 'hook', 'redeliver', '--since', '24h')
  await deliver(world)
  assert.ok(receiver.received.length > before, 'messages arrive again')
  await judge(world)
})

/** Changes values of some days by more than a rounding. */
function correctValues({ random, values, totals }: World): void {
  for (let change = random.int(0, 4); change > 0; change -= 1) {
    const [code, day] = [random.item(CODES), addDays(today(), -random.int(0, DAYS - 1))]
    const value = values.get(`${code} ${day}`) ?? Number(inventedValue(code, day) ?? 0)
    if (value === 0) continue
    values.set(`${code} ${day}`, value * (1 + (random.chance(0.5) ? 1 : 2) * CORRECTION))
    totals.corrections += 1
  }
}

/**
 * Runs one sync, with the bank's token or by its website, whose values are rounded. A kill falls on a random request,
 * or soon after the last one.
 */
async function sync(world: World, { mayBeKilled }: { mayBeKilled: boolean }): Promise<void> {
  const { t, random, dataDir, bank, totals } = world
  const range = ['--from', addDays(today(), -DAYS), '--to', today()]
  const flags = ['--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0', ...range]
  const env: Record<string, string> = !mayBeKilled || random.chance(0.5) ? { CAMBISTA_BCCR_TOKEN: TOKEN } : {}
  const program = startProgram(t, ['sync', ...flags], env, PROGRAM)
  const kill = () => program.child.kill('SIGKILL')
  let [requests, timer]: [number, NodeJS.Timeout | undefined] = [0, undefined]
  const fatal = mayBeKilled && random.chance(KILLED_SHARE) ? random.int(1, 8) : undefined
  bank.faults = () => {
    requests += 1
    clearTimeout(timer)
    if (fatal !== undefined && requests >= fatal) kill()
    else if (fatal !== undefined) timer = setTimeout(kill, random.int(0, LAST_MOMENTS_MS))
    return undefined
  }
  const end = await program.waitForExit()
  clearTimeout(timer)
  if (end === 'SIGKILL') totals.kills += 1
  else assert.equal(end, 0, program.printed.out + program.printed.err)
}

/** Imports an export whose values of one series differ. */
async function importOther({ t, random, dataDir, totals }: World): Promise<void> {
  const file = join(temporaryDirectory(t), 'other.csv')
  const dataOption = ['--data-dir', dataDir]
  assert.equal((await runCommand(['export', file, ...dataOption])).code, 0)
  const row = new RegExp(`^(bccr,\\d+,${random.item(CODES)},\\S+?,\\w+,[\\d-]+),([\\d.]+),\\d*,`, 'gm')
  const raise = (value: string) => Number((Number(value) * 1.05).toFixed(4))
  const [lines = '', end = ''] = readFileSync(file, 'utf8').split('# end,')
  const text = lines.replace(row, (_, day, value) => `${day},${raise(value)},,`)
  const [count] = end.split(',')
  writeFileSync(file, `${text}# end,${count},${createHash('sha256').update(text).digest('hex')}\n`)
  const { code, err } = await runCommand(['import', file, '--replace', ...dataOption])
  assert.equal(code, 0, err)
  totals.imports += 1
}

/** Runs a server until its queue is empty. */
async function deliver({ t, dataDir }: World): Promise<void> {
  const flags = ['--data-dir', dataDir, '--port', '0', '--no-scheduler', '--min-free', '0']
  const server = startProgram(t, ['serve', ...flags], {}, PROGRAM)
  await server.waitForOutput(/listening url=/)
  await until(async () => {
    const [hook] = await runJson<{ waiting: number }[]>(dataDir, 'hook', 'list')
    if (hook?.waiting === 0) return true
    await runCommand(['hook', 'test', '1', '--data-dir', dataDir]) // failed messages become due now instead of in a minute
    await wait(20)
    return false
  })
  server.child.kill('SIGTERM')
  assert.equal(await server.waitForExit(), 0, server.printed.err.slice(-1000))
}

/** Compares the events with the replaced values in the database. */
async function judge({ t, dataDir, receiver, totals }: World): Promise<void> {
  const db = openDatabase(dataDir)
  const [revisions, runs] = [await selectRevisions(db, {}), await selectRuns(db, { limit: 100_000 })]
  const series = (await selectSeries(db)).filter(({ external_code }) => CODES.includes(external_code ?? ''))
  await db.destroy()
  const changedSeries = new Set(series.map(({ id }) => id))
  const importRuns = new Set(runs.filter(({ trigger }) => trigger === 'import').map(({ id }) => id))
  const hasBankRun = ({ run_id }: { run_id: number | null }) => run_id !== null && !importRuns.has(run_id)
  const isChange = ({ old_value, new_value }: { old_value: string; new_value: string | null }) =>
    Math.abs(Number(new_value) / Number(old_value) - 1) > CORRECTION / 2
  const expected = revisions.filter(
    (one) => changedSeries.has(one.series_id) && hasBankRun(one) && isChange(one),
  )
  const messages = receiver.received.filter(({ body }) => body.type === 'rates.corrected')
  const events = new Map(messages.map(({ id, body }) => [id, body.data as Event]))
  const reports = [...events.values()].flatMap(({ corrections }) => corrections)
  const byId = (one: Correction, other: Correction) => one.id - other.id
  assert.deepEqual(
    reports.toSorted(byId),
    expected.map(({ id, series_id, rate_date }) => ({ id, series_id, rate_date })).toSorted(byId),
  )
  const runById = new Map(revisions.map(({ id, run_id }) => [id, run_id]))
  const lateEvents = [...events.values()].filter(({ run_id, corrections }) =>
    corrections.some(({ id }) => runById.get(id) !== run_id),
  )
  for (const { count, corrections } of events.values()) assert.equal(count, corrections.length)
  assert.equal(new Set([...events.values()].map(({ run_id }) => run_id)).size, events.size, 'once a run')
  figure(t, 'kills, imports', `${totals.kills}, ${totals.imports}`)
  figure(t, 'corrections, events, of killed runs', `${reports.length}, ${events.size}, ${lateEvents.length}`)
  figure(t, 'other revisions', revisions.length - expected.length)
  figure(t, 'messages, with those that arrived again', messages.length)
  assert.ok(reports.length > 0 && totals.kills > 0, 'the bank corrected values, and syncs were killed')
}
