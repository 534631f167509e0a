// A server that is killed with SIGKILL at random moments, while clients upload and a sync runs, and started again.
// Acknowledged uploads exist afterwards. Each other batch is whole or absent, and no chunk of rates is half stored.
// The sync runs inside the server, or as a process of its own that is killed as well.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Bank, startBank } from '../../../src/demo/bank.ts'
import { selectWrongSums } from '../../../src/store/documents/usage.ts'
import { selectRuns } from '../../../src/store/rates/sync-runs.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { findDatabaseFaults } from '../../../src/store/sqlite/database-copy.ts'
import { addDays, currentDay } from '../../../src/values/dates.ts'
import { checkComplete } from '../../support/completeness.ts'
import { fillDatabase, TOKENS } from '../../support/directory.ts'
import { UPLOAD_FORM_NAMES, UPLOAD_FORMS, type UploadRequest } from '../../support/documents/ways.ts'
import { type Program, startProgram } from '../../support/program.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { figure, LONG, PROGRAM, scaled } from '../scale.ts'

const KILLS = scaled({ short: 3, long: 500 })
const KILLS_PER_DIRECTORY = scaled({ short: 6, long: 20 }) // then a new data directory, because the history has been read
const OWN_SYNC_EVERY = 3 // kills, of which one meets a sync in a process of its own
const CLIENTS = 4
const MAX_BYTES = 1_500_000
const ALIVE_MS = 500 // at most, from the first upload to a kill
const RECHECKED_UPLOADS = 16

type Content = { name: string; sha256: string; size: number }
type Upload = {
  request: UploadRequest | undefined
  key: string | undefined
  contents: Content[]
  answer: string | undefined
}
type Row = Content & { id: number }
type Totals = { kills: number; acknowledged: number; interrupted: number; syncs: number; rates: number }

const hashBytes = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const headers = { authorization: `Bearer ${TOKENS.all}` }
const today = () => currentDay(() => new Date())
const env = { CAMBISTA_BCCR_TOKEN: 'test-token' }

test('a server that is killed at random moments loses no acknowledged upload', async (t) => {
  const random = createRandom(SEED).next
  const bank = await startBank({ token: 'test-token', today })
  t.after(() => bank.close())
  figure(t, 'seed', SEED)
  const totals: Totals = { kills: 0, acknowledged: 0, interrupted: 0, syncs: 0, rates: 0 }
  // On a slow machine the kills meet few uploads. Then servers of more directories live longer.
  const needsMoreKills = () =>
    totals.interrupted < KILLS || totals.acknowledged < KILLS || totals.syncs < (LONG ? KILLS / 10 : 1)
  let aliveMs = ALIVE_MS
  while (totals.kills < KILLS || needsMoreKills()) {
    await killRepeatedly(t, bank, random, { totals, aliveMs })
    if (totals.kills >= KILLS) aliveMs *= 2
  }
  figure(t, 'kills', totals.kills)
  figure(t, 'uploads acknowledged, and cut off', `${totals.acknowledged}, ${totals.interrupted}`)
  figure(t, 'syncs cut off', totals.syncs)
  figure(t, 'rates found whole', totals.rates)
})

/** Kills the servers of one data directory, then starts one more. */
async function killRepeatedly(
  t: TestContext,
  bank: Bank,
  random: () => number,
  { totals, aliveMs }: { totals: Totals; aliveMs: number },
): Promise<void> {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const bankFlags = ['--bccr-url', bank.url, '--bccr-pace', '60', '--backfill-from', addDays(today(), -4000)]
  const dirFlags = ['--data-dir', dataDir]
  const allUploads: Upload[] = []
  for (let kill = 0; kill <= KILLS_PER_DIRECTORY; kill += 1) {
    const isLast = kill === KILLS_PER_DIRECTORY
    const hasOwnSync = isLast || kill % OWN_SYNC_EVERY === OWN_SYNC_EVERY - 1
    const flags = ['--port', '0', '--min-free', '0', ...(hasOwnSync ? ['--no-scheduler'] : bankFlags)]
    const server = startProgram(t, ['serve', ...dirFlags, ...flags], env, PROGRAM)
    const [, url = ''] = await server.waitForOutput(/url=(\S+)/)
    if (isLast || kill % 2 === 0) {
      const rows = await fetchRows(url)
      await until(() => areSwept(dataDir, rows)) // in other rounds uploads begin, and a kill may come, during the sweep
      checkFiles(dataDir, rows)
    }
    await checkUploads(url, isLast ? allUploads : allUploads.slice(-RECHECKED_UPLOADS))
    if (isLast) {
      server.child.kill('SIGTERM')
      assert.equal(await server.waitForExit(), 0)
      break
    }
    const victims: Program[] = [server]
    if (hasOwnSync) victims.push(startProgram(t, ['sync', ...dirFlags, ...bankFlags], env, PROGRAM))
    const newUploads: Upload[] = []
    const clients = Array.from({ length: CLIENTS }, (_, at) =>
      upload(url, `${kill}-${at}`, random, newUploads),
    )
    await wait(random() ** 2 * aliveMs)
    for (const { child } of victims) child.kill('SIGKILL')
    await Promise.all([...victims.map(({ waitForExit }) => waitForExit()), ...clients])
    totals.kills += 1
    totals.interrupted += newUploads.filter(({ answer }) => answer === undefined).length
    totals.acknowledged += newUploads.filter(({ answer }) => answer !== undefined).length
    allUploads.push(...newUploads)
    totals.rates += await checkDead(dataDir)
  }
  totals.syncs += await checkRuns(t, dataDir, [...dirFlags, ...bankFlags])
}

/** Uploads batches until the server is killed, and records its answers. */
async function upload(
  url: string,
  client: string,
  random: () => number,
  newUploads: Upload[],
): Promise<void> {
  for (let number = 0; ; number += 1) {
    const contents: Content[] = []
    const way = UPLOAD_FORM_NAMES[Math.floor(random() * UPLOAD_FORM_NAMES.length)] ?? 'JSON'
    const count = way === 'body' ? 1 : 1 + Math.floor(random() * 3)
    const documents = Array.from({ length: count }, (_, index) => {
      const bytes = randomBytes(1 + Math.floor(random() ** 4 * MAX_BYTES))
      const name = `${client}-${number}-${index}`
      contents.push({ name, sha256: hashBytes(bytes), size: bytes.length })
      return { name, mimetype: 'application/octet-stream', bytes }
    })
    const key = random() < 0.5 ? `${client}-${number}` : undefined
    const attempt: Upload = { request: UPLOAD_FORMS[way](documents), key, contents, answer: undefined }
    newUploads.push(attempt)
    attempt.answer = await post(url, attempt)
    if (attempt.answer === undefined) return
    if (!attempt.key) attempt.request = undefined // only repeated uploads need their request
  }
}

/** Posts an upload; undefined if the server died before its answer. */
async function post(url: string, { request, key }: Upload): Promise<string | undefined> {
  if (!request) throw new TypeError('this upload is not repeated')
  const { path, body } = request
  const keyHeader: Record<string, string> = key ? { 'idempotency-key': key } : {}
  const init = {
    method: 'POST',
    body: body as Uint8Array<ArrayBuffer>,
    headers: { ...headers, ...request.headers, ...keyHeader },
  }
  const response = await fetch(url + path, init).catch(() => {})
  const answer = await response?.text().catch(() => undefined)
  if (answer !== undefined) assert.equal(response?.status, 200, answer)
  return answer
}

/** Repeats uploads that have a key, then checks every batch. */
async function checkUploads(url: string, uploads: Upload[]): Promise<void> {
  for (const attempt of uploads.filter(({ key }) => key)) {
    const again = await post(url, attempt)
    assert.ok(again !== undefined, 'the server is gone')
    if (attempt.answer !== undefined) assert.equal(again, attempt.answer, `another answer to ${attempt.key}`)
    attempt.answer = again
  }
  const byName = Map.groupBy(await fetchRows(url), ({ name }) => name)
  for (const attempt of uploads) await checkBatch(url, byName, attempt)
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
  for (const [index, { name, sha256, size }] of contents.entries()) {
    assert.equal(rows[index]?.length, copies, `${name} is missing in its batch, or doubled`)
    const [row] = rows[index] ?? []
    if (!row) continue
    assert.deepEqual([row.sha256, row.size], [sha256, size], name)
    const response = await fetch(`${url}/api/v1/documents/${row.id}/content`, { headers })
    assert.equal(hashBytes(await response.bytes()), sha256, name)
  }
}

async function fetchRows(url: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let after = 0; ; after = rows.at(-1)?.id ?? 0) {
    const response = await fetch(`${url}/api/v1/documents?limit=200&after=${after}`, { headers })
    const page = (await response.json()) as { documents: Row[]; has_more: boolean }
    rows.push(...page.documents)
    if (!page.has_more) return rows
  }
}

/** Returns whether the blobs, beside those in `removed/`, are as many as the rows need. */
function areSwept(dataDir: string, rows: Row[]): boolean {
  const { blobs } = listBlobFiles(dataDir)
  return blobs.length === new Set(rows.map((row) => row.sha256)).size
}

function listBlobFiles(dataDir: string) {
  const options = { recursive: true, withFileTypes: true, encoding: 'utf8' } as const
  const removedFolder = join(dataDir, 'blobs', 'removed')
  const files = readdirSync(join(dataDir, 'blobs'), options).filter((entry) => entry.isFile())
  const { true: removedFiles = [], false: blobs = [] } = Object.groupBy(files, ({ parentPath }) =>
    parentPath === removedFolder ? 'true' : 'false',
  )
  return { removedFolder, removedFiles, blobs }
}

/**
 * Checks that rows and blobs match, and that no temporary file exists. Blobs in `removed/` are whole and
 * unreferenced.
 */
function checkFiles(dataDir: string, rows: Row[]): void {
  const { removedFolder, removedFiles, blobs } = listBlobFiles(dataDir)
  const hashes = new Set(rows.map((row) => row.sha256))
  assert.deepEqual(blobs.map(({ name }) => name).sort(), [...hashes].sort())
  for (const { name } of removedFiles) {
    const sha256 = createHash('sha256')
      .update(readFileSync(join(removedFolder, name)))
      .digest('hex')
    assert.match(name, new RegExp(`^\\d{4}-\\d\\d-\\d\\d\\.${sha256}$`))
    assert.ok(!hashes.has(sha256), name)
  }
}

/** Checks the database after a kill: sound, with no gap and no half chunk. Returns the number of rates. */
async function checkDead(dataDir: string): Promise<number> {
  const db = openDatabase(dataDir)
  try {
    assert.deepEqual(await findDatabaseFaults(db, { inPieces: false }), [])
    assert.deepEqual(await selectWrongSums(db), [])
    const [, ...older] = await selectRuns(db, { limit: 100 })
    for (const run of older) assert.notEqual(run.finished_at, null, `run ${run.id} was never closed`)
    return await checkComplete(db)
  } finally {
    await db.destroy()
  }
}

/** Syncs to the end, which closes interrupted runs as such. Returns the number of those runs. */
async function checkRuns(t: TestContext, dataDir: string, flags: string[]): Promise<number> {
  const sync = startProgram(t, ['sync', ...flags, '--bccr-pace', '0'], env, PROGRAM)
  assert.equal(await sync.waitForExit(), 0, sync.printed.err)
  const db = openDatabase(dataDir)
  try {
    const [last, ...older] = await selectRuns(db, { limit: 100 })
    assert.equal(last?.status, 'ok')
    const interrupted = older.filter(({ status }) => status !== 'ok')
    for (const run of interrupted) assert.deepEqual([run.status, run.message], ['error', 'interrupted'])
    await checkComplete(db)
    return interrupted.length
  } finally {
    await db.destroy()
  }
}
