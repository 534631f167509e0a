// Metrics for Prometheus at /metrics. A server without metrics loads neither this file nor the library.
// Labels are route templates, known methods, our statuses and agents: clients cannot add values.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import * as v from 'valibot'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import { VERSION } from '../../runtime/assets.ts'
import { AppError } from '../../runtime/errors.ts'
import { nodeContext } from '../endpoint/answers/send.ts'
import type { Api } from '../endpoint/api.ts'
import { get } from '../endpoint/endpoint.ts'
import { RATES_ERRORS } from '../figures/rates-errors.ts'
import { isLocal } from '../listener/proxy.ts'
import { type MetricsSnapshot, NEVER } from './metrics-snapshot.ts'

export type Metrics = {
  /** Counts a request that was answered or aborted. */
  observe(method: string, route: string, status: number, seconds: number): void
  /** Returns all metrics in the text format of Prometheus. */
  text(now: MetricsSnapshot): Promise<string>
}

const PATH = '/metrics'
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
const SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]

type LabelledMetrics = ReturnType<typeof createLabelledMetrics>
type CreateMetric<M> = (name: string, help: string, ...labels: string[]) => M
type GaugeReading = [name: string, help: string, read: (now: MetricsSnapshot) => number | undefined]
const GAUGES: GaugeReading[] = [
  [
    'last_good_sync_age_seconds',
    'Time since the end of the last sync in which nothing failed',
    (now) => now.goodSyncAgeSeconds,
  ],
  [
    'next_sync_timestamp_seconds',
    'When the next sync is due; absent without the scheduler',
    (now) => now.nextSync,
  ],
  ['rates', 'Stored values', (now) => now.rates],
  ['rates_rounded', 'Of these, those that a source has rounded', (now) => now.roundedRates],
  ['rates_damaged', 'Intervals of days whose stored values are damaged', (now) => now.damagedRates],
  ['rates_corrected', 'Values that a source corrected after they were stored', (now) => now.corrections],
  ['documents', 'Documents', (now) => now.documents],
  ['blobs', 'Contents of documents, each counted once', (now) => now.blobs],
  ['blob_bytes', 'Bytes of these contents', (now) => now.blobBytes],
  ['disk_free_bytes', 'Space left on the disk of the data directory', (now) => now.freeBytes],
  ['uploads_in_flight', 'Uploads that are being taken', (now) => now.uploads.running],
  ['uploads_waiting', 'Uploads that wait for their turn', (now) => now.uploads.waiting],
  ['document_waits', 'Requests that wait for a document', (now) => now.documentWaits],
  ['hooks_failing', 'Hooks that are off, or whose last message did not arrive', (now) => now.hooks?.failing],
  ['hook_messages_waiting', 'Messages that hooks are still to be told', (now) => now.hooks?.waiting],
  ['hook_messages_given_up', 'Messages of the hooks of now that never arrived', (now) => now.hooks?.givenUp],
  ['backup_age_seconds', 'Time since the last backup was begun', (now) => now.backup?.ageSeconds],
  [
    'verified_backup_age_seconds',
    'Time since the newest backup was begun that was read back whole and is good; absent without backups',
    (now) => now.verifiedBackupAgeSeconds,
  ],
  [
    'database_silent_seconds',
    'Time since the database of several nodes last answered; 0 while it does',
    (now) => now.shared?.silentSeconds,
  ],
  [
    'commits_waiting',
    'Commits of several nodes that have waited for a synchronous standby for more than a second',
    (now) => now.shared?.waitingCommits,
  ],
  [
    'clock_offset_seconds',
    "How far this machine's clock is behind that of the database; negative: ahead of it",
    (now) => now.shared?.clockOffsetSeconds,
  ],
  ['backup_ok', 'Whether it was made and verified', (now) => now.backup && Number(now.backup.ok)],
]

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const options = (name: string, help: string, labelNames: string[]) => ({
    ...{ name: `cambista_${name}`, help, labelNames, registers: [registry] },
  })
  const gauge: CreateMetric<Gauge> = (name, help, ...labels) => new Gauge(options(name, help, labels))
  const counter: CreateMetric<Counter> = (name, help, ...labels) => new Counter(options(name, help, labels))
  const requests = new Histogram({
    ...options(
      'http_request_duration_seconds',
      'Requests by method, route and status, and how long they took, without what they wait for a document',
      ['method', 'route', 'status'],
    ),
    buckets: SECONDS,
  })
  gauge('build_info', 'Version of cambista', 'version').set({ version: VERSION }, 1)
  const gauges = GAUGES.map(([name, help, read]) => ({ gauge: gauge(name, help), read }))
  const labelledMetrics = createLabelledMetrics(gauge, counter)
  return {
    observe(method, route, status, seconds) {
      requests.observe({ method: METHODS.has(method) ? method : 'other', route, status }, seconds)
    },
    async text(now) {
      for (const { gauge, read } of gauges) {
        const value = read(now)
        if (value === undefined) gauge.remove()
        else gauge.set(value)
      }
      setLabelledMetrics(labelledMetrics, now)
      return registry.metrics()
    },
  }
}

/** Creates the metrics with a value for each provider, agent, mailbox or cache. */
function createLabelledMetrics(gauge: CreateMetric<Gauge>, counter: CreateMetric<Counter>) {
  const agentGauge = (name: string, help: string) => gauge(`documents_${name}`, help, 'agent')
  return {
    benchmarkAge: gauge(
      'dollar_age_days',
      "Days since the newest stored value of each side of the dollar; -1 is tomorrow's",
      ...['provider', 'side'],
    ),
    indicatorAge: gauge(
      'indicator_age_days',
      'Days since the newest stored value of each enabled indicator',
      'code',
    ),
    waiting: agentGauge('waiting', 'Documents of an agent that wait for a worker; the first 200 agents'),
    oldestWaiting: agentGauge(
      'oldest_waiting_seconds',
      'Time since the oldest of these arrived; 0 without one',
    ),
    failures: agentGauge('failed', 'Documents of an agent that are failed'),
    runs: counter('sync_runs_total', 'Syncs that ended, by status', 'status'),
    invoices: counter(
      'invoices_total',
      'Electronic invoices among the uploads, by kind, read or with a fault',
      ...['kind', 'result'],
    ),
    mails: counter('mail_messages_total', 'Mails of a mailbox, by outcome', 'mailbox', 'outcome'),
    mailSuccess: gauge(
      'mail_last_success_timestamp_seconds',
      'When the last round of a mailbox succeeded',
      'mailbox',
    ),
    mailWaiting: gauge('mail_waiting', 'Mails in the folder of a mailbox after its last round', 'mailbox'),
    entries: gauge(
      'cache_entries',
      'Series held as columns, answers that were given, and pieces of long ones',
      'cache',
    ),
    bytes: gauge('cache_bytes', 'What they take, more or less', 'cache'),
    hits: counter('cache_hits_total', 'How often what was needed was there', 'cache'),
    misses: counter('cache_misses_total', 'How often it was not', 'cache'),
  }
}

function setLabelledMetrics({ runs, ...metrics }: LabelledMetrics, now: MetricsSnapshot): void {
  for (const metric of Object.values(metrics)) metric.reset()
  for (const { provider, side, days } of now.benchmarkAgeDays) {
    // The default provider has no label: the metric is older than the support of several providers.
    const labels = provider === DEFAULT_PROVIDER.code ? { side } : { provider, side }
    metrics.benchmarkAge.set(labels, days ?? NEVER)
  }
  for (const { code, days } of now.indicators ?? []) metrics.indicatorAge.set({ code }, days ?? NEVER)
  for (const { id: agent, ...queue } of now.agents ?? []) {
    metrics.waiting.set({ agent }, queue.waiting)
    metrics.oldestWaiting.set({ agent }, queue.oldestWaitingSeconds)
    metrics.failures.set({ agent }, queue.failed)
  }
  for (const { name: mailbox, taken, refused, knownCount: known, ...state } of now.mailboxes ?? []) {
    for (const [outcome, count] of Object.entries({ taken, refused, known }))
      metrics.mails.inc({ mailbox, outcome }, count)
    metrics.mailSuccess.set({ mailbox }, state.lastSuccess ?? 0)
    if (state.waiting !== null) metrics.mailWaiting.set({ mailbox }, state.waiting)
  }
  for (const { kind, result, count } of now.invoices) metrics.invoices.inc({ kind, result }, count)
  for (const [cache, state] of Object.entries(now.caches)) {
    metrics.entries.set({ cache }, state.entries)
    metrics.bytes.set({ cache }, state.bytes)
    metrics.hits.inc({ cache }, state.hits)
    metrics.misses.inc({ cache }, state.misses)
  }
  if (!now.runs) return
  runs.reset()
  for (const status of ['ok', 'parcial', 'error']) runs.inc({ status }, 0)
  for (const { status, count } of now.runs) runs.inc({ status }, count)
}

/** `localOnly`: for clients on this machine without a proxy; others get 404. */
export function metricsApi(
  metrics: Metrics,
  snapshot: () => Promise<MetricsSnapshot>,
  { localOnly }: { localOnly: boolean },
): Api {
  return {
    prefixes: [PATH],
    errors: RATES_ERRORS,
    isForWebsites: false,
    credentials: {
      permissions: ['local'],
      check(event) {
        if (localOnly && !isLocal(nodeContext(event).req)) throw new AppError('not-found', 'Not found')
      },
      ...{ name: 'Local', scheme: {}, refusals: {} },
    },
    endpoints: [
      get({
        path: PATH,
        answer: v.string(),
        ignoresUnknown: true,
        async handle() {
          const headers = { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }
          return { body: await metrics.text(await snapshot()), headers }
        },
      }),
    ],
  }
}
