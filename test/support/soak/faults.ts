// Faults of nodes, database and bucket during the soak. Nodes and database fail one after the other, the bucket in
// parallel. At its end, killed nodes are started again and frozen ones resume.

import { setTimeout as pause } from 'node:timers/promises'
import { LONG } from '../../faults/scale.ts'
import type { BucketFault, FakeBucket } from '../bucket/fake-bucket.ts'
import type { Node } from '../postgres/nodes.ts'
import { queryOnce as askPostgres, type PostgresServer } from '../postgres/server.ts'
import type { Random } from '../rates/random-bank.ts'
import { count, fault, type Soak } from './world.ts'

const CUT_CONNECTIONS = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'cambista' and pid <> pg_backend_pid() order by random() limit 5`

export type Ground = {
  nodes: Node[]
  server: PostgresServer
  start(): Promise<Node>
}

/** Makes nodes fail until the soak is over. */
export async function harmNodes(soak: Soak, ground: Ground): Promise<void> {
  const { random } = soak
  while (!soak.isOver) {
    await pause(random.int(0, 3000))
    if (soak.isOver) break
    const draw = random.next()
    if (draw < 0.8) await replaceNode(soak, ground, 'SIGKILL')
    else if (draw < 0.88) await replaceNode(soak, ground, 'SIGTERM')
    else await freezeNode(soak, ground)
  }
}

/** Makes the database fail, in parallel to the nodes. */
export async function harmDatabase(soak: Soak, ground: Ground): Promise<void> {
  const { random } = soak
  while (!soak.isOver) {
    await pause(random.int(2000, 15_000))
    if (soak.isOver) break
    const draw = random.next()
    if (draw < 0.3) await restartDatabase(soak, ground, 'stop')
    else if (draw < 0.6) await restartDatabase(soak, ground, 'crash')
    else if (draw < 0.8) await freezeDatabase(soak, ground)
    else await cutConnections(soak, ground)
  }
}

/** Records the unexpected end of a node. */
export function watchNode(soak: Soak, node: Node, isExpected: (node: Node) => boolean): void {
  void node.waitForExit().then((end) => {
    const { err } = node.printed
    for (const [, event] of err.matchAll(/^\S+ error ([a-z ]+)/gm)) count(soak, `log: ${event?.trim()}`)
    if (/unhandled/i.test(err)) fault(soak, `a node says: ${/.*unhandled.*/i.exec(err)?.[0]}`)
    if (!isExpected(node)) fault(soak, `a node ended by itself with ${end}: ${node.printed.err.slice(-2000)}`)
  })
}

async function replaceNode(
  soak: Soak,
  { nodes, start }: Ground,
  signal: 'SIGKILL' | 'SIGTERM',
): Promise<void> {
  const [node] = nodes.splice(soak.random.int(0, nodes.length - 1), 1)
  if (!node) return
  node.child.kill(signal)
  const end = await node.waitForExit()
  if (signal === 'SIGTERM' && end !== 0) fault(soak, `a node ended with ${end} when it was asked to`)
  count(soak, `nodes ended by ${signal}`)
  nodes.push(await start())
}

/** Freezes a node, in some cases for longer than its leases, so that it resumes without them. */
async function freezeNode(soak: Soak, { nodes }: Ground): Promise<void> {
  const { random } = soak
  const node = nodes[random.int(0, nodes.length - 1)]
  node?.child.kill('SIGSTOP')
  await pause(random.chance(LONG ? 0.3 : 0) ? random.int(15_000, 20_000) : random.int(500, 5000))
  node?.child.kill('SIGCONT')
  count(soak, 'nodes stopped for seconds')
}

async function restartDatabase(soak: Soak, { server }: Ground, how: 'stop' | 'crash'): Promise<void> {
  const { random } = soak
  await server[how]()
  await pause(random.chance(LONG ? 0.15 : 0) ? random.int(10_000, 15_000) : random.int(0, 4000))
  await server.start()
  count(soak, `database: ${how}`)
}

async function freezeDatabase(soak: Soak, { server }: Ground): Promise<void> {
  const { random } = soak
  const resume = server.freeze()
  await pause(random.chance(LONG ? 0.2 : 0) ? random.int(10_000, 15_000) : random.int(300, 6000))
  resume()
  count(soak, 'database stopped for seconds')
}

async function cutConnections(soak: Soak, { server }: Ground): Promise<void> {
  for (let turn = soak.random.int(1, 20); turn > 0; turn--) {
    await askPostgres(server.url, CUT_CONNECTIONS)
    await pause(20)
  }
  count(soak, 'connections cut for a while')
}

/** Makes the bucket fail, in some calls or for most of some seconds, and counts its faults. */
export function harmBucket(soak: Soak, bucket: FakeBucket, random: Random): void {
  let stormEnds = 0
  bucket.faults = () => {
    if (bucket.calls.length > 1000) bucket.calls.length = 0
    if (soak.isOver) return undefined
    const now = performance.now()
    if (random.chance(0.0005)) stormEnds = now + random.int(1000, 8000)
    if (!random.chance(now < stormEnds ? 0.6 : 0.03)) return undefined
    const fault = randomFault(random)
    count(soak, `bucket: ${typeof fault === 'string' ? fault : Object.keys(fault)[0]}`)
    return fault
  }
}

function randomFault(random: Random): BucketFault {
  const draw = random.int(0, 7)
  if (draw === 0) return 'drop'
  if (draw === 1) return 'deaf'
  if (draw === 2) return 'InternalError'
  if (draw === 3) return { delayMs: random.int(10, 3000) }
  if (draw === 4) return { cutAt: random.int(0, 2000) }
  return 'SlowDown'
}
