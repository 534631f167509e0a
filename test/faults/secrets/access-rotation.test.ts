// Who is let in while keys and tokens are made, rotated, revoked and expire: random sequences of commands beside a
// server, and after each every secret that there ever was is asked about and compared with a model (decisions 1.6).

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { ALLOWED } from '../../../src/domain/secrets.ts'
import { fixedClock, startTestApp, type TestApp } from '../../support/app.ts'
import { CREATE, fillDirectory } from '../../support/directory.ts'
import { type Random, randomOf } from '../../support/rates/random-bank.ts'
import {
  dayAt,
  endOf,
  formerEnds,
  type Holder,
  holderOf,
  isLetIn,
  type Kind,
  mayCreate,
  mayRotate,
  rotated,
  type Secret,
  type SecretsModel,
} from '../../support/secrets-model.ts'
import { runCommand } from '../../support/terminal.ts'
import { figure, LONG, SEED, scaled } from '../scale.ts'

/** The same each time, and in the long version new ones; or only the one that is asked for. */
const ALONE = process.env.CAMBISTA_SEED !== undefined && !LONG
const FIXED = ALONE ? [] : [5, 8] // between them they meet every case that the model knows
const FRESH = Array.from({ length: ALONE ? 1 : scaled({ short: 0, long: 100 }) }, (_, at) => SEED + at)
const STEPS = 40

const START = Date.parse('2026-03-24T12:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const OVERLAPS = { 0: 0, '1s': 1000, '90m': 90 * MINUTE, '24h': 24 * HOUR, '3d': 72 * HOUR }
const NAMES = ['erp', 'hoja de cálculo']

// No power is cut here: where there is a file system in memory, the time of a disk is saved.
if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'

for (const seed of new Set([...FIXED, ...FRESH])) {
  test(`of keys and tokens each is let in exactly while it is good (seed ${seed})`, (t) => live(t, seed))
}

type World = SecretsModel & {
  random: Random
  app: TestApp
  story: string[]
  asked: { in: number; out: number }
  /** Refused before: to ask again takes a look at the database, of which there are few a second. */
  over: Set<Secret>
}

async function live(t: TestContext, seed: number): Promise<void> {
  t.mock.timers.enable({ apis: ['Date'], now: START })
  const clock = fixedClock()
  const app = await startTestApp(t, { clock })
  await fillDirectory(app)
  const world: World = {
    ...{ holders: [], secrets: [], random: randomOf(seed), app, story: [] },
    ...{ asked: { in: 0, out: 0 }, over: new Set() },
  }
  try {
    for (let step = 0; step < STEPS; step++) {
      if (world.random.chance(0.05)) await restart(t, world)
      pass(t, world)
      await askAll(world)
      await change(world)
      await askAll(world)
      if (world.random.chance(0.3)) await checkLists(world)
    }
    world.over.clear()
    await askAll(world)
  } catch (error) {
    throw new Error(`seed ${seed}:\n${world.story.join('\n')}`, { cause: error })
  }
  assert.ok(world.asked.in >= 10 && world.asked.out >= 10)
  figure(t, 'let in', world.asked.in)
  figure(t, 'refused', world.asked.out)
}

const now = ({ app }: World) => app.clock.now.getTime()

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.int(0, from.length - 1)] as T
}

/** Time goes by: often up to the moment at which something ends, or the millisecond before it. */
function pass(t: TestContext, world: World): void {
  const { random, holders, secrets, app } = world
  const days = holders.filter(({ revokedAt }) => revokedAt === null).map(({ lastDay }) => endOf(lastDay))
  const ends = [...days, ...secrets.map(({ endsAt }) => endsAt)]
    .flatMap((end) => [end - 1, end])
    .filter((end) => end > now(world) && Number.isFinite(end))
    .sort((one, other) => one - other)
  const wander = now(world) + random.int(1, pick(random, [1000, MINUTE, HOUR, 20 * HOUR]))
  const next = random.chance(0.4) ? (ends[random.int(0, 2)] ?? wander) : wander
  app.clock.now = new Date(next)
  t.mock.timers.setTime(next)
  world.story.push(`it is ${app.clock.now.toISOString()}`)
}

async function restart(t: TestContext, world: World): Promise<void> {
  const { dataDir, clock } = world.app
  await world.app.app.close()
  world.app = await startTestApp(t, { dataDir, clock })
  world.story.push('restart')
}

/** Runs a command; what it printed as JSON, or undefined if it was refused, which must be as expected. */
async function command<T>(world: World, words: string[], expected: number): Promise<T | undefined> {
  world.story.push(words.join(' '))
  const { code, out, err } = await runCommand([...words, '--data-dir', world.app.dataDir, '--json'])
  assert.equal(code, expected, `${words.join(' ')}: ${err}`)
  return code === 0 ? (JSON.parse(out) as T) : undefined
}

async function change(world: World): Promise<void> {
  const { random } = world
  const kind = pick(random, ['key', 'token'] as const)
  if (world.holders.length < 2 || random.chance(0.2)) await create(world, kind)
  else if (random.chance(0.8)) await rotate(world, kind)
  else await revoke(world, kind)
}

type Made = { id: number; key?: string; token?: string; expires_at?: string | null }

/** A last day from yesterday on, which is refused, or none. */
function lastDayFor(world: World): string | undefined {
  return world.random.chance(0.6) ? undefined : dayAt(now(world), pick(world.random, [-1, 0, 0, 1, 2, 3]))
}

const isPast = (world: World, lastDay: string | undefined) => (lastDay ?? '9') < dayAt(now(world))

async function create(world: World, kind: Kind): Promise<void> {
  const { random, holders, secrets } = world
  const [name, lastDay] = [pick(random, NAMES), lastDayFor(world)]
  const allow = kind === 'key' ? [] : ALLOWED.filter((_, at) => at === 2 || random.chance(0.5))
  const company = kind === 'token' && random.chance(0.5) ? random.int(1, 2) : null
  const words = [kind, 'create', name, ...allow.flatMap((one) => ['--allow', one])]
  if (lastDay !== undefined) words.push('--expires', lastDay)
  if (company !== null) words.push('--company', String(company))
  const code = isPast(world, lastDay) ? 2 : mayCreate(world, kind, name) ? 0 : 1
  const made = await command<Made>(world, words, code)
  if (!made) return
  const of: Holder = {
    ...{ kind, id: made.id, name, lastDay: lastDay ?? null },
    ...{ revokedAt: null, company, allow },
  }
  holders.push(of)
  const secret = { of, text: made[kind] ?? '', endsAt: Number.POSITIVE_INFINITY }
  secrets.push(secret)
  await ask(world, secret) // at once, before anything else is asked
}

function wordFor({ random, holders }: World, kind: Kind): string | number {
  const all = holders.filter((one) => one.kind === kind)
  const active = all.filter(({ revokedAt }) => revokedAt === null)
  const known = active.length > 0 && random.chance(0.85) ? active : all
  if (known.length === 0 || random.chance(0.05)) return random.chance(0.5) ? 'nadie' : 999
  const { id, name } = pick(random, known)
  return random.chance(0.3) ? id : name
}

async function rotate(world: World, kind: Kind): Promise<void> {
  const { random } = world
  const [word, lastDay] = [wordFor(world, kind), lastDayFor(world)]
  const [text, overlap] = pick(random, Object.entries(OVERLAPS))
  const of = holderOf(world, kind, word)
  const words = [kind, 'rotate', String(word), '--overlap', text]
  if (lastDay !== undefined) words.push('--expires', lastDay)
  const code = isPast(world, lastDay) ? 2 : mayRotate(of, lastDay, now(world)) ? 0 : 1
  const made = await command<Made>(world, words, code)
  if (!made || !of) return
  assert.equal(made.id, of.id)
  const next = rotated(world, of, { text: made[kind] ?? '', overlap, lastDay, now: now(world) })
  assert.equal(made.expires_at, of.lastDay)
  await ask(world, next) // at once, before anything else is asked
}

async function revoke(world: World, kind: Kind): Promise<void> {
  const word = wordFor(world, kind)
  const of = holderOf(world, kind, word)
  const revoked = await command<Made>(world, [kind, 'revoke', String(word)], of ? 0 : 1)
  assert.equal(revoked?.id, of?.id)
  if (!of) return
  of.revokedAt ??= now(world)
  await renewed(world)
}

/** Asks with a secret that nobody has: before it is refused, the server reads again what was changed. */
async function renewed({ app }: World): Promise<void> {
  const { status } = await app.get('/api/v1/providers', { 'x-api-key': 'cbk_nobody' })
  assert.equal(status, 401)
}

async function askAll(world: World): Promise<void> {
  if (world.random.chance(0.1)) world.over.clear()
  await Promise.all(world.secrets.filter((one) => !world.over.has(one)).map((one) => ask(world, one)))
}

async function ask(world: World, secret: Secret): Promise<void> {
  const { app, random, story } = world
  const { of, text } = secret
  const good = isLetIn(secret, now(world))
  const bearer = { authorization: `Bearer ${text}` }
  const company_id = random.int(1, 2)
  const code = company_id === 1 ? 'ACME' : 'OTRA'
  const reach = of.company === null || of.company === company_id ? 200 : 404
  const post = (body: unknown) => ({ method: 'POST', headers: bearer, body: JSON.stringify(body) })
  const routes = {
    'documents:GET': [`/api/v1/documents?company_id=${company_id}`, { headers: bearer }, reach],
    'agent:POST': ['/api/v1/agent/get_by_company', post({ company_id, code }), reach],
    'documents:POST': [CREATE, post({}), 400],
    'documents:CLAIM': ['/api/v1/documents/claim', post({ agent_id: 'x' }), 400],
    'documents:DELETE': ['/api/v1/documents/999999', { method: 'DELETE', headers: bearer }, 404],
  } as const
  const allow = pick(random, ALLOWED)
  const [path, request, status] =
    (of.kind === 'key') !== random.chance(0.1)
      ? (['/api/v1/providers', { headers: { 'x-api-key': text } }, 200] as const)
      : routes[allow]
  const isOwn = (path === '/api/v1/providers') === (of.kind === 'key')
  const right = of.kind === 'key' || of.allow.includes(allow) ? status : 403
  const answer = await fetch(app.app.url + path, request)
  const body = await answer.text()
  const expected = good && isOwn ? right : 401
  const who = `${of.kind} ${of.id} (${of.name}), its secret number ${world.secrets.indexOf(secret)}`
  if (answer.status !== expected) story.push(`${who} at ${path}: ${answer.status} ${body}`)
  assert.equal(answer.status, expected, `${who} at ${path}`)
  world.asked[expected === 401 ? 'out' : 'in']++
  if (!good) world.over.add(secret)
}

/** The lists name every former secret that is still good, and no other. */
async function checkLists(world: World): Promise<void> {
  for (const kind of ['key', 'token'] as const) {
    const rows = await command<{ id: number; former?: { ends_at: string }[] }[]>(world, [kind, 'list'], 0)
    world.story.pop()
    const listed = new Map(rows?.map(({ id, former = [] }) => [id, former.map(({ ends_at }) => ends_at)]))
    for (const one of world.holders.filter((holder) => holder.kind === kind)) {
      assert.deepEqual(listed.get(one.id), formerEnds(world, one, now(world)), `${kind} ${one.id}`)
    }
  }
}
