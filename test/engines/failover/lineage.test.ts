// Databases that fail over or go back while nodes use them. No id and no epoch is given twice, lost documents are
// listed, and a former primary is not written to.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { createPostgresDb } from '../../../src/store/postgres/open-postgres.ts'
import { batch, CREATE, fillTables, pdf, TOKENS } from '../../support/directory.ts'
import { type Cluster, type Node, openCluster } from '../../support/postgres/nodes.ts'
import { type PostgresServer, queryOnce, startPostgres } from '../../support/postgres/server.ts'
import {
  makeBaseBackup,
  pauseReplication,
  promote,
  startStandby,
  waitUntilReplayed,
} from '../../support/postgres/standby.ts'
import { type Switch, startSwitch } from '../../support/postgres/switch.ts'
import { until } from '../../support/terminal.ts'

const POOL = { size: 1, answerMs: 10_000 }
const MILLION = 1_000_000
const FAILED_OVER = /the database failed over: its data have a new epoch/g

test('an asynchronous failover gives no id twice, and lists the lost documents', async (t) => {
  const { key, primary, standby, entry, cluster, nodes } = await startCluster(t)
  const [node, other] = nodes
  const fetchTag = async ({ url }: Node) =>
    (await fetch(`${url}/api/v1/series`, { headers: { 'x-api-key': key } })).headers.get('etag')
  await upload(node, 'kept')
  await waitUntilReplayed(primary, standby)
  const before = await fetchTag(node)
  await pauseReplication(standby)
  const lostIds = [await upload(node, 'lost 1'), await upload(other, 'lost 2')]
  assert.equal((await documents(other)).length, 3)
  await primary.crash()
  await promote(standby)
  entry.lead(standby)
  const promotionTime = performance.now()
  const answer = await uploadUntilStored(node, 'later')
  t.diagnostic(`stored again after ${Math.round(performance.now() - promotionTime)} ms`)
  assert.ok(answer > MILLION, `${answer} is above all ids that were given`)
  assert.ok(!lostIds.includes(answer))
  await until(async () => (await probe(other, '/readyz')) === 200)
  const cursor = Math.max(...lostIds)
  assert.deepEqual(
    (await documents(other, cursor)).map(({ id }) => id),
    [answer],
    'a reader at a cursor beyond the end sees what follows',
  )
  for (const one of nodes) await until(async () => (await fetchTag(one)) !== before)
  const countLogged = () => nodes.map((one) => one.printed.err.match(FAILED_OVER)?.length ?? 0)
  await until(() => countLogged().some((lines) => lines > 0)) // the other node may be ready before that line

  assert.deepEqual(await listLost(cluster), ['lost 1', 'lost 2'].map(hash).sort())
  await until(async () => (await losses(node, key))?.contents === 2)
  await upload(other, 'lost 1')
  assert.equal((await losses(node, key))?.contents, 1, 'an upload of the same bytes heals')
  await cluster.program('database', 'accept-loss').waitForExit()
  assert.equal(await losses(node, key), undefined)
  assert.deepEqual(countLogged().sort(), [0, 1], 'one node renews, and says so once')
})

test('two standbys of one primary, promoted one after the other, give no id twice', async (t) => {
  const { primary, standby, entry, nodes } = await startCluster(t)
  const other = await startStandby(primary)
  t.after(() => other.close())
  await upload(nodes[0], 'kept')
  for (const one of [standby, other]) await waitUntilReplayed(primary, one)
  await primary.crash()
  await promote(standby)
  entry.lead(standby)
  const lostIds = [await uploadUntilStored(nodes[0], 'lost 1'), await uploadUntilStored(nodes[1], 'lost 2')]
  await standby.crash()
  await promote(other) // to the same timeline, for it does not know of the first promotion
  entry.lead(other)
  const laterIds = [
    await uploadUntilStored(nodes[1], 'later 1'),
    await uploadUntilStored(nodes[0], 'later 2'),
  ]
  assert.deepEqual(
    laterIds.filter((id) => id <= Math.max(...lostIds)),
    [],
  )
  for (const one of nodes) assert.equal((await documents(one, Math.max(...lostIds))).length, 2)
})

test('a former primary that goes on is neither ready nor written to', async (t) => {
  const { primary, standby, entry, cluster, nodes } = await startCluster(t)
  const [node, isolated] = nodes
  const ownEntry = await startSwitch(t, primary)
  isolated.child.kill()
  await isolated.waitForExit()
  const alone = await cluster.start('--no-scheduler', '--database', ownEntry.url)
  await waitUntilReplayed(primary, standby)
  await pauseReplication(standby)
  await promote(standby)
  entry.lead(standby)
  await uploadUntilStored(node, 'on the new primary')
  const from = performance.now()
  await until(async () => (await probe(alone, '/readyz')) === 503)
  t.diagnostic(`not ready after ${Math.round(performance.now() - from)} ms`)
  const [{ documents: count } = {}] = await queryOnce(
    primary.url,
    'select count(*)::int as documents from documents',
  )
  assert.equal((await post(alone, 'on the former primary')).status, 503)
  assert.deepEqual(await queryOnce(primary.url, 'select count(*)::int as documents from documents'), [
    { documents: count },
  ])
  await until(() => /must not write.+former primary \(timeline 1 after 2\)/.test(alone.printed.err))
  ownEntry.lead(standby)
  await until(async () => (await probe(alone, '/readyz')) === 200)
  const id = await upload(alone, 'again')
  assert.ok(id > MILLION)

  for (const one of [entry, ownEntry]) one.lead(primary) // as a thawed primary that takes the lock back
  const reason = /former primary \(timeline 1 after 2\)/
  await until(async () => reason.test(await (await fetch(`${alone.url}/readyz`)).text()))
  for (const one of [node, alone]) {
    one.child.kill()
    await one.waitForExit()
  }
  await cluster.command('database', 'restored')
  const restarted = await cluster.start('--no-scheduler')
  assert.ok((await upload(restarted, 'after the loss')) > id)
  assert.deepEqual(await listLost(cluster), ['again', 'on the new primary'].map(hash).sort())
})

test('nodes notice a base backup that is put back, give no id twice, and list the lost documents', async (t) => {
  const { primary, entry, cluster, nodes } = await startCluster(t)
  const [node, other] = nodes
  await upload(node, 'in the backup')
  const putBack = await makeBaseBackup(primary)
  const lostIds = [await upload(node, 'lost 1'), await upload(other, 'lost 2')]
  await putBack()
  entry.lead(primary)
  const later = await uploadUntilStored(node, 'later')
  assert.ok(later > MILLION && !lostIds.includes(later), `${later} is above all ids that were given`)
  const logged = () =>
    nodes.flatMap((one) => one.printed.err.match(/the database lost what clients know/g) ?? [])
  await until(() => logged().length > 0) // the other node may store before that line
  assert.deepEqual(await listLost(cluster), ['lost 1', 'lost 2'].map(hash).sort())
  assert.equal(logged().length, 1, 'one node renews, and says so once')
})

test('a base backup that is put back while no node runs is noticed by the next one', async (t) => {
  const { primary, entry, cluster, nodes } = await startCluster(t)
  await upload(nodes[0], 'in the backup')
  const putBack = await makeBaseBackup(primary)
  const lostId = await upload(nodes[0], 'lost')
  for (const one of nodes) {
    one.child.kill()
    await one.waitForExit()
  }
  await putBack()
  entry.lead(primary)
  const next = await cluster.start()
  const later = await uploadUntilStored(next, 'later')
  assert.ok(later > MILLION && later !== lostId, `${later} is above all ids that were given`)
  assert.deepEqual(await listLost(cluster), [hash('lost')])
})

/** Returns the hashes of the contents that doctor lists, sorted. */
async function listLost(cluster: Cluster): Promise<(string | undefined)[]> {
  const doctor = cluster.program('doctor')
  assert.equal(await doctor.waitForExit(), 1)
  return [...doctor.printed.out.matchAll(/content (\w{64}) of \d+ bytes/g)].map(([, hash]) => hash).sort()
}

type Setup = {
  /** A key of the rates API. */
  key: string
  primary: PostgresServer
  standby: PostgresServer
  entry: Switch
  cluster: Cluster
  nodes: [Node, Node]
}

async function startCluster(t: TestContext): Promise<Setup> {
  const primary = await startPostgres()
  let standby: PostgresServer | undefined
  t.after(async () => {
    // A primary that was put back never ends beside a standby that is ahead of it.
    await standby?.close()
    await primary.close()
  })
  const entry = await startSwitch(t, primary)
  const cluster = await openCluster(t, entry.url)
  const node = await cluster.start()
  const db = createPostgresDb(parseAddress(primary.url), POOL)
  await fillTables(db)
  await db.destroy()
  const { out } = await cluster.command('key', 'create', 'test')
  const [key = ''] = /cb\w+_\w+/.exec(out) ?? []
  standby = await startStandby(primary)
  return { key, primary, standby, entry, cluster, nodes: [node, await cluster.start()] }
}

function post(node: Node, text: string): Promise<Response> {
  return fetch(node.url + CREATE, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKENS.all}` },
    body: JSON.stringify(batch(pdf(text))),
  })
}

async function upload(node: Node, text: string): Promise<number> {
  const response = await post(node, text)
  const body = await response.text()
  assert.equal(response.status, 200, body)
  return (
    (JSON.parse(body) as { created_documents: { id: number }[] }).created_documents[0]?.id ??
    assert.fail(body)
  )
}

async function uploadUntilStored(node: Node, text: string): Promise<number> {
  while (true) {
    const response = await post(node, text)
    const body = await response.text()
    if (response.status === 200) return JSON.parse(body).created_documents[0].id
    assert.equal(response.status, 503, body)
    assert.ok(response.headers.get('retry-after'), body)
    await wait(20)
  }
}

async function documents(node: Node, after = 0): Promise<{ id: number }[]> {
  const response = await fetch(`${node.url}/api/v1/documents?after=${after}`, {
    headers: { authorization: `Bearer ${TOKENS.all}` },
  })
  return ((await response.json()) as { documents: { id: number }[] }).documents
}

async function probe(node: Node, path: string): Promise<number> {
  const response = await fetch(node.url + path)
  await response.text()
  return response.status
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

async function losses({ url }: Node, key: string): Promise<{ contents: number } | undefined> {
  const response = await fetch(`${url}/api/v1/status`, { headers: { 'x-api-key': key } })
  return ((await response.json()) as { losses?: { contents: number } }).losses
}
