// A server that is killed with SIGKILL at random moments, while several clients upload and a sync runs, and started
// again. What it said 200 to is all there, of the rest every batch is whole or not there at all, and of the rates no
// chunk is half there. The sync runs inside the server or as a program of its own, which is killed as well.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { addDays, todayIn } from '../../../src/dates.ts'
import { type Bank, startBank } from '../../../src/demo/bank.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { faultsOfDatabase } from '../../../src/store/sqlite/database-copy.ts'
import { selectRuns } from '../../../src/store/sync-runs.ts'
import { selectWrongSums } from '../../../src/store/usage.ts'
import { checkComplete } from '../../support/completeness.ts'
import { fillDatabase, TOKENS } from '../../support/directory.ts'
import { type SentRequest, WAY_NAMES, WAYS } from '../../support/documents/ways.ts'
import { type Program, startProgram } from '../../support/program.ts'
import { randomOf } from '../../support/rates/random-bank.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { figure, LONG, PROGRAM, SEED, scaled } from '../scale.ts'

const KILLS = scaled({ short: 20, long: 500 })
const KILLS_OF_A_BOX = 20 // then a new data directory, because the history has been read
const CLIENTS = 4
const LARGEST = 1_500_000
const ALIVE_MS = 500
const LOOKED_AT_AGAIN = 16

type Content = { name: string; sha256: string; size: number }
type Upload = {
  request: SentRequest | undefined
  key: string | undefined
  contents: Content[]
  answer: string | undefined
}
type Row = Content & { id: number }
type Sum = { kills: number; acknowledged: number; interrupted: number; syncs: number; rates: number }

const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const headers = { authorization: `Bearer ${TOKENS.all}` }
const today = () => todayIn(() => new Date())
const env = { CAMBISTA_BCCR_TOKEN: 'test-token' }

test('killed at random moments, it has lost nothing that it acknowledged', async (t) => {
  const random = randomOf(SEED).next
  const bank = await startBank({ token: 'test-token', today })
  t.after(() => bank.close())
  figure(t, 'seed', SEED)
  const sum: Sum = { kills: 0, acknowledged: 0, interrupted: 0, syncs: 0, rates: 0 }
  // On a machine that stands still now and then kills meet little: there are more of them.
  const metLittle = () =>
    sum.interrupted < KILLS || sum.acknowledged < KILLS || sum.syncs < (LONG ? KILLS / 10 : 1)
  while (sum.kills < KILLS || (metLittle() && sum.kills < 5 * KILLS)) await wearOut(t, bank, random, sum)
  figure(t, 'kills', sum.kills)
  figure(t, 'uploads acknowledged, and cut off', `${sum.acknowledged}, ${sum.interrupted}`)
  figure(t, 'syncs cut off', sum.syncs)
  figure(t, 'rates found whole', sum.rates)
  assert.ok(!metLittle(), 'the kills met hardly any upload, or any sync')
})

/** The life of one data directory: some kills, and a start after the last. */
async function wearOut(t: TestContext, bank: Bank, random: () => number, sum: Sum): Promise<void> {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const bankFlags = ['--bccr-url', bank.url, '--bccr-pace', '60', '--backfill-from', addDays(today(), -4000)]
  const dirFlags = ['--data-dir', dataDir]
  const all: Upload[] = []
  for (let kill = 0; kill <= KILLS_OF_A_BOX; kill += 1) {
    const last = kill === KILLS_OF_A_BOX
    const alone = last || random() < 0.3
    const flags = ['--port', '0', '--min-free', '0', ...(alone ? ['--no-scheduler'] : bankFlags)]
    const server = startProgram(t, ['serve', ...dirFlags, ...flags], env, PROGRAM)
    const [, url = ''] = await server.says(/url=(\S+)/)
    checkFiles(dataDir, await rowsOf(url)) // as the sweep left it, before anything is sent
    await checkUploads(url, last ? all : all.slice(-LOOKED_AT_AGAIN))
    if (last) {
      server.child.kill('SIGTERM')
      assert.equal(await server.ended(), 0)
      break
    }
    const victims: Program[] = [server]
    if (alone) victims.push(startProgram(t, ['sync', ...dirFlags, ...bankFlags], env, PROGRAM))
    const sent: Upload[] = []
    const clients = Array.from({ length: CLIENTS }, (_, at) => upload(url, `${kill}-${at}`, random, sent))
    await wait(random() ** 2 * ALIVE_MS)
    for (const { child } of victims) child.kill('SIGKILL')
    await Promise.all([...victims.map(({ ended }) => ended()), ...clients])
    sum.kills += 1
    sum.interrupted += sent.filter(({ answer }) => answer === undefined).length
    sum.acknowledged += sent.filter(({ answer }) => answer !== undefined).length
    all.push(...sent)
    sum.rates += await checkDead(dataDir)
  }
  sum.syncs += await checkRuns(t, dataDir, [...dirFlags, ...bankFlags])
}

/** Uploads one batch after the other until the server is gone, and notes down what it was told. */
async function upload(url: string, client: string, random: () => number, sent: Upload[]): Promise<void> {
  for (let number = 0; ; number += 1) {
    const contents: Content[] = []
    const way = WAY_NAMES[Math.floor(random() * WAY_NAMES.length)] ?? 'JSON'
    const count = way === 'body' ? 1 : 1 + Math.floor(random() * 3)
    const documents = Array.from({ length: count }, (_, place) => {
      const bytes = randomBytes(1 + Math.floor(random() ** 4 * LARGEST))
      const name = `${client}-${number}-${place}`
      contents.push({ name, sha256: sha256Of(bytes), size: bytes.length })
      return { name, mimetype: 'application/octet-stream', bytes }
    })
    const key = random() < 0.5 ? `${client}-${number}` : undefined
    const one: Upload = { request: WAYS[way](documents), key, contents, answer: undefined }
    sent.push(one)
    one.answer = await send(url, one)
    if (one.answer === undefined) return
    if (!one.key) one.request = undefined // only what is sent again is needed any longer
  }
}

/** Sends it; undefined when the server died before it had answered. */
async function send(url: string, { request, key }: Upload): Promise<string | undefined> {
  if (!request) throw new TypeError('it is not sent again')
  const { path, body } = request
  const more: Record<string, string> = key ? { 'idempotency-key': key } : {}
  const init = {
    method: 'POST',
    body: body as Uint8Array<ArrayBuffer>,
    headers: { ...headers, ...request.headers, ...more },
  }
  const response = await fetch(url + path, init).catch(() => {})
  const answer = await response?.text().catch(() => undefined)
  if (answer !== undefined) assert.equal(response?.status, 200, answer)
  return answer
}

/** Sends again what has a key, then looks at every batch. */
async function checkUploads(url: string, uploads: Upload[]): Promise<void> {
  for (const one of uploads.filter(({ key }) => key)) {
    const again = await send(url, one)
    assert.ok(again !== undefined, 'the server is gone')
    if (one.answer !== undefined) assert.equal(again, one.answer, `another answer to ${one.key}`)
    one.answer = again
  }
  const byName = Map.groupBy(await rowsOf(url), ({ name }) => name)
  for (const one of uploads) await checkBatch(url, byName, one)
}

/** The rows of one upload: all of them with their bytes, or none. */
async function checkBatch(
  url: string,
  byName: Map<string, Row[]>,
  { contents, answer }: Upload,
): Promise<void> {
  const rows = contents.map(({ name }) => byName.get(name) ?? [])
  const copies = rows[0]?.length ?? 0
  assert.ok(copies === 1 || (copies === 0 && answer === undefined), `${contents[0]?.name}: ${copies} times`)
  for (const [place, { name, sha256, size }] of contents.entries()) {
    assert.equal(rows[place]?.length, copies, `${name} is missing in its batch, or doubled`)
    const [row] = rows[place] ?? []
    if (!row) continue
    assert.deepEqual([row.sha256, row.size], [sha256, size], name)
    const response = await fetch(`${url}/api/v1/documents/${row.id}/content`, { headers })
    assert.equal(sha256Of(await response.bytes()), sha256, name)
  }
}

async function rowsOf(url: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let after = 0; ; after = rows.at(-1)?.id ?? 0) {
    const response = await fetch(`${url}/api/v1/documents?limit=200&after=${after}`, { headers })
    const page = (await response.json()) as { documents: Row[]; has_more: boolean }
    rows.push(...page.documents)
    if (!page.has_more) return rows
  }
}

/** No row without its blob, no blob without a row, no temporary file. */
function checkFiles(dataDir: string, rows: Row[]): void {
  const options = { recursive: true, withFileTypes: true, encoding: 'utf8' } as const
  const names = readdirSync(join(dataDir, 'blobs'), options).filter((entry) => entry.isFile())
  assert.deepEqual(names.map(({ name }) => name).sort(), [...new Set(rows.map((row) => row.sha256))].sort())
}

/** The database as the kill left it: sound, with no gap and no half chunk. How many rates it has. */
async function checkDead(dataDir: string): Promise<number> {
  const db = openDatabase(dataDir)
  try {
    assert.deepEqual(await faultsOfDatabase(db, { inPieces: false }), [])
    assert.deepEqual(await selectWrongSums(db), [])
    const [, ...older] = await selectRuns(db, { limit: 100 })
    for (const run of older) assert.notEqual(run.finished_at, null, `run ${run.id} was never closed`)
    return await checkComplete(db)
  } finally {
    await db.destroy()
  }
}

/** Syncs to the end; before it the runs that were cut off are closed as such. How many there were. */
async function checkRuns(t: TestContext, dataDir: string, flags: string[]): Promise<number> {
  const sync = startProgram(t, ['sync', ...flags, '--bccr-pace', '0'], env, PROGRAM)
  assert.equal(await sync.ended(), 0, sync.printed.err)
  const db = openDatabase(dataDir)
  try {
    const [last, ...older] = await selectRuns(db, { limit: 100 })
    assert.equal(last?.status, 'ok')
    const cut = older.filter(({ status }) => status !== 'ok')
    for (const run of cut) assert.deepEqual([run.status, run.message], ['error', 'interrupted'])
    await checkComplete(db)
    return cut.length
  } finally {
    await db.destroy()
  }
}
