// The past must never change: random histories of syncs, corrections, refinements, holes, switched series and
// restores. After each step, `as_of` answers for random instants are compared with a model and with earlier answers
// (decisions#as-of). To repeat a history with its story: CAMBISTA_SEED=17 node --test test/faults/as-of-model.test.ts.
// CAMBISTA_TORTURE=long has 200 and as many new ones.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createBackup } from '../../src/domain/operations/backup/backup.ts'
import { restoreBackup } from '../../src/domain/operations/backup/restore.ts'
import { openBackupSet } from '../../src/domain/operations/backup/set.ts'
import { raiseRevision } from '../../src/store/meta.ts'
import { takeInstant } from '../../src/store/rates/change-log.ts'
import { updateSeriesEnabled } from '../../src/store/rates/series.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { addDays, currentDay } from '../../src/values/dates.ts'
import { EUR, JPY, XDR } from '../support/rates/memory-bank.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import { type Expected, expectedAnswer, type Question, questionPath } from '../support/rates/rates-answers.ts'
import { copyOfModel, type RatesModel } from '../support/rates/rates-model.ts'
import {
  compare,
  compareAsOf,
  fetchPath,
  type Happening,
  Mismatch,
  openRatesWorld,
  type RatesWorld,
  restart,
  runSync,
} from '../support/rates/rates-world.ts'
import { FIRST_DAY } from '../support/rates/seeded-bank.ts'
import { SEED } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { scaled } from './scale.ts'

const FIXED = Array.from({ length: scaled({ short: 6, long: 200 }) }, (_, seed) => seed)
const FRESH = Array.from({ length: scaled({ short: 1, long: 200 }) }, (_, at) => SEED + at)

const STEPS = 7
const INSTANTS = 10
const CURRENCIES = ['USD', 'CRC', 'EUR', 'JPY', 'XDR']
const PAIRS = [
  ['USD', 'CRC'],
  ['EUR', 'USD'],
  ['USD', 'JPY'],
  ['XDR', 'USD'],
] as const
const PARITIES = [EUR, JPY, XDR]
const MINUTE = 60_000

/**
 * Possible models from the instant `at` of the newest commit on, and answers of the server at that time. From `begin` to
 * `at` the commits of a change follow one another by a millisecond.
 */
type State = {
  begin: number
  at: number
  models: RatesModel[]
  witnesses: { path: string; expected: Expected }[]
}
type Gap = { from: number; to: number }
type Past = { begins: number; states: State[]; gaps: Gap[]; backup: Backup | undefined }
type Backup = { at: number; path: string; models: RatesModel[]; states: State[]; gaps: Gap[] }

// Without simulated power cuts, a file system in memory saves disk time.
if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'

for (const seed of new Set([...FIXED, ...FRESH])) {
  test(`as_of repeats the answers of the past (seed ${seed})`, (t) => runHistory(t, seed))
}

async function runHistory(t: TestContext, seed: number): Promise<void> {
  const random = createRandom(seed)
  const today = addDays(FIRST_DAY, random.int(60, 150))
  const firstDay = addDays(today, -random.int(5, 60))
  const now = new Date(Date.parse(`${today}T06:00:00Z`) + random.int(0, 23 * 60) * MINUTE).toISOString()
  const world = await openRatesWorld(t, { random, now, backfillFrom: firstDay })
  const past: Past = { begins: world.clock.now.getTime(), states: [], gaps: [], backup: undefined }
  try {
    await recordState(world, past)
    for (let step = 0; step < STEPS; step += 1) {
      await changeWorld(world, past, step)
      await recordState(world, past)
      for (let count = 0; count < INSTANTS; count += 1) await compareInstant(world, past)
    }
  } catch (error) {
    if (error instanceof Mismatch) throw new Error(`seed ${seed}: ${error.message}`)
    throw new Error(`seed ${seed}:\n${world.story.join('\n')}`, { cause: error })
  }
}

/** Advances the clock; then syncs, switches a series, or makes or restores a backup. */
async function changeWorld(world: RatesWorld, past: Past, step: number): Promise<void> {
  const { random, clock, story } = world
  const minutes = random.chance(0.4) ? random.int(1, 24 * 60) : random.int(1, 20 * 24 * 60)
  clock.now = new Date(clock.now.getTime() + minutes * MINUTE + random.int(0, 59_999))
  const kind = step === 0 ? 0 : random.next()
  story.push(`${clock.now.toISOString()} (${clock.today()})`)
  if (kind < 0.66) await sync(world, step === 0)
  else if (kind < 0.76) await switchSeries(world)
  else if (kind < 0.88 || !past.backup) await backUp(world, past)
  else await restore(world, past, past.backup)
}

async function sync(world: RatesWorld, isHealthy: boolean): Promise<void> {
  const { random, bank, clock, story } = world
  if (random.chance(0.4)) world.token = !world.token
  bank.failing = isHealthy || random.chance(0.6) ? 0 : random.next() / 2
  bank.silent = isHealthy || random.chance(0.8) ? 0 : random.next() / 3
  bank.broken = !isHealthy && random.chance(0.25) ? random.item(['317', '318', '520', EUR, JPY]) : undefined
  for (const code of PARITIES) {
    if (!isHealthy && random.chance(0.2) && !bank.hidden.delete(code)) bank.hidden.add(code)
  }
  const to = addDays(clock.today(), 1 - (random.chance(0.4) ? 0 : random.int(0, 120)))
  const from = addDays(to, -random.int(0, 40))
  const range = !isHealthy && random.chance(0.4) ? { from, to } : undefined
  story.push(`  sync ${JSON.stringify(range ?? '')}, ${world.token ? 'token' : 'no token'}`)
  const isEventful = !isHealthy && random.chance(0.3)
  const happening = (): Happening =>
    isEventful && random.chance(0.2) ? random.item(['refused token', 'kill', 'stop', 'defect']) : undefined
  await runSync(world, range, { happening, look: () => [] })
}

async function switchSeries(world: RatesWorld): Promise<void> {
  const seriesLists = world.models.map(({ series }) => series)
  const id = world.random.int(1, Math.min(...seriesLists.map(({ length }) => length)))
  const enabled = !seriesLists[0]?.[id - 1]?.enabled
  world.story.push(`  series ${id} ${enabled ? 'enabled' : 'disabled'}`)
  await restart(world, world.dataDir, async () => {
    const db = openDatabase(world.dataDir)
    const at = await takeInstant(db, world.clock.now)
    await updateSeriesEnabled(db, id, enabled, at.getTime())
    await raiseRevision(db, at)
    await db.destroy()
  })
  for (const series of seriesLists) Object.assign(series[id - 1] ?? {}, { enabled })
}

async function backUp(world: RatesWorld, past: Past): Promise<void> {
  const setDir = join(temporaryDirectory(world.t), 'set')
  const set = await openBackupSet(setDir, world.dataDir)
  const { path } = await createBackup(set, { dataDir: world.dataDir, now: world.clock.now })
  set.close()
  world.story.push('  backup')
  past.backup = {
    ...{ at: world.clock.now.getTime(), path, models: world.models.map(copyOfModel) },
    ...{ states: [...past.states], gaps: [...past.gaps] },
  }
}

/** Restores a backup: later data are lost, and the time between is a gap. */
async function restore(world: RatesWorld, past: Past, backup: Backup): Promise<void> {
  const dataDir = join(temporaryDirectory(world.t), 'data')
  const { now } = world.clock
  const checking = { fault: (line: string) => world.story.push(line), inPieces: false }
  await restoreBackup(backup.path, { dataDir, owner: undefined, now }, checking)
  world.story.push(`  restored what was backed up at ${new Date(backup.at).toISOString()}`)
  world.models = backup.models.map(copyOfModel)
  past.states = [...backup.states]
  past.gaps = [...backup.gaps, { from: backup.at, to: now.getTime() }]
  await restart(world, dataDir)
}

/** Records the models and some answers of this moment. Histories of pairs have no model here. */
async function recordState(world: RatesWorld, past: Past): Promise<void> {
  const { random, clock } = world
  const days = { from: addDays(FIRST_DAY, -60), to: addDays(clock.today(), 3) }
  await compare(
    world,
    world.models[0]?.series.map(({ id }): Question => ({ kind: 'history', id, ...days })) ?? [],
  )
  const [base, quote] = randomPair(random)
  const every = random.item(['day', 'week', 'month'])
  const stat = random.item(['last', 'mean', 'low'])
  const paths = [
    `/api/v1/history?base=${base}&quote=${quote}&from=${FIRST_DAY}&every=${every}&stat=${stat}`,
    '/api/v1/rates/latest?base=USD&quote=CRC',
    '/api/v1/rates?exact=false',
  ]
  const witnesses: State['witnesses'] = []
  for (const path of paths) {
    const { status, body, notes } = await fetchPath(world, path)
    const detail = String((body as { detail?: unknown }).detail)
    const expected: Expected = status === 200 ? { status, body, notes } : { status: 404, details: [detail] }
    witnesses.push({ path, expected })
  }
  const newest = await fetchPath(world, '/api/v1/convert/statement?amount=1&from=USD&to=USD')
  const at = Date.parse((newest.body as { as_of: string }).as_of)
  past.states.push({ begin: clock.now.getTime(), at, models: world.models.map(copyOfModel), witnesses })
}

async function compareInstant(world: RatesWorld, past: Past): Promise<void> {
  const { random, clock } = world
  const now = Math.max(clock.now.getTime(), past.states.at(-1)?.at ?? 0)
  const at = Math.min(now, randomInstant(world, past))
  if (past.states.some((one) => one.begin <= at && at < one.at)) return undefined // amid a change
  const asOf = new Date(at).toISOString()
  const state = past.states.findLast((one) => one.at <= at)
  const question = randomQuestion(world, asOf)
  const gap = past.gaps.find(({ from, to }) => from <= at && at < to)
  if (at < past.begins || gap) {
    const detail = gap
      ? `what this store had from ${isoText(gap.from)} until it was restored at ${isoText(gap.to)} is lost`
      : `as_of is before the record of this store, which begins at ${isoText(past.begins)}`
    return compareAsOf(world, {
      ...{ path: questionPath(question), asOf },
      expected: [{ status: 404, details: [detail] }],
    })
  }
  const expected = state?.models.map((model) => expectedAnswer(model, question, dayOfInstant(asOf))) ?? []
  const path = questionPath(question)
  await compareAsOf(world, { path, asOf, expected })
  // Without `on`, the day of the instant applies.
  if ('on' in question && question.on === dayOfInstant(asOf)) {
    await compareAsOf(world, { path: path.replace(/([?&])on=[^&]*&?/, '$1'), asOf, expected })
  }
  if (state && (random.chance(0.5) || state.at === at)) {
    const witness = random.item(state.witnesses)
    const instant = Math.max(state.begin, state.at) // a change without a commit, such as a backup, is later
    const then = isoText(instant)
    const isLost = past.gaps.some(({ from, to }) => from <= instant && instant < to)
    if (!isLost) await compareAsOf(world, { path: witness.path, asOf: then, expected: [witness.expected] })
  }
}

/** An instant, mostly within a millisecond of a state or a gap. */
function randomInstant({ random, clock }: RatesWorld, { begins, states, gaps }: Past): number {
  const events = [
    ...states.flatMap(({ begin, at }) => [begin, at]),
    ...gaps.flatMap(({ from, to }) => [from, to]),
  ]
  if (random.chance(0.7)) return random.item(events) + random.item([0, 0, -1, 1])
  return begins - 60 * MINUTE + Math.floor(random.next() * (clock.now.getTime() - begins + 60 * MINUTE))
}

function randomQuestion(world: RatesWorld, asOf: string): Question {
  const { random } = world
  const today = dayOfInstant(asOf)
  const on = random.chance(0.4)
    ? today
    : random.chance(0.1)
      ? '2999-12-31'
      : addDays(today, random.int(-70, 3))
  const [base, quote] = random.item(PAIRS)
  const [from, to] = randomPair(random)
  const id = random.int(1, world.models[0]?.series.length ?? 1)
  const type = random.item(['venta', 'compra'] as const)
  const amount = random.item(['1', '0.01', '1234.5678'])
  return random.item([
    { kind: 'latest', base: 'USD', quote: 'CRC', on },
    { kind: 'latest', base, quote, on },
    { kind: 'rates', on, exact: random.chance(0.25) },
    { kind: 'history', id, from: addDays(on, -random.int(0, 60)), to: on },
    { kind: 'convert', amount, from, to, type, on, details: random.chance(0.5) },
  ] satisfies Question[])
}

function randomPair(random: RatesWorld['random']): [string, string] {
  const [one, other] = [random.item(CURRENCIES), random.item(CURRENCIES)]
  return one === other ? ['EUR', 'CRC'] : [one, other]
}

function dayOfInstant(asOf: string): string {
  return currentDay(() => new Date(asOf))
}

function isoText(instant: number): string {
  return new Date(instant).toISOString()
}
