// Chooses the host of an address that writes, with simultaneous probes. Former primaries may write too: the highest
// timeline wins. Pools of a node share the choice until a connection fails, the server is read-only, or the circuit
// breaker trips.

import { setTimeout as wait } from 'node:timers/promises'
import pg, { type Client, type ClientConfig } from 'pg'
import { errorCode } from '../../runtime/errors.ts'
import type { HostState } from '../engine.ts'
import type { Address, Host } from './address.ts'
import { isNotAllowed, TIMELINE_SQL } from './lineage.ts'
import { LOST, READ_ONLY, toDatabaseError } from './postgres-errors.ts'

/** The host that the pools of a node use. */
export type HostChoice = {
  /** The last choice, also after `forget`; undefined: none was chosen yet. */
  last(): Host | undefined
  /** False: `choose` probes the hosts. */
  isKnown(): boolean
  /** Returns the chosen host, or the result of `find`. Simultaneous calls share it. */
  choose(find: () => Promise<Host>): Promise<Host>
  /** Drops the choice, or only that of this host. */
  forget(host?: Host): void
}

/** Answers of a host. */
export type HostAnswer = { isReadOnly: boolean; timeline: number | undefined }

export type ProbeHost = (host: Host, signal: AbortSignal) => Promise<HostAnswer>

type HostFault = { host: Host; code: string; reason: string }

/** Wait for slower hosts. */
const PROBE_MS = 500

const KNOWN_FAULT = /^PG_(28000|28P01|53300|UNTRUSTED|REFUSED|25006)$/

/** `onMove` is called when another host is chosen than before. */
export function createHostChoice(onMove: () => void): HostChoice {
  let last: Host | undefined
  let isKnown = false
  let pending: Promise<Host> | undefined
  const chooseAnew = async (find: () => Promise<Host>) => {
    const host = await find()
    if (last !== undefined && last !== host) onMove()
    last = host
    isKnown = true
    return host
  }
  return {
    last: () => last,
    isKnown: () => isKnown,
    async choose(find) {
      if (isKnown && last) return last
      pending ??= chooseAnew(find).finally(() => {
        pending = undefined
      })
      return pending
    },
    forget(host = last) {
      if (host === last) isKnown = false
    },
  }
}

/**
 * Probes all hosts at once. After PROBE_MS one host that writes is enough.
 * @throws an error with the fault of each host, when none writes
 */
export async function findWriter(hosts: readonly Host[], probe: ProbeHost): Promise<Host> {
  const writers: { host: Host; timeline: number | undefined }[] = []
  const faults: HostFault[] = []
  const stop = new AbortController()
  const firstWriter = Promise.withResolvers<void>()
  const probeOne = async (host: Host) => {
    try {
      const { isReadOnly, timeline } = await probe(host, stop.signal)
      if (isReadOnly) faults.push({ host, code: READ_ONLY, reason: 'only reads' })
      else {
        writers.push({ host, timeline })
        firstWriter.resolve()
      }
    } catch (error) {
      faults.push({ host, ...hostFault(error) })
    }
  }
  const lateWriter = async () => {
    await wait(PROBE_MS, undefined, { signal: stop.signal })
    await firstWriter.promise
  }
  try {
    await Promise.race([Promise.all(hosts.map(probeOne)), lateWriter().catch(() => {})]) // the wait may be aborted
  } finally {
    stop.abort()
  }
  // The sort is stable: of equal timelines the first host of the address wins.
  const [writer] = writers.sort((one, other) => (other.timeline ?? 0) - (one.timeline ?? 0))
  if (!writer) throw noWriterError(faults)
  return writer.host
}

/** Opens a connection for `findWriter`, without settings of a session: poolers reject them. */
export function createProbe(PgClient: typeof Client, { config }: Address, connectMs: number): ProbeHost {
  return (host, signal) =>
    withProbeClient(PgClient, { ...config, ...host.config }, { connectMs, signal }, async (client) => {
      const { rows } = await client.query('show transaction_read_only')
      if (rows[0]?.transaction_read_only === 'on') return { isReadOnly: true, timeline: undefined }
      return { isReadOnly: false, timeline: await selectAllowed<number>(client, TIMELINE_SQL) }
    })
}

/** Queries the state of each host, for an administrator. */
export async function examineHosts({ hosts, config }: Address, connectMs: number): Promise<HostState[]> {
  const { signal } = new AbortController()
  const examine = async (host: Host): Promise<HostPosition> => {
    try {
      const client = { ...config, ...host.config }
      const position = await withProbeClient(pg.Client, client, { connectMs, signal }, selectPosition)
      return { name: host.name, ...position }
    } catch (error) {
      return { name: host.name, fault: hostFault(error).reason }
    }
  }
  const positions = await Promise.all(hosts.map(examine))
  const primaryBytes = Math.max(
    ...positions.map((one) => ('role' in one && one.role === 'primary' ? one.bytes : 0) ?? 0),
  )
  return positions.map((one) => {
    if ('fault' in one) return one
    const { bytes, ...state } = one
    return {
      ...state,
      bytesBehind: bytes === undefined || primaryBytes === 0 ? undefined : Math.max(0, primaryBytes - bytes),
    }
  })
}

/** `bytes`: position in the log of the server; undefined: not allowed. */
type HostPosition =
  | { name: string; fault: string }
  | { name: string; role: 'primary' | 'standby'; timeline: number | undefined; bytes: number | undefined }

async function selectPosition(client: Client) {
  const isStandby = await selectAllowed<boolean>(client, 'pg_is_in_recovery()')
  // A standby knows its timeline out of its last checkpoint.
  const timeline = isStandby ? '(select timeline_id from pg_control_checkpoint())' : TIMELINE_SQL
  const position = isStandby ? 'pg_last_wal_replay_lsn()' : 'pg_current_wal_lsn()'
  const bytes = await selectAllowed<string>(client, `(${position} - '0/0')::text`)
  return {
    role: isStandby ? ('standby' as const) : ('primary' as const),
    timeline: await selectAllowed<number>(client, timeline),
    bytes: bytes === undefined ? undefined : Number(bytes),
  }
}

/** Runs `work` on a connection of its own, which is closed at its end or when `signal` is aborted. */
async function withProbeClient<T>(
  PgClient: typeof Client,
  { options, ...config }: ClientConfig,
  { connectMs, signal }: { connectMs: number; signal: AbortSignal },
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new PgClient({
    ...config,
    connectionTimeoutMillis: connectMs,
    query_timeout: connectMs,
  })
  client.on('error', () => {}) // its query fails too
  const cut = () => destroySocket(client)
  signal.addEventListener('abort', cut, { once: true })
  try {
    await client.connect()
    return await work(client)
  } finally {
    signal.removeEventListener('abort', cut)
    // A connection without an end would be in the log of the server. A frozen server never answers it.
    void client.end().catch(() => {})
    void wait(connectMs, undefined, { ref: false }).then(cut)
  }
}

/** Selects the value of an expression; undefined: the server does not allow its functions. */
async function selectAllowed<T>(client: Client, expression: string): Promise<T | undefined> {
  try {
    const { rows } = await client.query<{ value: T | null }>(`select ${expression} as value`)
    return rows[0]?.value ?? undefined
  } catch (error) {
    if (isNotAllowed(toDatabaseError(error))) return undefined
    throw error
  }
}

/** Error with the fault of each host. Its code is that of a read-only host, or of a refusal, or of a lost connection. */
function noWriterError(faults: readonly HostFault[]): Error {
  const codes = faults.map(({ code }) => code)
  const code = codes.find((one) => one === READ_ONLY) ?? codes.find((one) => one !== LOST) ?? LOST
  const reasons = faults.map(({ host, reason }) => `${host.name}: ${reason}`)
  return Object.assign(new Error(`no host of the address writes (${reasons.join('; ')})`), { code })
}

/** Code and reason of a failed connection. The server's own messages are left out, which may contain the user. */
function hostFault(thrown: unknown): { code: string; reason: string } {
  const network = errorCode(thrown)
  const error = toDatabaseError(thrown)
  const code = errorCode(error)
  if (KNOWN_FAULT.test(code) && error instanceof Error) return { code, reason: error.message }
  if (code !== LOST) return { code, reason: `error ${code.replace('PG_', '')}` }
  return { code, reason: /^E[A-Z]+$/.test(network) ? `no answer, ${network}` : 'no answer' }
}

/** Closes a connection at once. `end` of a client waits for the server. */
export function destroySocket(client: object): void {
  const { connection } = client as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
