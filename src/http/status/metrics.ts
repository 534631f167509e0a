// What Prometheus reads at /metrics. Who wants no metrics does not load this file, nor the library.
// Labels are route templates, known methods and statuses of ours: a client cannot make new ones.

import type { H3 } from 'h3'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { VERSION } from '../../assets.ts'
import { AppError } from '../../errors.ts'
import { nodeOf, send } from '../api/send.ts'
import { isLocal } from '../listener/proxy.ts'
import type { MetricsSnapshot } from './metrics-snapshot.ts'

export type Metrics = {
  /** Counts one request that was answered, or given up. */
  observe(method: string, route: string, status: number, seconds: number): void
  /** Everything, in the text format of Prometheus. */
  text(vitals: MetricsSnapshot): Promise<string>
}

const PATH = '/metrics'
const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])
const SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]
const NEVER = Number.POSITIVE_INFINITY // so that an alert on an age goes off where there is nothing at all

type Reading = [name: string, help: string, read: (vitals: MetricsSnapshot) => number | undefined]
const GAUGES: Reading[] = [
  [
    'last_good_sync_age_seconds',
    'Time since the end of the last sync in which nothing failed',
    (v) => v.goodSyncAgeSeconds ?? NEVER,
  ],
  [
    'next_sync_timestamp_seconds',
    'When the next sync is due; absent without the scheduler',
    (v) => v.nextSync,
  ],
  ['rates', 'Stored values', (v) => v.rates],
  ['documents', 'Documents', (v) => v.documents],
  ['blobs', 'Contents of documents, each counted once', (v) => v.blobs],
  ['blob_bytes', 'Bytes of these contents', (v) => v.blobBytes],
  ['disk_free_bytes', 'Space left on the disk of the data directory', (v) => v.freeBytes],
  ['uploads_in_flight', 'Uploads that are being taken', (v) => v.uploads.running],
  ['uploads_waiting', 'Uploads that wait for their turn', (v) => v.uploads.waiting],
  ['backup_age_seconds', 'Time since the last backup was begun', (v) => v.backup?.ageSeconds],
  ['backup_ok', 'Whether it was made and verified', (v) => v.backup && Number(v.backup.ok)],
]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'cambista_http_request_duration_seconds',
    help: 'Requests by method, route and status, and how long they took',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers,
  })
  const build = {
    name: 'cambista_build_info',
    help: 'Version of cambista',
    labelNames: ['version'],
    registers,
  }
  new Gauge(build).set({ version: VERSION }, 1)
  const gauges = GAUGES.map(([name, help, read]) => ({
    gauge: new Gauge({ name: `cambista_${name}`, help, registers }),
    read,
  }))
  const dollarAge = new Gauge({
    name: 'cambista_dollar_age_days',
    help: "Days since the newest stored value of each side of the dollar; -1 is tomorrow's",
    labelNames: ['side'],
    registers,
  })
  const runs = new Counter({
    name: 'cambista_sync_runs_total',
    help: 'Syncs that ended, by status',
    labelNames: ['status'],
    registers,
  })
  const cache = (name: string, help: string) => ({
    name: `cambista_cache_${name}`,
    help,
    labelNames: ['cache'],
    registers,
  })
  const entries = new Gauge(
    cache('entries', 'Series held as columns, answers that were given, and pieces of long ones'),
  )
  const bytes = new Gauge(cache('bytes', 'What they take, more or less'))
  const hits = new Counter(cache('hits_total', 'How often what was needed was there'))
  const misses = new Counter(cache('misses_total', 'How often it was not'))

  return {
    observe(method, route, status, seconds) {
      requests.observe({ method: METHODS.has(method) ? method : 'other', route, status }, seconds)
    },
    async text(vitals) {
      for (const { gauge, read } of gauges) {
        const value = read(vitals)
        if (value === undefined) gauge.remove()
        else gauge.set(value)
      }
      dollarAge.reset()
      for (const { side, days } of vitals.dollarAgeDays) dollarAge.set({ side }, days ?? NEVER)
      for (const counter of [runs, hits, misses]) counter.reset()
      for (const status of ['ok', 'parcial', 'error']) runs.inc({ status }, 0)
      for (const { status, count } of vitals.runs) runs.inc({ status }, count)
      for (const [name, state] of Object.entries(vitals.caches)) {
        entries.set({ cache: name }, state.entries)
        bytes.set({ cache: name }, state.bytes)
        hits.inc({ cache: name }, state.hits)
        misses.inc({ cache: name }, state.misses)
      }
      return registry.metrics()
    },
  }
}

/** `localOnly`: for who asks on this machine and through no proxy; to others there is no such path. */
export function mountMetrics(
  app: H3,
  metrics: Metrics,
  vitals: () => Promise<MetricsSnapshot>,
  { localOnly }: { localOnly: boolean },
): void {
  app.all(PATH, async (event) => {
    if (localOnly && !isLocal(nodeOf(event).req)) throw new AppError('not-found', 'Not found')
    event.context.route = PATH
    event.context.cors = undefined // not for websites, whichever are let in
    if (!['GET', 'HEAD'].includes(event.req.method)) {
      throw new AppError('method-not-allowed', 'Method not allowed', { details: 'GET, HEAD' })
    }
    const headers = { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }
    return send(event, { body: await metrics.text(await vitals()), headers })
  })
}
