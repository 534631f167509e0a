// A cambista beside the model of its expected answers. The model receives each request to the bank as the decisions
// define. Each answer over HTTP is compared with the model's.
//
// A kill after an answer leaves it stored as a whole or not at all (decisions#day and #sync-runs). Both are
// right, so the model continues in two copies; later answers select one.

import { cpSync } from 'node:fs'
import { Agent, get } from 'node:http'
import type { TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { FetchRequest, SourceAnswer, Window } from '../../../src/providers/provider.ts'
import { FetchFailure } from '../../../src/providers/provider.ts'
import type { IsoDate } from '../../../src/values/dates.ts'
import { startTestApp, type TestApp } from '../app.ts'
import { fixedClock, type TestClock, temporaryDirectory } from '../temporary.ts'
import type { Random } from './random-bank.ts'
import { type Expected, expectedAnswer, type Notes, type Question, questionPath } from './rates-answers.ts'
import {
  beginRun,
  copyOfModel,
  coveredIntervals,
  createRatesModel,
  type Exchange,
  keepAnswer,
  type RatesModel,
  textOfModel,
} from './rates-model.ts'
import { createSeededBank, type SeededBank, type SeededConnection } from './seeded-bank.ts'

const agent = new Agent({ keepAlive: true })

export type RatesWorld = {
  t: TestContext
  random: Random
  clock: TestClock
  bank: SeededBank
  app: TestApp
  dataDir: string
  backfillFrom: IsoDate
  token: boolean
  /** Possible models: one, unless the moment of a kill leaves it open. */
  models: RatesModel[]
  /** Events so far, to find the cause of a wrong answer. */
  story: string[]
}

/** Event before a request to the bank. */
export type Happening = 'midnight' | 'refused token' | 'kill' | 'stop' | 'defect' | 'look' | undefined

export async function openRatesWorld(
  t: TestContext,
  { random, now, backfillFrom }: { random: Random; now: string; backfillFrom: IsoDate },
): Promise<RatesWorld> {
  const clock = fixedClock(now)
  const bank = createSeededBank(clock, random)
  const dataDir = temporaryDirectory(t)
  const world = {
    ...{ t, random, clock, bank, dataDir, backfillFrom, token: true, story: [] },
    models: [createRatesModel(bank.catalogue)],
  }
  bank.before = keepOut
  return Object.assign(world, { app: await startFromDisk(world, dataDir) })
}

/** Restarts the program on the data on disk. */
export async function restart(world: RatesWorld, dataDir = world.dataDir, between = async () => {}) {
  await world.app.app.close()
  world.dataDir = dataDir
  await between()
  world.app = await startFromDisk(world, dataDir)
}

function startFromDisk(world: Omit<RatesWorld, 'app'>, dataDir: string): Promise<TestApp> {
  const { t, clock, bank, backfillFrom } = world
  const token = () => (world.token ? 'test-token' : undefined)
  return startTestApp(t, { clock, dataDir, backfillFrom, token, providers: [bank.provider] })
}

/**
 * Runs one sync; `happening` chooses an event for each request, `look` sends requests to the program in between.
 * @throws Mismatch if an answer during the run was right at no moment since its start
 */
export async function runSync(
  world: RatesWorld,
  range: Window | undefined,
  plan: { happening(): Happening; look(): Question[] },
): Promise<void> {
  const { app, bank, clock, story } = world
  const stop = new AbortController()
  for (const model of world.models) beginRun(model)
  const ledger = openLedger(world)
  let copyDir: string | undefined
  let wrong: { error: unknown } | undefined

  bank.before = async (ask, connection) => {
    const happening = plan.happening()
    ledger.ask(ask)
    if (happening === undefined) return
    story.push(`    at ${wordsOfAsk(ask)}: ${happening}`)
    if (happening === 'look') {
      // An error thrown here would be a failure of the run, which the program survives.
      await compareAny(world, ledger.visible(), plan.look()).catch((error) => {
        wrong ??= { error }
      })
    }
    if (happening === 'midnight') ledger.midnight(passMidnight(clock))
    if (happening === 'refused token' && ledger.isFirstOfGroup()) connection.supportsSingleSeries = false
    if (happening === 'kill') {
      copyDir = temporaryDirectory(world.t)
      copyAsKilled(world.dataDir, copyDir)
      ledger.cut('killed')
    }
    if (happening === 'stop' || happening === 'defect') ledger.cut('ended')
    if (happening === 'kill' || happening === 'stop') stop.abort()
    connection.signal.throwIfAborted()
    if (happening === 'defect') throw new TypeError('surprise')
  }
  bank.after = (ask, connection, outcome) => {
    story.push(
      `    ${wordsOfAsk(ask)}${connection.supportsSingleSeries ? '' : ' (site)'}: ${wordsOfOutcome(outcome)}`,
    )
    ledger.ended(ask, connection, outcome)
  }
  const [end] = await app.app.sync({ trigger: 'cli', range, signal: stop.signal })
  story.push(`    -> ${end?.run.status} ${end?.run.message ?? ''}`)
  bank.before = keepOut
  bank.after = undefined
  if (wrong) throw wrong.error
  ledger.close()
  if (copyDir !== undefined) await restart(world, copyDir)
}

/** Rejects requests to the bank outside of the test's own runs, so that the test knows what is committed. */
async function keepOut(ask: FetchRequest, { signal }: SeededConnection): Promise<void> {
  signal.throwIfAborted()
  throw new FetchFailure(`${wordsOfAsk(ask)}: not now`)
}

function passMidnight(clock: TestClock): Window {
  const from = clock.today()
  const next = new Date(`${from}T06:00:00Z`)
  next.setUTCDate(next.getUTCDate() + 1)
  clock.now = next
  return { from, to: clock.today() }
}

/** Copies the files that a kill at this moment leaves: without locks and shared memory. */
function copyAsKilled(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !/\.lock|-shm$/.test(path) })
}

/**
 * Order in which a run commits. Requests of one commit are a group: both sides of a window of the dollar; or a window
 * of a table, with later requests for it or one of its series.
 */
function openLedger(world: RatesWorld) {
  let group: GroupRequest[] = []
  /** Models that a reader may have seen since the run began. */
  const visible: RatesModel[] = world.models.map(copyOfModel)

  const keep = (asked: readonly GroupRequest[]) =>
    asked.reduce((models, { readings }) => forked(models, readings), world.models.map(copyOfModel))
  const flush = () => {
    world.models = distinct(keep(group))
    visible.push(...world.models.map(copyOfModel))
    group = []
  }
  return {
    ask(ask: FetchRequest) {
      if (!isSameGroup(group, ask)) flush()
      group.push({ ask, days: [world.clock.today()], readings: [], state: 'pending' })
    },
    isFirstOfGroup: () => group.length === 1,
    /** The request is made before or after midnight; both days are possible. */
    midnight({ from, to }: Window) {
      const last = group.at(-1)
      if (last) last.days = [from, to]
    },
    ended(
      ask: FetchRequest,
      { supportsSingleSeries }: SeededConnection,
      outcome: SourceAnswer | FetchFailure,
    ) {
      const last = group.at(-1)
      if (!last) return
      last.state = outcome instanceof FetchFailure ? 'failed' : 'answered'
      if (outcome instanceof FetchFailure) return
      last.readings = last.days.map((fetchedOn) => ({
        ask,
        supportsSingleSeries,
        fetchedOn,
        answer: outcome,
      }))
    },
    /** Models that a reader may see now. */
    visible: () => [...visible, ...world.models, ...wholePrefixes(group).flatMap(keep)],
    /** Ends the run with the answers so far. */
    cut(how: 'killed' | 'ended') {
      world.models = distinct((how === 'killed' ? wholePrefixes(group) : prefixes(group)).flatMap(keep))
      group = []
    },
    close: flush,
  }
}

/** A request of a group; it has several readings if the day of its answer is open. */
type GroupRequest = {
  ask: FetchRequest
  days: IsoDate[]
  readings: Exchange[]
  state: 'pending' | 'answered' | 'failed'
}

/** True if a request is committed together with those before it. */
function isSameGroup(group: readonly GroupRequest[], { table, indicator, window }: FetchRequest): boolean {
  const first = group[0]?.ask
  if (first?.table !== table) return false
  const sameWindow = isDeepStrictEqual(first.window, window)
  if (table !== '1') return indicator !== undefined || sameWindow
  return sameWindow || (group.length === 1 && first.indicator !== indicator)
}

function prefixes(group: readonly GroupRequest[]): GroupRequest[][] {
  return Array.from({ length: group.length + 1 }, (_, count) => group.slice(0, count))
}

/** Both sides of one window of the dollar are committed together, if neither fails. */
function wholePrefixes(group: readonly GroupRequest[]): GroupRequest[][] {
  const window = group[0]?.ask.window
  const isPair =
    group[0]?.ask.table === '1' && group.every(({ ask }) => isDeepStrictEqual(ask.window, window))
  const hasFailed = group.some(({ state }) => state === 'failed')
  return prefixes(group).filter((some) => {
    const sides = new Set(some.filter(({ state }) => state === 'answered').map(({ ask }) => ask.indicator))
    return !isPair || hasFailed || sides.size !== 1
  })
}

/** Combines each model with each reading of an answer. */
function forked(models: RatesModel[], readings: readonly Exchange[]): RatesModel[] {
  if (readings.length === 0) return models
  const results = readings.flatMap((exchange) =>
    models.map((model) => {
      const copy = copyOfModel(model)
      keepAnswer(copy, exchange)
      return copy
    }),
  )
  return readings.length > 1 ? distinct(results) : results
}

function distinct(models: readonly RatesModel[]): RatesModel[] {
  return [...new Map(models.map((model) => [textOfModel(model), model])).values()]
}

/**
 * Sends a request, and drops the models with another answer.
 * @throws Mismatch if none is left
 */
export async function compare(world: RatesWorld, questions: readonly Question[]): Promise<void> {
  for (const question of questions) {
    const answer = await fetchQuestion(world, question)
    const right = world.models.filter((model) =>
      isRight(expectedAnswer(model, question, world.clock.today()), answer),
    )
    if (right.length === 0) throw createMismatch(world, world.models, { question, answer })
    world.models = right
  }
}

/** Sends a request, and expects the answer of any of the models. */
async function compareAny(world: RatesWorld, models: readonly RatesModel[], questions: readonly Question[]) {
  for (const question of questions) {
    const answer = await fetchQuestion(world, question)
    if (!models.some((model) => isRight(expectedAnswer(model, question, world.clock.today()), answer))) {
      throw createMismatch(world, models, { question, answer })
    }
  }
}

/**
 * Sends a request as of an instant (decisions#as-of), and expects one of the answers.
 * @throws Mismatch
 */
export async function compareAsOf(
  world: RatesWorld,
  { path, asOf, expected }: { path: string; asOf: string; expected: readonly Expected[] },
): Promise<void> {
  const asOfPath = `${path}&as_of=${asOf}`
  const { status, body, notes } = await fetchPath(world, asOfPath)
  const isTable = Array.isArray(body) || status !== 200
  const { as_of, ...rest } = body as { as_of?: string }
  const answer = { status, body: isTable ? body : rest, notes }
  const isMarked = isTable || as_of === new Date(asOf).toISOString()
  if (isMarked && expected.some((one) => isRight(one, answer))) return
  const must = [...new Set(expected.map((one) => JSON.stringify(one)))].join('\n       or  ')
  const was = JSON.stringify({ status, body, notes })
  throw new Mismatch(
    `GET ${asOfPath}\n  must be  ${must}\n  and was  ${was}\n  the story:\n${world.story.join('\n')}`,
  )
}

/** A wrong answer; the message is the whole case. */
export class Mismatch extends Error {}

type Given = { status: number; body: unknown; notes: Notes }

// Uses node:http, not fetch: 1000 sequences send 250,000 requests, and this takes half of the time.
function fetchQuestion(world: RatesWorld, question: Question): Promise<Given> {
  return fetchPath(world, questionPath(question))
}

/** Answer of a path. */
export function fetchPath(world: RatesWorld, path: string): Promise<Given> {
  const { promise, resolve, reject } = Promise.withResolvers<Given>()
  const { app, key } = world.app
  const request = get(app.url + path, { agent, headers: { 'x-api-key': key } }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const { 'x-left-out': leftOut, 'x-future': future } = response.headers
      const notes: Notes = {
        ...(leftOut !== undefined && { 'x-left-out': String(leftOut) }),
        ...(future !== undefined && { 'x-future': String(future) }),
      }
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(text), notes })
    })
  })
  request.on('error', reject)
  return promise
}

function isRight(expected: Expected, { status, body, notes }: Given): boolean {
  if (status !== expected.status) return false
  if (expected.status === 200)
    return isDeepStrictEqual(body, expected.body) && isDeepStrictEqual(notes, expected.notes ?? {})
  const { detail } = body as { detail: unknown }
  return expected.details?.includes(String(detail)) ?? typeof detail === 'string'
}

function createMismatch(
  world: RatesWorld,
  models: readonly RatesModel[],
  { question, answer }: { question: Question; answer: Given },
): Mismatch {
  const expected = [
    ...new Set(models.map((model) => JSON.stringify(expectedAnswer(model, question, world.clock.today())))),
  ]
  const knownSeries = models.at(-1)?.series.map((series) => {
    const covered = coveredIntervals(series).map(({ from, to }) => `${from}..${to}`)
    return `    ${series.id} ${series.code} ${series.enabled ? '' : '(disabled) '}covered ${covered.join(' ')}`
  })
  return new Mismatch(
    [
      `GET ${questionPath(question)} (today is ${world.clock.today()})`,
      `  must be  ${expected.join('\n       or  ')}`,
      `  and was  ${JSON.stringify(answer)}`,
      '  as the model knows it:',
      ...(knownSeries ?? []),
      '  the story:',
      ...world.story.map((line) => `  ${line}`),
    ].join('\n'),
  )
}

function wordsOfAsk({ table, indicator, window }: FetchRequest): string {
  return `${indicator ?? `table ${table}`} ${window.from}..${window.to}`
}

/** By code: number of rows, their days, and values that are invalid. */
function wordsOfOutcome(outcome: SourceAnswer | FetchFailure): string {
  if (outcome instanceof FetchFailure) return `FAILED ${outcome.message}`
  const { listed, observations } = outcome
  const codes = listed.map(({ code }) => {
    const rows = observations.filter((row) => row.code === code)
    const odd = rows.filter(({ value }) => !/^\d+(\.\d+)?$/.test(value) || Number(value) === 0)
    const span = rows.length === 0 ? '' : ` ${rows[0]?.day}..${rows.at(-1)?.day}`
    const spoilt = odd.map(({ day, value }) => ` ${day}=${value}`).join('')
    return `${code}: ${rows.length} rows${span}${spoilt === '' ? '' : ` REJECTED${spoilt}`}`
  })
  return codes.length === 0 ? 'lists nothing' : codes.join(', ')
}
