// State of the server for its operator, in one answer (decisions#status). The answer contains the free space of the
// machine, but no paths.

import * as v from 'valibot'
import { selectIndicatorStates } from '../../domain/indicators/indicator-freshness.ts'
import { FAILURE_CODES } from '../../domain/mail/round-failure.ts'
import type { NightlyBackup } from '../../domain/operations/backup/nightly.ts'
import { dueDay, staleness } from '../../domain/rates/freshness.ts'
import { type HealthQuery, rateHealth, sidesOfProviders } from '../../domain/rates/health.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { VERSION } from '../../runtime/assets.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { countOrphans, selectLosses, selectOrphans } from '../../store/documents/orphans.ts'
import { findReaderProgress } from '../../store/documents/unread.ts'
import { selectIndicatorRuns } from '../../store/indicators/runs.ts'
import { selectMailboxes } from '../../store/mail/mailboxes.ts'
import { selectDescribedRuns, selectLastSuccessfulRun } from '../../store/rates/sync-runs.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { Schedulers } from '../../sync/schedulers.ts'
import {
  Day,
  Instant,
  Integer,
  RateTypeOut,
  titledObject,
  withDescription,
} from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, get } from '../endpoint/endpoint.ts'
import { IndicatorRunOut, SyncRunOut } from '../figures/run-shapes.ts'
import { sideOut } from '../figures/side.ts'
import { ReasonOut } from './reason-out.ts'
import type { Totals } from './totals.ts'

const ProviderOut = v.object({
  code: v.string(),
  name: v.string(),
  enabled: v.boolean(),
  fresh: withDescription(v.boolean(), 'Whether what is due by now is there, for each side'),
  stale: withDescription(v.array(v.string()), 'What is not, in words'),
  sides: v.array(
    v.object({
      rate_type: RateTypeOut,
      newest: v.nullable(Day),
      age_days: withDescription(v.nullable(Integer), "Days since then; -1 is tomorrow's value"),
    }),
  ),
  exact: withDescription(v.boolean(), 'Whether each stored value is as published; false: some are rounded'),
  last_good_sync: withDescription(v.nullable(Instant), 'When the last sync ended in which nothing failed'),
  next_sync: withDescription(v.nullable(Instant), 'null: the server does not sync by itself'),
})

const BackupOut = v.object({
  schedule: v.string(),
  next_run: v.nullable(Instant),
  last_run: withDescription(v.nullable(Instant), 'When the last one was begun'),
  last_status: v.nullable(v.picklist(['ok', 'error'])),
  last_verified: withDescription(
    v.nullable(Instant),
    'When the newest one was begun that was read back whole and is good',
  ),
})

const LossesOut = v.object({
  times: withDescription(
    v.array(v.object({ from: Instant, to: Instant })),
    'When acknowledged documents may have been lost: the database went back at the end of each',
  ),
  contents: Integer,
  content_bytes: Integer,
  first: withDescription(
    v.array(v.object({ sha256: v.string(), size: Integer, stored_at: Instant })),
    'Contents without a document; at most 1000 of them, `cambista doctor` lists all',
  ),
})

const MailboxOut = titledObject('MailboxState', {
  ...{ id: Integer, name: v.string(), company_id: Integer, agent_id: Integer },
  state: v.picklist(['active', 'failing', 'paused']),
  last_round: v.nullable(Instant),
  last_success: v.nullable(Instant),
  failing_since: v.nullable(Instant),
  failure: withDescription(v.nullable(v.string()), 'Why the last round failed'),
  failure_code: withDescription(v.nullable(v.picklist(FAILURE_CODES)), 'The same as a code'),
  waiting: withDescription(v.nullable(Integer), 'Mails in the folder after the last round'),
  taken: withDescription(Integer, 'Mails that became documents'),
  refused: withDescription(Integer, 'Mails that were refused'),
  left: withDescription(Integer, 'Parts of the mails that became documents that were left out'),
})

const FailureOut = titledObject('SyncFailure', {
  code: v.picklist([
    ...(['unreachable', 'timeout', 'tls', 'http_status', 'not_understood', 'token_refused'] as const),
    ...(['row_rejected', 'value_withheld', 'interrupted', 'disk_full', 'other'] as const),
  ]),
  of: withDescription(v.string(), 'The indicator, the table or the provider'),
  host: withDescription(v.optional(v.string()), 'With unreachable, timeout and tls'),
  status: withDescription(v.optional(Integer), 'With http_status'),
  count: withDescription(v.optional(Integer), 'With row_rejected and value_withheld: the number of values'),
})

const IndicatorStateOut = titledObject('IndicatorState', {
  code: v.string(),
  name: v.nullable(v.string()),
  state: v.picklist(['new', 'waiting', 'active', 'refused']),
  refusal: withDescription(v.nullable(v.string()), 'Words of the bank, where it refuses the code'),
  newest_date: v.nullable(Day),
  age_days: v.nullable(Integer),
  history_since: withDescription(v.nullable(Day), 'First of the newest unbroken days that were read'),
  history_percent: withDescription(
    v.nullable(Integer),
    'Share of the days of the history that were read; null: its begin is not known yet',
  ),
})

const RunOut = titledObject('RunWithFailures', {
  ...SyncRunOut.entries,
  failures: withDescription(
    v.optional(v.array(FailureOut)),
    'Its failures by code, other where message alone has the cause; absent for runs of earlier versions and imports',
  ),
})

export const StatusOut = titledObject('Status', {
  version: v.string(),
  status: withDescription(v.picklist(['ok', 'degraded']), 'That of health'),
  reasons: v.array(v.string()),
  reason_codes: withDescription(v.array(ReasonOut), 'The same reasons as codes, in their order'),
  scheduler: withDescription(
    v.object({ enabled: v.boolean(), running: v.boolean() }),
    'Whether the server syncs by itself, as in /api/v1/scheduler',
  ),
  providers: v.array(ProviderOut),
  storage: v.object({
    rates: Integer,
    rounded: withDescription(Integer, 'Rates that their source rounded'),
    documents: Integer,
    contents: withDescription(Integer, 'Contents of documents, each counted once'),
    content_bytes: Integer,
    free_bytes: withDescription(
      v.optional(Integer),
      'Space left on the disk of the data directory; absent where contents are kept elsewhere',
    ),
  }),
  invoices: withDescription(
    v.optional(v.object({ unread_before: Integer })),
    'Documents with smaller ids wait for the reader of invoices, in the background; absent: all are read',
  ),
  mail: withDescription(v.optional(v.array(MailboxOut)), 'The mailboxes, by id; absent: there is none'),
  backup: withDescription(v.nullable(BackupOut), 'null: the server makes none'),
  losses: withDescription(
    v.optional(LossesOut),
    'Of a database that several nodes share, until `cambista database accept-loss`; absent: none',
  ),
  runs: withDescription(v.array(RunOut), 'The last 20 syncs of each provider, newest first'),
  indicators: withDescription(
    v.optional(v.object({ enabled: v.array(IndicatorStateOut), runs: v.array(IndicatorRunOut) })),
    'The enabled indicators, and their last 20 runs; absent: none is enabled',
  ),
})

export type StatusDeps = {
  db: ReadDb
  health: HealthQuery
  cache: RateCache
  scheduler: Pick<Schedulers, 'tasks' | 'state'>
  backups: NightlyBackup | undefined
  blobs: Pick<Blobs, 'freeBytes' | 'keepsRemoved'>
  totals: () => Promise<Totals>
}

const RUNS_SHOWN = 20
const ORPHANS_SHOWN = 1000

export function statusEndpoints(deps: StatusDeps): AnyEndpoint[] {
  const { db, cache, backups, blobs: blobStore, totals } = deps
  return [
    get({
      path: '/api/v1/status',
      about: 'What a person wants to see who looks after the server; a key in a header opens it.',
      answer: StatusOut,
      async handle() {
        const { documents, blobs, blobBytes } = await totals()
        const rates = await cache.read(async (snapshot) => ({
          health: await rateHealth(db, snapshot, deps.health),
          providers: await providerStates(snapshot, deps),
          counts: await snapshot.countRates(),
        }))
        const { reasons, reasonCodes } = rates.health
        const scheduler = await deps.scheduler.state()
        return freshReply({
          version: VERSION,
          status: reasons.length > 0 ? 'degraded' : 'ok',
          reasons,
          reason_codes: reasonCodes,
          scheduler: { enabled: scheduler !== 'disabled', running: scheduler === 'running' },
          providers: rates.providers,
          storage: {
            rates: rates.counts.all,
            rounded: rates.counts.rounded,
            documents,
            contents: blobs,
            content_bytes: blobBytes,
            free_bytes: await blobStore.freeBytes?.(),
          },
          invoices: await unreadOut(db),
          mail: await mailOut(db),
          losses: blobStore.keepsRemoved ? await lossesOut(db) : undefined,
          backup: backups ? backupOut(backups.status()) : null,
          runs: await selectDescribedRuns(db, RUNS_SHOWN),
          indicators: await indicatorsOut(deps),
        })
      },
    }),
  ]
}

async function indicatorsOut({ db, health }: StatusDeps) {
  const states = await selectIndicatorStates(db, health.clock)
  if (states.length === 0) return undefined
  const enabled = states.map(({ is_stale: _, ...shown }) => shown)
  return { enabled, runs: await selectIndicatorRuns(db, RUNS_SHOWN) }
}

async function unreadOut(db: ReadDb): Promise<{ unread_before: number } | undefined> {
  const progress = await findReaderProgress(db)
  return progress && progress.unreadBefore > 0 ? { unread_before: progress.unreadBefore } : undefined
}

async function mailOut(db: ReadDb): Promise<v.InferOutput<typeof MailboxOut>[] | undefined> {
  const mailboxes = await selectMailboxes(db)
  if (mailboxes.length === 0) return undefined
  return mailboxes.map(({ paused_at, ...row }) => ({
    ...{ id: row.id, name: row.name, company_id: row.company_id, agent_id: row.agent_id },
    state: paused_at !== null ? 'paused' : row.failing_since !== null ? 'failing' : 'active',
    ...{ last_round: row.last_round_at, last_success: row.last_success_at },
    ...{ failing_since: row.failing_since, failure: row.failure },
    failure_code: FAILURE_CODES.find((code) => code === row.failure_code) ?? null,
    ...{ waiting: row.waiting, taken: row.taken, refused: row.refused, left: row.left_out },
  }))
}

async function lossesOut(db: ReadDb): Promise<v.InferOutput<typeof LossesOut> | undefined> {
  const losses = await selectLosses(db)
  if (losses.length === 0) return undefined
  const { count, bytes } = await countOrphans(db)
  const orphans = await selectOrphans(db, ORPHANS_SHOWN)
  const toText = (ms: number) => new Date(ms).toISOString()
  return {
    times: losses.map(({ from, to }) => ({ from: toText(from), to: toText(to) })),
    contents: count,
    content_bytes: bytes,
    first: orphans.map(({ sha256, size, stored_at }) => ({ sha256, size, stored_at })),
  }
}

async function providerStates(
  snapshot: RateSnapshot,
  deps: StatusDeps,
): Promise<v.InferOutput<typeof ProviderOut>[]> {
  const { roundedSeries } = await snapshot.countRates()
  const tasks = await deps.scheduler.tasks()
  const states: v.InferOutput<typeof ProviderOut>[] = []
  for (const { provider, sides } of await sidesOfProviders(snapshot, deps.health)) {
    const row = snapshot.providers.find(({ code }) => code === provider.code)
    if (!row) continue
    const due = dueDay(provider, deps.health.clock)
    const stale = sides.flatMap((side) => staleness(provider, side, due) ?? [])
    const good = await selectLastSuccessfulRun(deps.db, row.id)
    const task = tasks.find((one) => one.provider === provider.code)
    const ofProvider = snapshot.series.filter(({ provider_id }) => provider_id === row.id)
    states.push({
      code: row.code,
      name: row.name,
      enabled: row.enabled,
      fresh: stale.length === 0,
      stale,
      sides: sides.map(sideOut),
      exact: !ofProvider.some(({ id }) => roundedSeries.has(id)),
      last_good_sync: good?.finished_at ?? null,
      next_sync: task?.nextRun?.toISOString() ?? null,
    })
  }
  return states
}

function backupOut(status: ReturnType<NightlyBackup['status']>): v.InferOutput<typeof BackupOut> {
  return {
    schedule: status.schedule,
    next_run: status.nextRun?.toISOString() ?? null,
    last_run: status.lastRun?.toISOString() ?? null,
    last_status: status.lastStatus ?? null,
    last_verified: status.lastVerified?.toISOString() ?? null,
  }
}
