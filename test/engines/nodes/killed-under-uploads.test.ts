// Nodes that are killed at any moment while documents are uploaded to all of them: what was acknowledged is there, with its
// bytes, on every node, and a start takes nothing from an upload of another node.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { inParallel } from '../../../src/store/blobs/parallel.ts'
import { figure, SEED, scaled } from '../../faults/scale.ts'
import { fillDatabase, TOKENS } from '../../support/directory.ts'
import { killed, type Node, openCluster } from '../../support/postgres/nodes.ts'
import { randomOf } from '../../support/rates/random-bank.ts'
import { until } from '../../support/terminal.ts'

const KILLS = scaled({ short: 30, long: 300 })
const NODES = 3
const UPLOADERS = 6
const HEADERS = { authorization: `Bearer ${TOKENS.all}`, 'content-type': 'application/octet-stream' }

test(`a node is killed ${KILLS} times under uploads: what was acknowledged reads back right`, async (t) => {
  figure(t, 'seed', SEED)
  const random = randomOf(SEED)
  const cluster = await openCluster(t)
  await fillDatabase(cluster.dataDir)
  const nodes: Node[] = await Promise.all(Array.from({ length: NODES }, () => cluster.start()))
  for (const { url } of nodes) {
    await until(async () => (await fetch(`${url}/api/v1/documents`, { headers: HEADERS })).status === 200)
  }
  const kept = new Map<number, string>()
  const statuses: Record<string, number> = {}
  let isOver = false
  const uploading = Array.from({ length: UPLOADERS }, async (_, uploader) => {
    for (let at = 0; !isOver; at++) {
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
        assert.ok(made && !kept.has(made.id), body)
        kept.set(made.id, sha256Of(content))
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        statuses.cut = (statuses.cut ?? 0) + 1 // the node is no more: nothing was acknowledged
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
      await killed(node)
      nodes.push(await cluster.start())
    }
  }
  await Promise.all([
    killing().finally(() => {
      isOver = true
    }),
    ...uploading,
  ])
  figure(t, 'answers', JSON.stringify(statuses))
  assert.ok(kept.size > KILLS, `${kept.size} were acknowledged`)
  let turn = 0
  await inParallel([...kept], 4, async ([id, sha256]) => {
    const { url } = nodes[turn++ % nodes.length] as Node
    const answer = await fetch(`${url}/api/v1/documents/${id}/content`, { headers: HEADERS })
    assert.equal(answer.status, 200, `document ${id}`)
    assert.equal(sha256Of(Buffer.from(await answer.arrayBuffer())), sha256, `document ${id}`)
  })
})

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
