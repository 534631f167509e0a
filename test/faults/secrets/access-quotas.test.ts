// Quotas: random uploads, some in parallel, deletions, and commands that set quotas, or revoke and recreate tokens.
// After each step, rows, blobs and sums of the store match a model.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { runJson } from '../../support/company.ts'
import { CREATE, fillDirectory } from '../../support/directory.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { figure, scaled } from '../scale.ts'

/** The same seeds in each run, and those that follow the seed of the run. */
const FIXED = [1, 2]
const FRESH = Array.from({ length: scaled({ short: 1, long: 100 }) }, (_, at) => SEED + at)
const STEPS = 40
const NAMES = ['erp', 'bot']

// Without simulated power cuts, a file system in memory saves disk time.
if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'

for (const seed of new Set([...FIXED, ...FRESH])) {
  test(`uploads are accepted exactly within their quotas (seed ${seed})`, (t) => runSequence(t, seed))
}

type Company = 1 | 2
type Token = { name: string; company: Company | null; quota: number | null; secrets: string[] }
type StoredDocument = { id: number; size: number; sha256: string; company: Company; by: string }
type Upload = { token: Token; secret: string; company: Company; contents: string[] }
type Verdict = { status: 200 | 404 } | { status: 507; whose: string[] }
type World = {
  app: TestApp
  random: Random
  /** The active token of each name. */
  tokens: Map<string, Token>
  revokedSecrets: string[]
  quotas: Record<Company, number | null>
  stored: StoredDocument[]
  /** Contents of all uploads, accepted or rejected. */
  texts: string[]
  story: string[]
  answers: Record<string, number>
}

async function runSequence(t: TestContext, seed: number): Promise<void> {
  const app = await startTestApp(t)
  await fillDirectory(app)
  const world: World = {
    ...{
      app,
      random: createRandom(seed),
      tokens: new Map(),
      revokedSecrets: [],
      quotas: { 1: null, 2: null },
    },
    ...{ stored: [], texts: [], story: [], answers: {} },
  }
  try {
    for (const name of NAMES) await recreateToken(world, name)
    for (let step = 0; step < STEPS; step++) {
      await world.random.item([
        uploadInParallel,
        uploadInParallel,
        uploadInParallel,
        uploadInParallel,
        deleteDocuments,
        setQuota,
        rotateOrRecreate,
      ])(world)
      await checkStore(world)
    }
  } catch (error) {
    throw new Error(`seed ${seed}:\n${world.story.join('\n')}`, { cause: error })
  }
  for (const [status, count] of Object.entries(world.answers)) figure(t, status, count)
}

const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0)
const tokenUsage = ({ stored }: World, name: string) =>
  sum(stored.filter(({ by }) => by === name).map(({ size }) => size))
const companyUsage = ({ stored }: World, company: Company) =>
  sum(stored.filter((one) => one.company === company).map(({ size }) => size))

/** The rest of each quota that applies; negative where it was lowered below its usage. */
function quotaRests(world: World, { name, quota }: Token, company: Company | null) {
  const rests: { whose: string; bytes: number }[] = []
  if (quota !== null) rests.push({ whose: `token ${name}`, bytes: quota - tokenUsage(world, name) })
  const limit = company && world.quotas[company]
  if (company && limit !== null) {
    rests.push({ whose: `company ${company}`, bytes: limit - companyUsage(world, company) })
  }
  return rests
}

/** A token of another company gets errors of its own quotas, and none of that company. */
function expectedVerdict(world: World, { token, company, contents }: Upload): Verdict {
  const more = sum(contents.map((text) => text.length))
  const isReached = token.company === null || token.company === company
  const over = quotaRests(world, token, isReached ? company : token.company).filter(
    ({ bytes }) => bytes < more,
  )
  if (over.length > 0) return { status: 507, whose: over.map(({ whose }) => whose) }
  return { status: isReached ? 200 : 404 }
}

/** Uploads once, or two or three times in parallel; a sequential order must explain the answers. */
async function uploadInParallel(world: World): Promise<void> {
  const { random, story } = world
  const all = Array.from({ length: random.int(1, 3) }, () => randomUpload(world))
  story.push(...all.map(({ token, company, contents }) => describeUpload(token, company, contents)))
  const answers = await Promise.all(all.map((upload) => send(world, upload)))
  story.push(answers.map(({ status, text }) => `${status} ${status === 507 ? text : ''}`).join(', '))
  for (const { status } of answers) world.answers[status] = (world.answers[status] ?? 0) + 1
  const before = world.stored
  for (const order of permutations(all.map((_, at) => at))) {
    world.stored = [...before]
    if (order.every((at) => matchesModel(world, all[at] as Upload, answers[at] as Answer))) return
  }
  assert.fail('no order explains the answers')
}

const describeUpload = ({ name, company: bound }: Token, company: Company, contents: readonly string[]) =>
  `${name} (of ${bound ?? 'any'}) for ${company}: ${contents.map((text) => text.length).join('+')} bytes`

type Answer = { status: number; text: string }

/** True if the model expects this answer now; adds its documents to the model. */
function matchesModel(world: World, upload: Upload, { status, text }: Answer): boolean {
  const verdict = expectedVerdict(world, upload)
  if (verdict.status !== status) return false
  if (verdict.status === 507) return verdict.whose.some((whose) => text.includes(` of ${whose} is used up: `))
  if (verdict.status === 404) return true
  const { created_documents } = JSON.parse(text) as { created_documents: { id: number }[] }
  for (const [at, { id }] of created_documents.entries()) {
    const content = upload.contents[at] ?? ''
    const sha256 = createHash('sha256').update(content).digest('hex')
    const { company, token } = upload
    world.stored.push({ id, size: content.length, sha256, company, by: token.name })
  }
  return created_documents.length === upload.contents.length
}

function permutations(all: readonly number[]): number[][] {
  if (all.length === 0) return [[]]
  return all.flatMap((first) =>
    permutations(all.filter((one) => one !== first)).map((rest) => [first, ...rest]),
  )
}

function randomUpload(world: World): Upload {
  const { random, tokens, texts } = world
  const token = random.item([...tokens.values()])
  const secret = random.item(token.secrets)
  const company = token.company !== null && random.chance(0.8) ? token.company : random.item([1, 2] as const)
  const text = (size: number) => {
    texts.push(`${texts.length} `.padEnd(size, 'x').slice(0, size))
    return texts.at(-1) ?? ''
  }
  const rest = Math.min(...quotaRests(world, token, company).map(({ bytes }) => bytes))
  if (rest > 0 && rest < 100_000 && random.chance(0.4)) {
    return { token, secret, company, contents: [text(rest + random.int(0, 1))] } // exactly the rest, or one byte more
  }
  const size = () => random.int(8, random.chance(0.1) ? 300_000 : 3000)
  const contents = Array.from({ length: random.int(1, 3) }, () => text(size()))
  if (random.chance(0.4)) contents.push(random.item(texts.slice(-6)))
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

async function deleteDocuments(world: World): Promise<void> {
  const { app, random, stored, story } = world
  for (const { id } of stored.filter(() => random.chance(0.3)).slice(0, 4)) {
    story.push(`document ${id} is deleted`)
    await runJson(app.dataDir, 'document', 'delete', String(id))
    world.stored = world.stored.filter((one) => one.id !== id)
  }
}

/** No quota, or one near the usage, perhaps below it. */
function randomQuota({ random }: World, usedBytes: number): number | null {
  return random.chance(0.2) ? null : Math.max(1, usedBytes + random.int(-2000, 20_000))
}

const quotaText = (quota: number | null) => (quota === null ? 'none' : String(quota))

async function setQuota(world: World): Promise<void> {
  const { app, random, tokens, quotas, story } = world
  const company = random.item([null, 1, 2] as const)
  const token = random.item([...tokens.values()])
  const usedBytes = company === null ? tokenUsage(world, token.name) : companyUsage(world, company)
  const quota = randomQuota(world, usedBytes)
  const whose = company === null ? ['token', 'update', token.name] : ['company', 'update', String(company)]
  story.push(`${whose.join(' ')}: ${quotaText(quota)} (${usedBytes} are used)`)
  await runJson(app.dataDir, ...whose, '--quota', quotaText(quota))
  if (company === null) token.quota = quota
  else quotas[company] = quota
}

/** Rotates a token with an overlap, or revokes and recreates it. */
async function rotateOrRecreate(world: World): Promise<void> {
  const { app, random, tokens, story } = world
  const token = random.item([...tokens.values()])
  if (random.chance(0.5)) return recreateToken(world, token.name)
  const next = await runJson<{ token: string }>(app.dataDir, 'token', 'rotate', token.name, '--overlap', '1d')
  story.push(`token ${token.name} is rotated`)
  token.secrets.push(next.token)
}

async function recreateToken(world: World, name: string): Promise<void> {
  const { app, random, tokens, revokedSecrets, story } = world
  const before = tokens.get(name)
  if (before) {
    await runJson(app.dataDir, 'token', 'revoke', name)
    revokedSecrets.push(...before.secrets)
  }
  const [company, quota] = [
    random.item([null, null, 1, 2] as const),
    randomQuota(world, tokenUsage(world, name)),
  ]
  const args = ['token', 'create', name, '--allow', 'documents:POST', '--quota', quotaText(quota)]
  if (company !== null) args.push('--company', String(company))
  const { token } = await runJson<{ token: string }>(app.dataDir, ...args)
  story.push(`token ${name} is created, of ${company ?? 'any company'}, quota ${quotaText(quota)}`)
  tokens.set(name, { name, company, quota, secrets: [token] })
  const upload = { ...randomUpload(world), company: 1 as const }
  for (const secret of [token, ...revokedSecrets]) {
    const { status } = await send(world, { ...upload, secret, contents: [] }) // a valid token gets 400
    assert.ok(secret === token ? status !== 401 : status === 401, `${status}`)
  }
}

/** Compares rows, blobs and sums with the model. */
async function checkStore(world: World): Promise<void> {
  const { app, stored, tokens } = world
  const list = ['document', 'list', '--limit', '1000']
  const rows = await runJson<{ id: number; sha256: string }[]>(app.dataDir, ...list)
  const ids = (some: readonly { id: number }[]) => some.map(({ id }) => id).sort((a, b) => a - b)
  assert.deepEqual(ids(rows), ids(stored), 'rows')
  const entries = readdirSync(join(app.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  assert.equal(files.length, new Set(stored.map(({ sha256 }) => sha256)).size, 'contents')
  assert.ok(rows.every(({ sha256 }) => files.some((name) => name.includes(sha256) || sha256.endsWith(name))))
  const companies = await runJson<{ id: Company; used: number }[]>(app.dataDir, 'company', 'list')
  for (const { id, used } of companies) assert.equal(used, companyUsage(world, id), `company ${id}`)
  const tokenRows = await runJson<{ name: string; used: number }[]>(app.dataDir, 'token', 'list')
  for (const { name, used } of tokenRows.filter((one) => tokens.has(one.name))) {
    assert.equal(used, tokenUsage(world, name), `token ${name}`)
  }
}
