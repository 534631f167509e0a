// How much may be kept: random uploads, some at once, deletions, and commands that set quotas, revoke tokens and make
// others of their name. After each step the store has exactly what a model says, in rows, contents and sums.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { runJson } from '../../support/company.ts'
import { CREATE, fillDirectory } from '../../support/directory.ts'
import { type Random, randomOf } from '../../support/rates/random-bank.ts'
import { figure, LONG, SEED, scaled } from '../scale.ts'

/** The same each time, and in the long version new ones; or only the one that is asked for. */
const ALONE = process.env.CAMBISTA_SEED !== undefined && !LONG
const FIXED = ALONE ? [] : [1, 2]
const FRESH = Array.from({ length: ALONE ? 1 : scaled({ short: 0, long: 100 }) }, (_, at) => SEED + at)
const STEPS = 40
const NAMES = ['erp', 'bot']

// No power is cut here: where there is a file system in memory, the time of a disk is saved.
if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'

for (const seed of new Set([...FIXED, ...FRESH])) {
  test(`no quota is exceeded and none is used up too early (seed ${seed})`, (t) => live(t, seed))
}

type Company = 1 | 2
type Token = { name: string; company: Company | null; quota: number | null; secrets: string[] }
type Kept = { id: number; size: number; sha256: string; company: Company; by: string }
type Upload = { token: Token; secret: string; company: Company; contents: string[] }
type Verdict = { status: 200 | 404 } | { status: 507; whose: string[] }
type World = {
  app: TestApp
  random: Random
  /** The active one of each name. */
  tokens: Map<string, Token>
  gone: string[]
  quotas: Record<Company, number | null>
  kept: Kept[]
  /** Contents of uploads, whatever became of them. */
  sent: string[]
  story: string[]
  answers: Record<string, number>
}

async function live(t: TestContext, seed: number): Promise<void> {
  const app = await startTestApp(t)
  await fillDirectory(app)
  const world: World = {
    ...{ app, random: randomOf(seed), tokens: new Map(), gone: [], quotas: { 1: null, 2: null } },
    ...{ kept: [], sent: [], story: [], answers: {} },
  }
  try {
    for (const name of NAMES) await replace(world, name)
    for (let step = 0; step < STEPS; step++) {
      await pick(world.random, [uploads, uploads, uploads, uploads, remove, setQuota, change])(world)
      await checkStore(world)
    }
  } catch (error) {
    throw new Error(`seed ${seed}:\n${world.story.join('\n')}`, { cause: error })
  }
  for (const [status, count] of Object.entries(world.answers)) figure(t, status, count)
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.int(0, from.length - 1)] as T
}

const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0)
const usedBy = ({ kept }: World, name: string) =>
  sum(kept.filter(({ by }) => by === name).map(({ size }) => size))
const usedIn = ({ kept }: World, company: Company) =>
  sum(kept.filter((one) => one.company === company).map(({ size }) => size))

/** What is left of each quota that counts, below nothing where it was lowered. */
function leftOf(world: World, { name, quota }: Token, company: Company | null) {
  const left: { whose: string; bytes: number }[] = []
  if (quota !== null) left.push({ whose: `token ${name}`, bytes: quota - usedBy(world, name) })
  const limit = company && world.quotas[company]
  if (company && limit !== null) {
    left.push({ whose: `company ${company}`, bytes: limit - usedIn(world, company) })
  }
  return left
}

/** A token of another company is told of its own quotas, and of that company nothing. */
function verdictOn(world: World, { token, company, contents }: Upload): Verdict {
  const more = sum(contents.map((text) => text.length))
  const isReached = token.company === null || token.company === company
  const over = leftOf(world, token, isReached ? company : token.company).filter(({ bytes }) => bytes < more)
  if (over.length > 0) return { status: 507, whose: over.map(({ whose }) => whose) }
  return { status: isReached ? 200 : 404 }
}

/** One upload, or two or three at once, which must be answered as if they had come one after another. */
async function uploads(world: World): Promise<void> {
  const { random, story } = world
  const all = Array.from({ length: random.int(1, 3) }, () => uploadOf(world))
  story.push(...all.map(({ token, company, contents }) => wordsOf(token, company, contents)))
  const answers = await Promise.all(all.map((upload) => send(world, upload)))
  story.push(answers.map(({ status, text }) => `${status} ${status === 507 ? text : ''}`).join(', '))
  for (const { status } of answers) world.answers[status] = (world.answers[status] ?? 0) + 1
  const before = world.kept
  for (const order of ordersOf(all.map((_, at) => at))) {
    world.kept = [...before]
    if (order.every((at) => fits(world, all[at] as Upload, answers[at] as Answer))) return
  }
  assert.fail('answered as in no order')
}

const wordsOf = ({ name, company: bound }: Token, company: Company, contents: readonly string[]) =>
  `${name} (of ${bound ?? 'any'}) for ${company}: ${contents.map((text) => text.length).join('+')} bytes`

type Answer = { status: number; text: string }

/** Whether this is the answer that is due now; what it says is kept, the model keeps. */
function fits(world: World, upload: Upload, { status, text }: Answer): boolean {
  const verdict = verdictOn(world, upload)
  if (verdict.status !== status) return false
  if (verdict.status === 507) return verdict.whose.some((whose) => text.includes(` of ${whose} is used up: `))
  if (verdict.status === 404) return true
  const { created_documents } = JSON.parse(text) as { created_documents: { id: number }[] }
  for (const [at, { id }] of created_documents.entries()) {
    const content = upload.contents[at] ?? ''
    const sha256 = createHash('sha256').update(content).digest('hex')
    const { company, token } = upload
    world.kept.push({ id, size: content.length, sha256, company, by: token.name })
  }
  return created_documents.length === upload.contents.length
}

function ordersOf(all: readonly number[]): number[][] {
  if (all.length === 0) return [[]]
  return all.flatMap((first) => ordersOf(all.filter((one) => one !== first)).map((rest) => [first, ...rest]))
}

function uploadOf(world: World): Upload {
  const { random, tokens, sent } = world
  const token = pick(random, [...tokens.values()])
  const secret = pick(random, token.secrets)
  const company = token.company !== null && random.chance(0.8) ? token.company : pick(random, [1, 2] as const)
  const text = (size: number) => {
    sent.push(`${sent.length} `.padEnd(size, 'x').slice(0, size))
    return sent.at(-1) ?? ''
  }
  const left = Math.min(...leftOf(world, token, company).map(({ bytes }) => bytes))
  if (left > 0 && left < 100_000 && random.chance(0.4)) {
    return { token, secret, company, contents: [text(left + random.int(0, 1))] } // to the last byte, or one more
  }
  const size = () => random.int(8, random.chance(0.1) ? 300_000 : 3000)
  const contents = Array.from({ length: random.int(1, 3) }, () => text(size()))
  if (random.chance(0.4)) contents.push(pick(random, sent.slice(-6)))
  return { token, secret, company, contents }
}

async function send({ app }: World, { secret, company, contents }: Upload): Promise<Answer> {
  const party = company === 1 ? { agent_id: 1, owner_id: 1 } : { agent_id: 3, owner_id: 2 }
  const documents = contents.map((text, at) => {
    return { name: `${at}.txt`, mimetype: 'text/plain', base64: Buffer.from(text).toString('base64') }
  })
  const answer = await fetch(app.app.url + CREATE, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({ company_id: company, ...party, documents }),
  })
  return { status: answer.status, text: await answer.text() }
}

async function remove(world: World): Promise<void> {
  const { app, random, kept, story } = world
  for (const { id } of kept.filter(() => random.chance(0.3)).slice(0, 4)) {
    story.push(`document ${id} is deleted`)
    await runJson(app.dataDir, 'document', 'delete', String(id))
    world.kept = world.kept.filter((one) => one.id !== id)
  }
}

/** None, or a few thousand bytes beside what is used, perhaps below it. */
function quotaBeside({ random }: World, used: number): number | null {
  return random.chance(0.2) ? null : Math.max(1, used + random.int(-2000, 20_000))
}

const textOf = (quota: number | null) => (quota === null ? 'none' : String(quota))

async function setQuota(world: World): Promise<void> {
  const { app, random, tokens, quotas, story } = world
  const company = pick(random, [null, 1, 2] as const)
  const token = pick(random, [...tokens.values()])
  const used = company === null ? usedBy(world, token.name) : usedIn(world, company)
  const quota = quotaBeside(world, used)
  const whose = company === null ? ['token', 'update', token.name] : ['company', 'update', String(company)]
  story.push(`${whose.join(' ')}: ${textOf(quota)} (${used} are used)`)
  await runJson(app.dataDir, ...whose, '--quota', textOf(quota))
  if (company === null) token.quota = quota
  else quotas[company] = quota
}

/** A token gets another secret beside its own, or is revoked, and another of its name made. */
async function change(world: World): Promise<void> {
  const { app, random, tokens, story } = world
  const token = pick(random, [...tokens.values()])
  if (random.chance(0.5)) return replace(world, token.name)
  const next = await runJson<{ token: string }>(app.dataDir, 'token', 'rotate', token.name, '--overlap', '1d')
  story.push(`token ${token.name} is rotated`)
  token.secrets.push(next.token)
}

async function replace(world: World, name: string): Promise<void> {
  const { app, random, tokens, gone, story } = world
  const before = tokens.get(name)
  if (before) {
    await runJson(app.dataDir, 'token', 'revoke', name)
    gone.push(...before.secrets)
  }
  const [company, quota] = [
    pick(random, [null, null, 1, 2] as const),
    quotaBeside(world, usedBy(world, name)),
  ]
  const words = ['token', 'create', name, '--allow', 'documents:POST', '--quota', textOf(quota)]
  if (company !== null) words.push('--company', String(company))
  const { token } = await runJson<{ token: string }>(app.dataDir, ...words)
  story.push(`token ${name} is made, of ${company ?? 'any company'}, quota ${textOf(quota)}`)
  tokens.set(name, { name, company, quota, secrets: [token] })
  const upload = { ...uploadOf(world), company: 1 as const }
  for (const secret of [token, ...gone]) {
    const { status } = await send(world, { ...upload, secret, contents: [] }) // a 400 for who is let in
    assert.ok(secret === token ? status !== 401 : status === 401, `${status}`)
  }
}

/** Rows, contents and sums are those of what was kept, and of nothing else. */
async function checkStore(world: World): Promise<void> {
  const { app, kept, tokens } = world
  const list = ['document', 'list', '--limit', '1000']
  const rows = await runJson<{ id: number; sha256: string }[]>(app.dataDir, ...list)
  const ids = (some: readonly { id: number }[]) => some.map(({ id }) => id).sort((a, b) => a - b)
  assert.deepEqual(ids(rows), ids(kept), 'rows')
  const entries = readdirSync(join(app.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  assert.equal(files.length, new Set(kept.map(({ sha256 }) => sha256)).size, 'contents')
  assert.ok(rows.every(({ sha256 }) => files.some((name) => name.includes(sha256) || sha256.endsWith(name))))
  const companies = await runJson<{ id: Company; used: number }[]>(app.dataDir, 'company', 'list')
  for (const { id, used } of companies) assert.equal(used, usedIn(world, id), `company ${id}`)
  const listed = await runJson<{ name: string; used: number }[]>(app.dataDir, 'token', 'list')
  for (const { name, used } of listed.filter((one) => tokens.has(one.name))) {
    assert.equal(used, usedBy(world, name), `token ${name}`)
  }
}
