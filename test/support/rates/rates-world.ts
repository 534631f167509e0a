// A cambista and the model of what it must answer, side by side: each request to the bank is kept in the model as
// the decisions say, each answer over HTTP is compared with the model's.
//
// What is answered and then cut off by a kill is in the store or not as a whole (decisions 2.6, 2.10). Where both are
// right the model goes on in two copies, and the next answers tell which of them it was.

import { cpSync } from 'node:fs'
import { Agent, get } from 'node:http'
import type { TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { IsoDate } from '../../../src/dates.ts'
import type { Answer, FetchRequest, Window } from '../../../src/providers/provider.ts'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { startTestApp, type TestApp } from '../app.ts'
import { fixedClock, type TestClock, temporaryDirectory } from '../temporary.ts'
import type { Random } from './random-bank.ts'
import { type Expected, expectedOf, type Notes, pathOf, type Question } from './rates-answers.ts'
import {
  beginRun,
  copyOfModel,
  createRatesModel,
  type Exchange,
  intervalsOf,
  keepAnswer,
  type RatesModel,
  textOfModel,
} from './rates-model.ts'
import { createSeededBank, type SeededBank, type SeededSession } from './seeded-bank.ts'

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
  /** What may be known; one, unless a run was cut off at a moment that leaves it open. */
  models: RatesModel[]
  /** What happened, to find out from why an answer was not right. */
  story: string[]
}

/** What happens when a request is about to be made. */
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
  return Object.assign(world, { app: await startOn(world, dataDir) })
}

/** Starts the program again on what is on disk. */
export async function restart(world: RatesWorld, dataDir = world.dataDir, between = async () => {}) {
  await world.app.app.close()
  world.dataDir = dataDir
  await between()
  world.app = await startOn(world, dataDir)
}

function startOn(world: Omit<RatesWorld, 'app'>, dataDir: string): Promise<TestApp> {
  const { t, clock, bank, backfillFrom } = world
  const token = () => (world.token ? 'test-token' : undefined)
  return startTestApp(t, { clock, dataDir, backfillFrom, token, providers: [bank.provider] })
}

/**
 * One run; `happening` says what happens at each request, `look` what is asked of the program meanwhile.
 * @throws Mismatch when an answer that was given meanwhile is not one that was right since the run began
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
  let killedInto: string | undefined
  let wrong: { error: unknown } | undefined

  bank.before = async (ask, session) => {
    const happening = plan.happening()
    ledger.ask(ask)
    if (happening === undefined) return
    story.push(`    at ${wordsOfAsk(ask)}: ${happening}`)
    if (happening === 'look') {
      // Thrown here it would be a failure of the run, and the program is good at living on after one.
      await compareAny(world, ledger.visible(), plan.look()).catch((error) => {
        wrong ??= { error }
      })
    }
    if (happening === 'midnight') ledger.midnight(passMidnight(clock))
    if (happening === 'refused token' && ledger.isFirstOfGroup()) session.supportsSingleSeries = false
    if (happening === 'kill') {
      killedInto = temporaryDirectory(world.t)
      copyAsKilled(world.dataDir, killedInto)
      ledger.cut('killed')
    }
    if (happening === 'stop' || happening === 'defect') ledger.cut('ended')
    if (happening === 'kill' || happening === 'stop') stop.abort()
    session.signal.throwIfAborted()
    if (happening === 'defect') throw new TypeError('surprise')
  }
  bank.after = (ask, session, outcome) => {
    story.push(
      `    ${wordsOfAsk(ask)}${session.supportsSingleSeries ? '' : ' (site)'}: ${wordsOfOutcome(outcome)}`,
    )
    ledger.ended(ask, session, outcome)
  }
  const [end] = await app.app.sync({ trigger: 'cli', range, signal: stop.signal })
  story.push(`    -> ${end?.run.status} ${end?.run.message ?? ''}`)
  bank.before = keepOut
  bank.after = undefined
  if (wrong) throw wrong.error
  ledger.close()
  if (killedInto !== undefined) await restart(world, killedInto)
}

/** Only runs that the test makes may ask the bank, so that it knows what is committed when it looks. */
async function keepOut(ask: FetchRequest, { signal }: SeededSession): Promise<void> {
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

/** What a process that is killed now leaves on disk: no lock, and nothing that is only in its memory. */
function copyAsKilled(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !/\.lock|-shm$/.test(path) })
}

/**
 * What of a run is kept when. Requests that are kept together are a group: both sides of a window of the dollar; a
 * window of a table and what is then asked of it again or for one series alone.
 */
function openLedger(world: RatesWorld) {
  let group: Asked[] = []
  /** What may have been visible to a reader since the run began. */
  const seen: RatesModel[] = world.models.map(copyOfModel)

  const keep = (asked: readonly Asked[]) =>
    asked.reduce((models, { readings }) => forked(models, readings), world.models.map(copyOfModel))
  const flush = () => {
    world.models = distinct(keep(group))
    seen.push(...world.models.map(copyOfModel))
    group = []
  }
  return {
    ask(ask: FetchRequest) {
      if (!belongsTo(group, ask)) flush()
      group.push({ ask, days: [world.clock.today()], readings: [], state: 'pending' })
    },
    isFirstOfGroup: () => group.length === 1,
    /** Whether the request is made before or after midnight is open. */
    midnight({ from, to }: Window) {
      const last = group.at(-1)
      if (last) last.days = [from, to]
    },
    ended(ask: FetchRequest, { supportsSingleSeries }: SeededSession, outcome: Answer | FetchFailure) {
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
    /** The states that a reader may meet now. */
    visible: () => [...seen, ...world.models, ...wholePrefixes(group).flatMap(keep)],
    /** What the run has answered until now is all there is. */
    cut(how: 'killed' | 'ended') {
      world.models = distinct((how === 'killed' ? wholePrefixes(group) : prefixes(group)).flatMap(keep))
      group = []
    },
    close: flush,
  }
}

/** A request of a group; more than one reading when it is open on which day its answer was fetched. */
type Asked = {
  ask: FetchRequest
  days: IsoDate[]
  readings: Exchange[]
  state: 'pending' | 'answered' | 'failed'
}

/** Whether a request goes with those before it. */
function belongsTo(group: readonly Asked[], { table, indicator, window }: FetchRequest): boolean {
  const first = group[0]?.ask
  if (first?.table !== table) return false
  const sameWindow = isDeepStrictEqual(first.window, window)
  if (table !== '1') return indicator !== undefined || sameWindow
  return sameWindow || (group.length === 1 && first.indicator !== indicator)
}

function prefixes(group: readonly Asked[]): Asked[][] {
  return Array.from({ length: group.length + 1 }, (_, count) => group.slice(0, count))
}

/** Both sides of one window of the dollar are kept at once, if neither fails. */
function wholePrefixes(group: readonly Asked[]): Asked[][] {
  const window = group[0]?.ask.window
  const isPair =
    group[0]?.ask.table === '1' && group.every(({ ask }) => isDeepStrictEqual(ask.window, window))
  const hasFailed = group.some(({ state }) => state === 'failed')
  return prefixes(group).filter((some) => {
    const sides = new Set(some.filter(({ state }) => state === 'answered').map(({ ask }) => ask.indicator))
    return !isPair || hasFailed || sides.size !== 1
  })
}

/** Each model with each reading of what was answered. */
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
 * Asks, and drops the models that would have answered otherwise.
 * @throws Mismatch when none is left
 */
export async function compare(world: RatesWorld, questions: readonly Question[]): Promise<void> {
  for (const question of questions) {
    const answer = await answerOf(world, question)
    const right = world.models.filter((model) =>
      isRight(expectedOf(model, question, world.clock.today()), answer),
    )
    if (right.length === 0) throw mismatchOf(world, world.models, { question, answer })
    world.models = right
  }
}

/** Asks, and wants each answer to be that of any of the models. */
async function compareAny(world: RatesWorld, models: readonly RatesModel[], questions: readonly Question[]) {
  for (const question of questions) {
    const answer = await answerOf(world, question)
    if (!models.some((model) => isRight(expectedOf(model, question, world.clock.today()), answer))) {
      throw mismatchOf(world, models, { question, answer })
    }
  }
}

/**
 * Asks as of an instant (decisions 2.22); one of the answers must be given.
 * @throws Mismatch
 */
export async function compareAsOf(
  world: RatesWorld,
  { path, asOf, expected }: { path: string; asOf: string; expected: readonly Expected[] },
): Promise<void> {
  const asked = `${path}&as_of=${asOf}`
  const { status, body, notes } = await answerTo(world, asked)
  const isTable = Array.isArray(body) || status !== 200
  const { as_of, ...rest } = body as { as_of?: string }
  const answer = { status, body: isTable ? body : rest, notes }
  const isMarked = isTable || as_of === new Date(asOf).toISOString()
  if (isMarked && expected.some((one) => isRight(one, answer))) return
  const must = [...new Set(expected.map((one) => JSON.stringify(one)))].join('\n       or  ')
  const was = JSON.stringify({ status, body, notes })
  throw new Mismatch(
    `GET ${asked}\n  must be  ${must}\n  and was  ${was}\n  the story:\n${world.story.join('\n')}`,
  )
}

/** An answer is not the one that was known; the message is the whole case. */
export class Mismatch extends Error {}

type Given = { status: number; body: unknown; notes: Notes }

// Not fetch: a thousand sequences are a quarter of a million requests, and this takes half of its time.
function answerOf(world: RatesWorld, question: Question): Promise<Given> {
  return answerTo(world, pathOf(question))
}

/** A path's answer. */
export function answerTo(world: RatesWorld, path: string): Promise<Given> {
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

function mismatchOf(
  world: RatesWorld,
  models: readonly RatesModel[],
  { question, answer }: { question: Question; answer: Given },
): Mismatch {
  const expected = [
    ...new Set(models.map((model) => JSON.stringify(expectedOf(model, question, world.clock.today())))),
  ]
  const known = models.at(-1)?.series.map((series) => {
    const covered = intervalsOf(series).map(({ from, to }) => `${from}..${to}`)
    return `    ${series.id} ${series.code} ${series.enabled ? '' : '(disabled) '}covered ${covered.join(' ')}`
  })
  return new Mismatch(
    [
      `GET ${pathOf(question)} (today is ${world.clock.today()})`,
      `  must be  ${expected.join('\n       or  ')}`,
      `  and was  ${JSON.stringify(answer)}`,
      '  as the model knows it:',
      ...(known ?? []),
      '  the story:',
      ...world.story.map((line) => `  ${line}`),
    ].join('\n'),
  )
}

function wordsOfAsk({ table, indicator, window }: FetchRequest): string {
  return `${indicator ?? `table ${table}`} ${window.from}..${window.to}`
}

/** By code: how many rows, of which days, and those that are not a value of any kind. */
function wordsOfOutcome(outcome: Answer | FetchFailure): string {
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
