// Access while keys and tokens are created, rotated, revoked and expire: random sequences of commands beside a
// server. After each, every secret of the sequence is tried and compared with a model (decisions#key-first).

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { ALLOWED } from '../../../src/domain/access/secrets.ts'
import { fixedClock, startTestApp, type TestApp } from '../../support/app.ts'
import { CREATE, fillDirectory } from '../../support/directory.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { runCommand } from '../../support/terminal.ts'
import { figure, scaled } from '../scale.ts'
import {
  dayEnd,
  findHolder,
  formerSecretEnds,
  type Holder,
  isAccepted,
  type Kind,
  localDay,
  mayCreate,
  mayRotate,
  rotateHolder,
  type Secret,
  type SecretsModel,
} from './secrets-model.ts'

/** The same seeds in each run, and those that follow the seed of the run. */
const FIXED = [5, 8] // together they reach every case of the model
const FRESH = Array.from({ length: scaled({ short: 1, long: 100 }) }, (_, at) => SEED + at)
const STEPS = 40

const START = Date.parse('2026-03-24T12:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const OVERLAPS = { 0: 0, '1s': 1000, '90m': 90 * MINUTE, '24h': 24 * HOUR, '3d': 72 * HOUR }
const NAMES = ['erp', 'hoja de cálculo']

// Without simulated power cuts, a file system in memory saves disk time.
if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'

for (const seed of new Set([...FIXED, ...FRESH])) {
  test(`keys and tokens are accepted exactly while they are valid (seed ${seed})`, (t) =>
    runSequence(t, seed))
}

type World = SecretsModel & {
  random: Random
  app: TestApp
  story: string[]
  counts: { accepted: number; rejected: number }
  /** Secrets that were rejected before: each further attempt costs a database query, which is rate-limited. */
  rejected: Set<Secret>
}

async function runSequence(t: TestContext, seed: number): Promise<void> {
  t.mock.timers.enable({ apis: ['Date'], now: START })
  const clock = fixedClock()
  const app = await startTestApp(t, { clock })
  await fillDirectory(app)
  const world: World = {
    ...{ holders: [], secrets: [], random: createRandom(seed), app, story: [] },
    ...{ counts: { accepted: 0, rejected: 0 }, rejected: new Set() },
  }
  const isComplete = () => world.counts.accepted >= 10 && world.counts.rejected >= 10
  try {
    for (let step = 0; step < STEPS || (!isComplete() && step < 5 * STEPS); step++) {
      if (world.random.chance(0.05)) await restart(t, world)
      advanceClock(t, world)
      await tryAllSecrets(world)
      await change(world)
      await tryAllSecrets(world)
      if (world.random.chance(0.3)) await checkLists(world)
    }
    world.rejected.clear()
    await tryAllSecrets(world)
  } catch (error) {
    throw new Error(`seed ${seed}:\n${world.story.join('\n')}`, { cause: error })
  }
  assert.ok(isComplete(), JSON.stringify(world.counts))
  figure(t, 'accepted', world.counts.accepted)
  figure(t, 'rejected', world.counts.rejected)
}

const now = ({ app }: World) => app.clock.now.getTime()

/** Advances the clock: often to an expiry, or to the millisecond before it. */
function advanceClock(t: TestContext, world: World): void {
  const { random, holders, secrets, app } = world
  const days = holders.filter(({ revokedAt }) => revokedAt === null).map(({ lastDay }) => dayEnd(lastDay))
  const ends = [...days, ...secrets.map(({ endsAt }) => endsAt)]
    .flatMap((end) => [end - 1, end])
    .filter((end) => end > now(world) && Number.isFinite(end))
    .sort((one, other) => one - other)
  const randomTime = now(world) + random.int(1, random.item([1000, MINUTE, HOUR, 20 * HOUR]))
  const next = random.chance(0.4) ? (ends[random.int(0, 2)] ?? randomTime) : randomTime
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

/** Runs a command and checks its exit code. Returns its JSON, or undefined if it was rejected. */
async function runJsonCommand<T>(world: World, args: string[], expected: number): Promise<T | undefined> {
  world.story.push(args.join(' '))
  const { code, out, err } = await runCommand([...args, '--data-dir', world.app.dataDir, '--json'])
  assert.equal(code, expected, `${args.join(' ')}: ${err}`)
  return code === 0 ? (JSON.parse(out) as T) : undefined
}

async function change(world: World): Promise<void> {
  const { random } = world
  const kind = random.item(['key', 'token'] as const)
  if (world.holders.length < 2 || random.chance(0.2)) await create(world, kind)
  else if (random.chance(0.8)) await rotate(world, kind)
  else await revoke(world, kind)
}

type CredentialReply = { id: number; key?: string; token?: string; expires_at?: string | null }

/** No last day, or one from yesterday on; yesterday is rejected. */
function randomLastDay(world: World): string | undefined {
  return world.random.chance(0.6) ? undefined : localDay(now(world), world.random.item([-1, 0, 0, 1, 2, 3]))
}

const isPast = (world: World, lastDay: string | undefined) => (lastDay ?? '9') < localDay(now(world))

async function create(world: World, kind: Kind): Promise<void> {
  const { random, holders, secrets } = world
  const [name, lastDay] = [random.item(NAMES), randomLastDay(world)]
  const allow = kind === 'key' ? [] : ALLOWED.filter((_, at) => at === 2 || random.chance(0.5))
  const company = kind === 'token' && random.chance(0.5) ? random.int(1, 2) : null
  const args = [kind, 'create', name, ...allow.flatMap((one) => ['--allow', one])]
  if (lastDay !== undefined) args.push('--expires', lastDay)
  if (company !== null) args.push('--company', String(company))
  const code = isPast(world, lastDay) ? 2 : mayCreate(world, kind, name) ? 0 : 1
  const reply = await runJsonCommand<CredentialReply>(world, args, code)
  if (!reply) return
  const holder: Holder = {
    ...{ kind, id: reply.id, name, lastDay: lastDay ?? null },
    ...{ revokedAt: null, company, allow },
  }
  holders.push(holder)
  const secret = { holder, text: reply[kind] ?? '', endsAt: Number.POSITIVE_INFINITY }
  secrets.push(secret)
  await trySecret(world, secret) // at once, before any other request
}

function randomNameOrId({ random, holders }: World, kind: Kind): string | number {
  const all = holders.filter((one) => one.kind === kind)
  const active = all.filter(({ revokedAt }) => revokedAt === null)
  const candidates = active.length > 0 && random.chance(0.85) ? active : all
  if (candidates.length === 0 || random.chance(0.05)) return random.chance(0.5) ? 'nadie' : 999
  const { id, name } = random.item(candidates)
  return random.chance(0.3) ? id : name
}

async function rotate(world: World, kind: Kind): Promise<void> {
  const { random } = world
  const [nameOrId, lastDay] = [randomNameOrId(world, kind), randomLastDay(world)]
  const [text, overlap] = random.item(Object.entries(OVERLAPS))
  const holder = findHolder(world, kind, nameOrId)
  const args = [kind, 'rotate', String(nameOrId), '--overlap', text]
  if (lastDay !== undefined) args.push('--expires', lastDay)
  const code = isPast(world, lastDay) ? 2 : mayRotate(holder, lastDay, now(world)) ? 0 : 1
  const reply = await runJsonCommand<CredentialReply>(world, args, code)
  if (!reply || !holder) return
  assert.equal(reply.id, holder.id)
  const next = rotateHolder(world, holder, { text: reply[kind] ?? '', overlap, lastDay, now: now(world) })
  assert.equal(reply.expires_at, holder.lastDay)
  await trySecret(world, next) // at once, before any other request
}

async function revoke(world: World, kind: Kind): Promise<void> {
  const nameOrId = randomNameOrId(world, kind)
  const holder = findHolder(world, kind, nameOrId)
  const revoked = await runJsonCommand<CredentialReply>(
    world,
    [kind, 'revoke', String(nameOrId)],
    holder ? 0 : 1,
  )
  assert.equal(revoked?.id, holder?.id)
  if (!holder) return
  holder.revokedAt ??= now(world)
  await reloadSecrets(world)
}

/** Tries an unknown secret: before its rejection, the server reloads changed secrets. */
async function reloadSecrets({ app }: World): Promise<void> {
  const { status } = await app.get('/api/v1/providers', { 'x-api-key': 'cbk_nobody' })
  assert.equal(status, 401)
}

async function tryAllSecrets(world: World): Promise<void> {
  if (world.random.chance(0.1)) world.rejected.clear()
  await Promise.all(
    world.secrets.filter((one) => !world.rejected.has(one)).map((one) => trySecret(world, one)),
  )
}

async function trySecret(world: World, secret: Secret): Promise<void> {
  const { app, random, story } = world
  const { holder, text } = secret
  const isValid = isAccepted(secret, now(world))
  const bearer = { authorization: `Bearer ${text}` }
  const company_id = random.int(1, 2)
  const code = company_id === 1 ? 'ACME' : 'OTRA'
  const statusInCompany = holder.company === null || holder.company === company_id ? 200 : 404
  const post = (body: unknown) => ({ method: 'POST', headers: bearer, body: JSON.stringify(body) })
  const routes = {
    'documents:GET': [`/api/v1/documents?company_id=${company_id}`, { headers: bearer }, statusInCompany],
    'agent:POST': ['/api/v1/agent/get_by_company', post({ company_id, code }), statusInCompany],
    'documents:POST': [CREATE, post({}), 400],
    'documents:CLAIM': ['/api/v1/documents/claim', post({ agent_id: 'x' }), 400],
    'documents:DELETE': ['/api/v1/documents/999999', { method: 'DELETE', headers: bearer }, 404],
    'documents:RETRY': ['/api/v1/documents/999999/retry', post({}), 404],
  } as const
  const allow = random.item(ALLOWED)
  const [path, request, status] =
    (holder.kind === 'key') !== random.chance(0.1)
      ? (['/api/v1/providers', { headers: { 'x-api-key': text } }, 200] as const)
      : routes[allow]
  const isOwn = (path === '/api/v1/providers') === (holder.kind === 'key')
  const statusIfAllowed = holder.kind === 'key' || holder.allow.includes(allow) ? status : 403
  const answer = await fetch(app.app.url + path, request)
  const body = await answer.text()
  const expected = isValid && isOwn ? statusIfAllowed : 401
  const details = `${holder.kind} ${holder.id} (${holder.name}), its secret number ${world.secrets.indexOf(secret)}`
  if (answer.status !== expected) story.push(`${details} at ${path}: ${answer.status} ${body}`)
  assert.equal(answer.status, expected, `${details} at ${path}`)
  world.counts[expected === 401 ? 'rejected' : 'accepted']++
  if (!isValid) world.rejected.add(secret)
}

/** Lists name every former secret that is still valid, and no other. */
async function checkLists(world: World): Promise<void> {
  for (const kind of ['key', 'token'] as const) {
    const rows = await runJsonCommand<{ id: number; former?: { ends_at: string }[] }[]>(
      world,
      [kind, 'list'],
      0,
    )
    world.story.pop()
    const listed = new Map(rows?.map(({ id, former = [] }) => [id, former.map(({ ends_at }) => ends_at)]))
    for (const one of world.holders.filter((holder) => holder.kind === kind)) {
      assert.deepEqual(listed.get(one.id), formerSecretEnds(world, one, now(world)), `${kind} ${one.id}`)
    }
  }
}
