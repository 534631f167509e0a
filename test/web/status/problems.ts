// Answers of a server with every reason and every failure of a run, for the screen of its state.

import { FAILURE_CODES } from '../../../src/domain/mail/round-failure.ts'

const HOST = 'gee.bccr.fi.cr'
/** A failure of each code, and one of a code that the page does not know. */
export const FAILURES = [
  { code: 'unreachable', of: '317', host: HOST },
  { code: 'unreachable', of: '318', host: HOST },
  { code: 'timeout', of: '520', host: HOST },
  { code: 'tls', of: '318', host: HOST },
  { code: 'http_status', of: '520', status: 503 },
  { code: 'not_understood', of: '318' },
  { code: 'token_refused', of: 'bccr' },
  { code: 'row_rejected', of: '520', count: 1204 },
  { code: 'value_withheld', of: '520', count: 2 },
  { code: 'interrupted', of: 'bccr' },
  { code: 'disk_full', of: 'bccr' },
  { code: 'another_planet', of: 'bccr' },
]
const REASONS = [
  { code: 'stale_side', provider: 'bccr', rate_type: 'venta', since: '2026-11-17' },
  { code: 'no_value', provider: 'bccr', rate_type: 'compra' },
  { code: 'history_loading', provider: 'bccr', percent: 48 },
  { code: 'last_run_failed', provider: 'bccr' },
]
const TRIGGERS = ['scheduler', 'startup', 'retry', 'cli', 'refine', 'import']

const runs = [
  ...FAILURES.map((failure, index) => ({
    ...{ id: 100 - index, provider_id: 1, trigger: TRIGGERS[index % TRIGGERS.length] },
    ...{ status: index % 2 === 0 ? 'error' : 'parcial', date_from: '2026-11-08', date_to: '2026-11-23' },
    ...{ inserted: 0, updated: 0, unchanged: 0, message: 'the request failed because of something' },
    ...{ started_at: '2026-11-20T11:00:00.000Z', finished_at: '2026-11-20T11:00:31.000Z' },
    failures: index === 0 ? FAILURES.slice(0, 2) : [failure],
  })),
  {
    ...{ id: 50, provider_id: 1, trigger: 'import', status: 'ok', date_from: '1983-01-01' },
    ...{ date_to: '1990-12-31', inserted: 5840, updated: 5, unchanged: 1_234_567, message: null },
    ...{ started_at: '2026-11-19T22:41:00.000Z', finished_at: '2026-11-19T22:43:00.000Z' },
  },
]
const revisions = ['2026-11-12', '2026-11-13', '2026-11-16', '2026-11-17', '2026-11-18'].map(
  (day, index) => ({
    ...{ id: index + 1, pair: index === 0 ? 'USD/CRC' : 'USD/NIO', run_id: 50, rate_date: day },
    rate_type: index === 0 ? 'venta' : 'referencia',
  }),
)

/** A mailbox for each cause, with one that the page does not know. The last two are good and paused. */
export const MAILBOXES = [...FAILURE_CODES, 'another_moon', null, 'paused'].map((code, index) => ({
  ...{ id: index + 1, name: `buzon-${index + 1}`, company_id: 1, agent_id: 1 },
  state: code === null ? 'active' : code === 'paused' ? 'paused' : 'failing',
  ...{ last_round: '2026-11-20T11:59:00.000Z', last_success: '2026-11-19T11:00:00.000Z' },
  failing_since: code === null || code === 'paused' ? null : '2026-11-20T11:00:00.000Z',
  failure: 'the server said something',
  failure_code: code === 'paused' ? null : code,
  ...{ waiting: index % 3, taken: 1204 + index, refused: index % 2 },
}))

/** Bodies by path below /api/v1/. */
export const PROBLEMS: Readonly<Record<string, unknown>> = {
  status: {
    ...{ version: '0.2.0', status: 'degraded', reasons: ['the newest venta is old'], reason_codes: REASONS },
    mail: MAILBOXES,
    scheduler: { enabled: true, running: true },
    providers: [
      {
        ...{ code: 'bccr', name: 'Banco Central de Costa Rica', enabled: true, fresh: false, exact: false },
        sides: [
          { rate_type: 'compra', newest: '2026-11-20', age_days: 0 },
          { rate_type: 'venta', newest: '2026-11-16', age_days: 4 },
        ],
        ...{ last_good_sync: '2026-11-16T11:00:04.000Z', next_sync: '2026-11-21T11:00:00.000Z' },
      },
    ],
    storage: {
      ...{ rates: 1_234_567, rounded: 1204, documents: 148, contents: 140 },
      ...{ content_bytes: 96_000_000, free_bytes: 71_600_000_000 },
    },
    backup: {
      ...{
        schedule: '0 2 * * *',
        next_run: '2026-11-21T08:00:00.000Z',
        last_run: '2026-11-20T08:00:00.000Z',
      },
      ...{ last_status: 'error', last_verified: '2026-11-19T08:00:00.000Z' },
    },
    runs,
  },
  revisions: { revisions, next_after: 5, has_more: false },
  'documents/summary': {
    ...{ waiting: 2, oldest_waiting_at: '2026-11-20T17:22:00.000Z', working: 1, working_since: null },
    ...{ failed: 3, failed_today: 2, last_failed_at: '2026-11-20T17:00:00.000Z', done_today: 12 },
    ...{ median_seconds_today: 90, stored: 148, bytes: 96_000_000, changed: 9 },
    last_claim: { at: '2026-11-20T17:51:00.000Z', by: 'lector-2' },
  },
}
