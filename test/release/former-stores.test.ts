// Stores of 0.2.0 with different histories. This program upgrades each of them without the loss of a row or byte.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startBank } from '../../src/demo/bank.ts'
import { addDays, currentDay } from '../../src/values/dates.ts'
import { type Ended, EXECUTABLE, start } from '../e2e/executable.ts'
import { freePort } from '../support/program.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { buildCommit } from './packages.ts'

const RELEASED = '8eb66e71797fb1adba4676bfa51dcb3dadf27143' // 0.2.0
const STORES = 10
/** Commands that list everything. */
const LISTS = ['company', 'owner', 'agent', 'key', 'token', 'hook', 'event', 'document', 'series', 'revision']
const ALLOWED = ['documents:POST', 'documents:GET', 'documents:CLAIM', 'documents:DELETE']

type Created = { created_documents: { id: number }[] }
type Claimed = { documents: { id: number; claim_id: string }[] }
type Store = { t: TestContext; dataDir: string; env: Record<string, string> }
type ListedRow = Record<string, unknown>
type Contents = { text: string; lists: Record<string, ListedRow[]>; digests: Record<string, string> }

const FORMER = buildCommit(RELEASED)

async function runProgram(
  { t, dataDir, env }: Store,
  executable: string,
  ...words: string[]
): Promise<string> {
  const argv = [...words, '--data-dir', dataDir]
  const { code, out, err }: Ended = await start(t, argv, { executable, env }).ended()
  assert.equal(code, 0, `${words.join(' ')}: ${err}${out}`)
  return out
}

/** Makes a store with the former program: syncs, corrections, uploads, claims, outcomes, deletions. */
async function makeStore(t: TestContext, random: Random): Promise<Store> {
  const today = currentDay(() => new Date()) // the former program compares the clocks
  const ago = (days: number) => addDays(today, -days)
  let isCorrected = false
  const bank = await startBank({
    today: () => today,
    value: (code, day) => (isCorrected && code === '318' && day < ago(5) ? '499.99' : undefined),
  })
  t.after(() => bank.close())
  const env = { CAMBISTA_BCCR_URL: bank.url, CAMBISTA_BCCR_PACE: '0' }
  const store: Store = { t, dataDir: join(temporaryDirectory(t), 'data'), env }
  const run = (...words: string[]) => runProgram(store, FORMER, ...words)
  await run('sync', '--from', ago(random.int(14, 40)), '--to', ago(3))
  isCorrected = random.chance(0.5)
  await run('sync', '--from', ago(12))
  const companies = random.int(1, 3)
  for (let id = 1; id <= companies; id += 1) {
    const quota = random.chance(0.3) ? ['--quota', '1GiB'] : []
    await run('company', 'create', '--name', `Año ${id}`, '--code', `C${id}`, '--id', `${id}`, ...quota)
    await run('owner', 'create', '--name', `Ana ${id}`, '--company', `${id}`, '--id', `${id}`)
    const inactive = random.chance(0.2) ? ['--inactive'] : []
    await run(
      'agent',
      'create',
      '--name',
      `Otro ${id}`,
      '--company',
      `${id}`,
      '--id',
      `${id + 10}`,
      ...inactive,
    )
    await run('agent', 'create', '--name', `Lector ${id}`, '--company', `${id}`, '--id', `${id}`)
  }
  await run('key', 'create', 'erp')
  await run('key', 'create', 'gone')
  await run('key', 'revoke', 'gone')
  if (random.chance(0.5))
    await run('hook', 'create', '--url', 'https://127.0.0.1:1/h', '--event', 'document.created')
  const allow = ALLOWED.flatMap((one) => ['--allow', one])
  const token = (await run('token', 'create', 'erp', ...allow)).trim()
  await useDocuments(store, { token, companies, random })
  return store
}

async function useDocuments(
  { t, dataDir, env }: Store,
  { token, companies, random }: { token: string; companies: number; random: Random },
): Promise<void> {
  const port = await freePort()
  const words = ['serve', '--port', `${port}`, '--no-scheduler', '--data-dir', dataDir]
  const server = start(t, words, { executable: FORMER, env })
  await server.says(/listening (url)/)
  const send = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/documents/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    assert.equal(response.status, 200, await response.clone().text())
    return (await response.json()) as T
  }
  const [uploads, claims] = [random.int(6, 15), random.int(2, 12)]
  const ids: number[] = []
  for (let upload = 0; upload < uploads; upload += 1) {
    const id = random.int(1, companies)
    const documents = Array.from({ length: random.int(1, 4) }, (_, at) => ({
      name: random.chance(0.2) ? 'ñandú.pdf' : `${upload}-${at}.pdf`,
      mimetype: 'application/pdf',
      base64: Buffer.from(`${random.int(0, 19)}`.repeat(random.int(1, 5000))).toString('base64'),
    }))
    const body = { company_id: id, agent_id: id, owner_id: id, documents, priority: random.int(0, 9) }
    const { created_documents } = await send<Created>('POST', 'create', body)
    ids.push(...created_documents.map((one) => one.id))
  }
  for (let claim = 0; claim < claims; claim += 1) {
    const { documents } = await send<Claimed>('POST', 'claim', { agent_id: random.int(1, companies) })
    for (const { id, claim_id } of documents) {
      const outcome = random.chance(0.6) ? 'done' : 'failed'
      if (random.chance(0.8)) await send('POST', `${id}/finish`, { claim_id, outcome, note: `nota ${id}` })
    }
  }
  for (const id of ids) if (random.chance(0.1)) await send('DELETE', `${id}`)
  const { code } = await server.ended('SIGTERM')
  assert.equal(code, 0)
}

/** Reads all that a store has: the text of its rates, its lists, and the SHA-256 of each document. */
async function readStore(store: Store, executable: string): Promise<Contents> {
  const run = (...words: string[]) => runProgram(store, executable, ...words)
  const lists: Contents['lists'] = {}
  for (const name of LISTS) {
    const all = JSON.parse(
      await run(name, 'list', '--json', ...(name === 'document' ? ['--limit', '1000'] : [])),
    ) as ListedRow[] | Record<string, ListedRow[]>
    lists[name] = Array.isArray(all) ? all : (Object.values(all).find(Array.isArray) ?? [])
  }
  const digests: Contents['digests'] = {}
  for (const { id } of lists.document ?? []) {
    const target = join(temporaryDirectory(store.t), 'content')
    await run('document', 'export', `${id}`, '--out', target)
    digests[`${id}`] = createHash('sha256').update(readFileSync(target)).digest('hex')
  }
  return { text: await run('export'), lists, digests }
}

for (let seed = 1; seed <= STORES; seed += 1) {
  test(`store ${seed} of 0.2.0 has every row and byte after the upgrade`, async (t) => {
    const store = await makeStore(t, createRandom(seed))
    const before = await readStore(store, FORMER)
    const after = await readStore(store, EXECUTABLE)
    assert.ok((before.lists.document ?? []).length > 5 && before.text.length > 10_000)
    assert.equal(after.text, before.text)
    assert.deepEqual(after.digests, before.digests)
    for (const [name, rows] of Object.entries(before.lists)) {
      const upgraded = after.lists[name] ?? []
      assert.equal(upgraded.length, rows.length, name)
      for (const [at, row] of rows.entries()) {
        const same = Object.fromEntries(Object.keys(row).map((field) => [field, upgraded[at]?.[field]]))
        assert.deepEqual(same, row, name)
      }
    }
    const doctor = start(t, ['doctor', '--json', '--data-dir', store.dataDir], { env: store.env })
    const { findings } = JSON.parse((await doctor.ended()).out) as { findings: { check: string }[] }
    // No receiver answers the hook.
    assert.deepEqual(
      findings.filter(({ check }) => check !== 'hooks'),
      [],
    )
  })
}
