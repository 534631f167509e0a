// A server that is killed with SIGKILL at random moments while several clients upload, and started again: what it
// said 200 to is all there, of the rest every batch is whole or not there at all. CAMBISTA_KILLS sets how often,
// CAMBISTA_SEED repeats a run as far as time allows it.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { temporaryDirectory } from '../support/app.ts'
import { batch, CREATE, fillDatabase, TOKENS } from '../support/directory.ts'
import { type Program, startProgram } from '../support/program.ts'
import { randomOf } from '../support/random-bank.ts'

const KILLS = Number(process.env.CAMBISTA_KILLS ?? 6)
const SEED = Number(process.env.CAMBISTA_SEED ?? Date.now() % 1_000_000)
const CLIENTS = 4
const LARGEST = 3_000_000

type Content = { name: string; sha256: string; size: number }
type Upload = { body: string; key: string | undefined; contents: Content[]; answer: string | undefined }
type Row = Content & { id: number }

const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const headers = { authorization: `Bearer ${TOKENS.all}` }

async function serve(t: TestContext, dataDir: string): Promise<{ server: Program; url: string }> {
  const flags = ['--data-dir', dataDir, '--port', '0', '--no-scheduler', '--min-free', '0']
  const server = startProgram(t, ['serve', ...flags])
  const [, url = ''] = await server.says(/url=(\S+)/)
  return { server, url }
}

/** Sends it; undefined when the server died before it had answered. */
async function send(url: string, { body, key }: Upload): Promise<string | undefined> {
  const more: Record<string, string> = key ? { 'idempotency-key': key } : {}
  const response = await fetch(url + CREATE, {
    method: 'POST',
    body,
    headers: { ...headers, ...more },
  }).catch(() => {})
  const answer = await response?.text().catch(() => undefined)
  if (answer !== undefined) assert.equal(response?.status, 200, answer)
  return answer
}

/** Uploads one batch after the other until the server is gone, and notes down what it was told. */
async function upload(url: string, client: string, random: () => number, sent: Upload[]): Promise<void> {
  for (let number = 0; ; number += 1) {
    const contents: Content[] = []
    const documents = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, place) => {
      const bytes = randomBytes(1 + Math.floor(random() ** 4 * LARGEST))
      const name = `${client}-${number}-${place}`
      contents.push({ name, sha256: sha256Of(bytes), size: bytes.length })
      return { name, mimetype: 'application/octet-stream', base64: bytes.toString('base64') }
    })
    const key = random() < 0.5 ? `${client}-${number}` : undefined
    const one: Upload = { body: JSON.stringify(batch(...documents)), key, contents, answer: undefined }
    sent.push(one)
    one.answer = await send(url, one)
    if (one.answer === undefined) return
    if (!one.key) one.body = '' // only what is sent again is needed any longer
  }
}

async function rowsOf(url: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let after = 0; ; after = rows.at(-1)?.id ?? 0) {
    const response = await fetch(`${url}/api/v1/documents?limit=200&after=${after}`, { headers })
    const { documents, next_after } = (await response.json()) as {
      documents: Row[]
      next_after: number | null
    }
    rows.push(...documents)
    if (next_after === null) return rows
  }
}

function checkFiles(dataDir: string, rows: Row[]): void {
  const files = readdirSync(join(dataDir, 'blobs'), {
    recursive: true,
    withFileTypes: true,
    encoding: 'utf8',
  })
  const names = files.filter((entry) => entry.isFile()).map(({ name }) => name)
  assert.deepEqual(names.sort(), [...new Set(rows.map(({ sha256 }) => sha256))].sort())
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

test(`killed ${KILLS} times during uploads, it has lost nothing that it acknowledged`, async (t) => {
  t.diagnostic(`CAMBISTA_SEED=${SEED}`)
  const random = randomOf(SEED).next
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const all: Upload[] = []
  let interrupted = 0
  for (let kill = 0; kill <= KILLS; kill += 1) {
    const { server, url } = await serve(t, dataDir)
    checkFiles(dataDir, await rowsOf(url)) // as the sweep left it, before anything is sent
    for (const one of all.filter(({ key }) => key)) {
      const again = await send(url, one)
      if (one.answer !== undefined) assert.equal(again, one.answer, `another answer to ${one.key}`)
      one.answer = again
    }
    const byName = Map.groupBy(await rowsOf(url), ({ name }) => name)
    for (const one of all) await checkBatch(url, byName, one)
    if (kill === KILLS) break

    const sent: Upload[] = []
    const clients = Array.from({ length: CLIENTS }, (_, at) => upload(url, `${kill}-${at}`, random, sent))
    await wait(random() ** 2 * 800)
    server.child.kill('SIGKILL')
    await Promise.all([once(server.child, 'close'), ...clients])
    interrupted += sent.filter(({ answer }) => answer === undefined).length
    // What was answered in earlier rounds was looked at; of each client the last ones are looked at again.
    all.splice(0, Math.max(0, all.length - 40))
    all.push(...sent)
    const database = new Sqlite(join(dataDir, 'cambista.db'), { readonly: true })
    assert.equal(database.pragma('integrity_check', { simple: true }), 'ok')
    database.close()
  }
  assert.ok(interrupted >= KILLS, 'the kills met hardly any upload')
})
