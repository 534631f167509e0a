// Nodes that are killed at random moments during uploads to all of them. Acknowledged documents exist with their
// bytes on every node, and a start does not disturb uploads of other nodes.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { collectGarbage } from '../../../src/domain/documents/gc.ts'
import { openBlobStore } from '../../../src/store/blobs/open-blobs.ts'
import { inParallel } from '../../../src/store/blobs/parallel.ts'
import type { Lock } from '../../../src/store/engine.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { fillDatabase, TOKENS } from '../../support/directory.ts'
import { openNode } from '../../support/postgres/database.ts'
import { type Cluster, killProgram, type Node, openCluster } from '../../support/postgres/nodes.ts'
import { queryOnce } from '../../support/postgres/server.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { until } from '../../support/terminal.ts'

const KILLS = scaled({ short: 4, long: 300 })
const NODES = 3
const UPLOADERS = 6
const HEADERS = { authorization: `Bearer ${TOKENS.all}`, 'content-type': 'application/octet-stream' }

test(`a node is killed ${KILLS} times under uploads: what was acknowledged reads back right`, async (t) => {
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const cluster = await openCluster(t)
  await fillDatabase(cluster.dataDir)
  const nodes: Node[] = await Promise.all(Array.from({ length: NODES }, () => cluster.start()))
  for (const { url } of nodes) {
    await until(async () => (await fetch(`${url}/api/v1/documents`, { headers: HEADERS })).status === 200)
  }
  const acknowledged = new Map<number, string>()
  const statuses: Record<string, number> = {}
  let hasEnded = false
  const uploading = Array.from({ length: UPLOADERS }, async (_, uploader) => {
    for (let at = 0; !hasEnded; at++) {
      const node = nodes[random.int(0, nodes.length - 1)]
      if (!node) continue
      const content = randomBytes(random.chance(0.2) ? random.int(100_000, 400_000) : random.int(1, 4000))
      const path = `${node.url}/api/v1/documents?company_id=1&agent_id=1&owner_id=1&name=of-${uploader}-${at}.bin`
      try {
        const answer = await fetch(path, { method: 'POST', headers: HEADERS, body: content })
        const body = await answer.text()
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
        assert.ok(answer.status === 200 || answer.status === 503, `${answer.status} ${body}`)
        if (answer.status !== 200) continue
        const [made] = (JSON.parse(body) as { created_documents: { id: number }[] }).created_documents
        assert.ok(made && !acknowledged.has(made.id), body)
        acknowledged.set(made.id, hashBytes(content))
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        statuses.cut = (statuses.cut ?? 0) + 1 // the node was killed: nothing was acknowledged
        await wait(5)
      }
    }
  })
  const killing = async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      await wait(random.int(0, 150))
      const at = random.int(0, nodes.length - 1)
      const [node] = nodes.splice(at, 1)
      assert.ok(node)
      await killProgram(node)
      nodes.push(await cluster.start())
    }
  }
  await Promise.all([
    killing().finally(() => {
      hasEnded = true
    }),
    ...uploading,
  ])
  figure(t, 'answers', JSON.stringify(statuses))
  assert.ok(acknowledged.size > KILLS, `${acknowledged.size} were acknowledged`)
  let turn = 0
  const readAll = () =>
    inParallel([...acknowledged], 4, async ([id, sha256]) => {
      const { url } = nodes[turn++ % nodes.length] as Node
      const answer = await fetch(`${url}/api/v1/documents/${id}/content`, { headers: HEADERS })
      assert.equal(answer.status, 200, `document ${id}`)
      assert.equal(hashBytes(Buffer.from(await answer.arrayBuffer())), sha256, `document ${id}`)
    })
  await readAll()
  const referenced = new Set(
    (await cluster.db.selectFrom('attachments').select('sha256').execute()).map(({ sha256 }) => sha256),
  )
  const before = listFiles(cluster)
  await sweepAsOld(t, cluster)
  const { contents, unfinished } = listFiles(cluster)
  figure(
    t,
    'orphans and unfinished files before, and after',
    [
      ...[before.contents.length - referenced.size, before.unfinished.length],
      ...[contents.length - referenced.size, unfinished.length],
    ].join(' '),
  )
  assert.deepEqual(contents, [...referenced].sort())
  assert.deepEqual(unfinished, [])
  await readAll()
})

/** Collects garbage as if everything were old enough. */
async function sweepAsOld(t: TestContext, { env, db }: Cluster): Promise<void> {
  const engine = await openNode(t, env.CAMBISTA_DATABASE ?? '')
  const place = { dataDir: '', blobs: { folder: env.CAMBISTA_BLOBS ?? '' } }
  using opened = await openBlobStore(place, engine)
  const lock = await untilFree(() => engine.takeLock('janitor'))
  await queryOnce(env.CAMBISTA_DATABASE ?? '', 'update meta set contents_listed_at = null')
  const clock = () => new Date('2999-01-01T00:00:00Z')
  const sweep = { db, clock, blobs: opened.blobs, keepRemovedDays: 0 }
  await collectGarbage(sweep, lock, new AbortController().signal)
  await lock.release()
}

async function untilFree(take: () => Promise<Lock | undefined>): Promise<Lock> {
  let lock: Lock | undefined
  await until(async () => {
    lock = await take()
    return lock !== undefined
  })
  assert.ok(lock)
  return lock
}

/** Names of blobs, sorted, and of unfinished files. */
function listFiles({ env }: Cluster): { contents: string[]; unfinished: string[] } {
  const dir = env.CAMBISTA_BLOBS ?? ''
  const names = (readdirSync(dir, { recursive: true }) as string[]).map(
    (path) => path.split('/').at(-1) ?? '',
  )
  return {
    contents: names.filter((name) => /^[0-9a-f]{64}$/.test(name)).sort(),
    unfinished: readdirSync(join(dir, 'tmp')),
  }
}

function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
