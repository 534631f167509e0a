// Three PostgreSQL of Debian under Patroni, with one etcd, behind HAProxy, each on a host of its own (network.ts). A
// test switches over, kills, freezes and cuts off members. Only the long form of tests uses it. A failover takes 10 to
// 20 seconds, for the term of a primary is 8 (settings.ts).
//
// Debian: patroni etcd-server haproxy postgresql-15 python3-psycopg2.

import { accessSync, chownSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { TIMELINE_SQL } from '../../../src/store/postgres/lineage.ts'
import { NOBODY, queryOnce } from '../postgres/server.ts'
import { freezeProcesses, signal } from '../signals.ts'
import { until } from '../terminal.ts'
import { openNetwork } from './network.ts'
import {
  ETCD_PORT,
  haproxySettings,
  type Member,
  type PatroniMode,
  POSTGRES_BIN,
  POSTGRES_PORT,
  patroniSettings,
  REST_PORT,
} from './settings.ts'

export type PatroniCluster = {
  /** Address through HAProxy. */
  url: string
  members: readonly Member[]
  /** Address of one member, past HAProxy. */
  memberUrl(member: Member): string
  /** Member whose Patroni answers as the primary; undefined during a failover. */
  primary(): Promise<Member | undefined>
  /** Waits for a primary that is another member. */
  nextPrimary(former: Member): Promise<Member>
  /** Hands the role of the primary over to a standby, and waits for it. */
  switchover(): Promise<Member>
  /** Kills Patroni and PostgreSQL of a member at once. */
  kill(member: Member): Promise<void>
  /** Starts a killed member. */
  start(member: Member): void
  /** Freezes all processes of a member; the returned function resumes them. */
  freeze(member: Member): () => void
  /** Cuts the network of a member. */
  cut(member: Member): void
  /** Ends `cut`. */
  mend(member: Member): void
  /**
   * Waits until a primary has two standbys that replicate, on one timeline. Kills members that stay as they are, and
   * starts them again: Patroni 3.0.2 may wait for ever.
   */
  waitUntilHealthy(): Promise<Member>
  /** Number of members that `waitUntilHealthy` has killed. */
  repairs: number
  /** Timeline of the primary behind HAProxy, recorded for `wentBack`. */
  timeline(): Promise<number>
  /** True: a member was the primary of an earlier timeline, or of one that began with another member. */
  wentBack: boolean
  close(): Promise<void>
}

type MemberState = {
  name: string
  host: string
  role: string
  state: string
  timeline?: number
  lag?: number | string
}

const MEMBERS = 3
const [ETCD_HOST, HAPROXY_HOST] = [4, 5]
const HEALTHY_WITHIN_MS = 90_000 // a thawed member starts again, which takes a minute on a busy machine
const MOST_REPAIRS = 5
const REST_MS = 2000
const PROGRAMS = ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/sbin/haproxy', `${POSTGRES_BIN}/postgres`]

/** Starts a cluster and waits until it is healthy. Stopped when the test ends. */
export async function startPatroni(
  t: Pick<TestContext, 'after'>,
  mode: PatroniMode,
): Promise<PatroniCluster> {
  for (const program of PROGRAMS) accessSync(program) // a missing package is an error with the name of its program
  const root = makeDirectory(mkdtempSync(join(tmpdir(), 'cambista-patroni-')))
  const network = openNetwork(MEMBERS + 2, root)
  t.after(() => network.close())
  const etcdHost = network.address(ETCD_HOST)
  const members = Array.from({ length: MEMBERS }, (_, at): Member => {
    const dir = makeDirectory(join(root, `m${at + 1}`))
    return { name: `m${at + 1}`, host: network.address(at + 1), dir }
  })
  const hostNumber = (member: Member) => members.indexOf(member) + 1
  const etcdUrls = ['client', 'peer'].flatMap((kind, at) => {
    const url = `http://${etcdHost}:${ETCD_PORT + at}`
    const advertise = kind === 'peer' ? '--initial-advertise-peer-urls' : '--advertise-client-urls'
    return [`--listen-${kind}-urls`, url, advertise, url]
  })
  const initial = ['--initial-cluster', `default=http://${etcdHost}:${ETCD_PORT + 1}`]
  const etcd = ['etcd', '--data-dir', join(root, 'etcd'), ...etcdUrls, ...initial]
  network.run(ETCD_HOST, etcd, join(root, 'etcd.log'))
  const haproxy = join(root, 'haproxy.cfg')
  writeFileSync(haproxy, haproxySettings(members))
  network.run(HAPROXY_HOST, ['haproxy', '-db', '-f', haproxy], join(root, 'haproxy.log'))
  const memberUrl = ({ host }: Member) =>
    `postgres://cambista@${host}:${POSTGRES_PORT}/postgres?sslmode=disable`
  const primaryOfTimeline = new Map<number, string>() // a promotion begins a timeline
  const record = (host: string, timeline: number) => {
    const isEarlier = timeline < Math.max(...primaryOfTimeline.keys())
    if (isEarlier || primaryOfTimeline.getOrInsert(timeline, host) !== host) cluster.wentBack = true
  }
  const cluster: PatroniCluster = {
    url: memberUrl({ host: network.address(HAPROXY_HOST) } as Member),
    ...{ members, memberUrl },
    async primary() {
      const answers = await Promise.all(
        members.map(async (one) => [one, await request(one, 'primary')] as const),
      )
      return answers.find(([, answer]) => answer?.ok)?.[0]
    },
    async nextPrimary(former) {
      let next: Member | undefined
      await until(async () => {
        next = await cluster.primary()
        return next !== undefined && next !== former
      }, HEALTHY_WITHIN_MS)
      return next as Member
    },
    async switchover() {
      const former = await cluster.waitUntilHealthy()
      const body = JSON.stringify({ leader: former.name })
      const answer = await request(former, 'switchover', { method: 'POST', body })
      if (answer && !answer.ok) throw new Error(`switchover: ${answer.status} ${await answer.text()}`)
      return cluster.nextPrimary(former)
    },
    async kill(member) {
      await until(() => {
        const ids = network.processes(hostNumber(member))
        for (const id of ids) signal(id, 'SIGKILL')
        return ids.length === 0
      })
    },
    start: (member) => {
      network.run(hostNumber(member), ['patroni', join(member.dir, 'patroni.yml')], join(member.dir, 'log'))
    },
    freeze: (member) => freezeProcesses(network.processes(hostNumber(member))),
    cut: (member) => network.cut(hostNumber(member)),
    mend: (member) => network.mend(hostNumber(member)),
    repairs: 0,
    async waitUntilHealthy() {
      for (let attempt = 0; ; attempt++) {
        let primary: Member | undefined
        let states: MemberState[] = []
        const isReached = await until(async () => {
          primary = await cluster.primary()
          states = primary ? await memberStates(primary) : []
          return isHealthy(states, mode)
        }, HEALTHY_WITHIN_MS).then(
          () => true,
          () => false,
        )
        if (isReached) return primary as Member
        if (attempt === MOST_REPAIRS) {
          const logs = members.map(
            ({ name, dir }) => `${name}: ${readFileSync(join(dir, 'log'), 'utf8').slice(-1500)}`,
          )
          throw new Error(`the cluster is ${JSON.stringify(states)}\n${logs.join('\n')}`)
        }
        const leader = states.find(({ role }) => role === 'leader')
        if (leader?.timeline !== undefined) record(leader.host, leader.timeline)
        for (const member of listStuck(members, primary, states)) {
          process.stderr.write(`killed ${member.name}: ${JSON.stringify(states)}\n`)
          await cluster.kill(member)
          cluster.start(member)
          cluster.repairs++
        }
      }
    },
    async timeline() {
      const query = `select ${TIMELINE_SQL} as timeline, inet_server_addr() as host`
      let row: Record<string, unknown> | undefined
      await until(async () => {
        row = (await queryOnce(cluster.url, query).catch(() => []))[0] // HAProxy may check a moment later
        return row !== undefined
      })
      const timeline = Number(row?.timeline)
      record(String(row?.host), timeline)
      return timeline
    },
    wentBack: false,
    close: () => network.close(),
  }
  for (const member of members) {
    writeFileSync(join(member.dir, 'patroni.yml'), patroniSettings(member, etcdHost, mode))
    cluster.start(member)
  }
  await cluster.waitUntilHealthy()
  await cluster.timeline()
  return cluster
}

function isHealthy(states: readonly MemberState[], mode: PatroniMode): boolean {
  const standbys = states.filter(({ role }) => role !== 'leader')
  const timelines = new Set(states.map(({ timeline }) => timeline))
  const isSynchronous = standbys.some(({ role }) => role === 'sync_standby')
  return (
    standbys.length === MEMBERS - 1 &&
    timelines.size === 1 &&
    standbys.every(isReplicating) &&
    (mode === 'asynchronous' || isSynchronous)
  )
}

const isReplicating = ({ state, lag }: MemberState) =>
  /^(running|streaming)$/.test(state) && typeof lag === 'number'

/**
 * Standbys that do not follow the primary; without such, the primary itself. A thawed primary may take the lock back.
 * Its log then repeats "Synchronous replication key updated by someone else" for ever.
 */
function listStuck(
  members: readonly Member[],
  primary: Member | undefined,
  states: readonly MemberState[],
): Member[] {
  if (!primary) return [...members]
  const timeline = states.find(({ role }) => role === 'leader')?.timeline
  const following = states.filter((one) => isReplicating(one) && one.timeline === timeline)
  const stuck = members.filter(
    (member) => member !== primary && !following.some(({ name }) => name === member.name),
  )
  return stuck.length > 0 ? stuck : [primary]
}

async function memberStates(member: Member): Promise<MemberState[]> {
  const answer = await request(member, 'cluster')
  if (!answer?.ok) return []
  return ((await answer.json()) as { members: MemberState[] }).members
}

/** Sends a request to the Patroni of a member; undefined without an answer in time. */
async function request(
  { host }: Member,
  path: string,
  init: RequestInit = {},
): Promise<Response | undefined> {
  const ms = init.method === 'POST' ? 60_000 : REST_MS
  try {
    return await fetch(`http://${host}:${REST_PORT}/${path}`, { ...init, signal: AbortSignal.timeout(ms) })
  } catch {
    await wait(20)
    return undefined
  }
}

function makeDirectory(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  chownSync(dir, NOBODY, NOBODY)
  return dir
}
