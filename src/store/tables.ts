// The tables as types of Kysely; schema.sql describes them.

import type { Generated, Kysely, Selectable } from 'kysely'
import type { RateType } from '../providers/provider.ts'
import type { DocumentTables } from './document-tables.ts'

export type {
  ActorKind,
  DocumentState,
  EventKind,
  LeaseEnd,
  MailSecurity,
  PauseReason,
} from './document-tables.ts'

export type SyncTrigger = 'scheduler' | 'startup' | 'retry' | 'cli' | 'refine' | 'import'
/** `idle`: unused for too long; `age`: older than any session may be; `closed`: by another session or an operator. */
export type SessionEnd = 'idle' | 'age' | 'closed'
/** `answered`: validly answered; `final`: long enough after their date; `exact`: by a source that does not round. */
export type CoverageKind = 'answered' | 'final' | 'exact'
/** `added`, `removed`: days that became covered or uncovered; `imported`: days whose values came with an import. */
export type CoverageChangeKind = 'added' | 'imported' | 'removed'
/**
 * `correction`: the bank changed a value. `refined`: a rounded value became exact. `discarded`: an operator removed a
 * value of a future day. `repaired`: the stored value was damaged, and the source answered again.
 */
export type RevisionKind = 'correction' | 'refined' | 'discarded' | 'repaired'
/** Reference of a withheld value: the nearest value of its series, or the plausible range of the catalogue. */
export type FarReference = 'neighbour' | 'range'
/** `header`: only in headers. `url`: also in URLs and forms. `bank`: an old token of the bank, registered as a key. */
export type KeyKind = 'header' | 'url' | 'bank'
/** Side of the dollar that a key prefers in compat APIs that have one rate. */
export type Side = 'compra' | 'venta'
export type IndicatorTrigger = 'scheduler' | 'cli' | 'import'
/** `new`: no answer yet; `waiting`: for the token; `refused`: the source refused the code on 3 days. */
export type IndicatorState = 'new' | 'waiting' | 'active' | 'refused'
export type SyncStatus = 'ok' | 'parcial' | 'error'
/** Cause of an incomplete run, where later runs or health decide on it. */
export type RunCause = 'interrupted' | UnsynchronizedCause
/** Days that the source itself lacks are the only failure. `_more`: the run did not request all days around them. */
export type UnsynchronizedCause = 'unsynchronized' | 'unsynchronized_more'

export type Tables = DocumentTables & {
  meta: {
    id: number
    data_revision: number
    epoch: string
    record_from: number | null
    coverage_from: number | null
    contents_mark: string | null
    contents_listed_at: string | null
    indicator_revision: Generated<number>
    indicator_instant: Generated<number>
    invoice_reader: number | null
    unread_before: number | null
  }
  providers: {
    id: Generated<number>
    code: string
    name: string
    country: string
    website: string | null
    enabled: Generated<number>
    reported_revision: Generated<number>
    invented: Generated<number>
  }
  series: {
    id: Generated<number>
    provider_id: number
    external_code: string
    name: string
    base_currency: string
    quote_currency: string
    rate_type: RateType
    unit: string | null
    periodicity: string | null
    enabled: Generated<number>
    revision: Generated<number>
  }
  rates: {
    series_id: number
    rate_date: string
    value: string
    rounded_to: number | null
    stored_at: number
  }
  rate_sums: {
    series_id: number
    part: string
    row_count: number
    first_sum: number
    second_sum: number
    revision: number
  }
  withheld_rates: {
    series_id: number
    rate_date: string
    value: string
    rounded_to: number | null
    far_from: FarReference
    run_id: number
  }
  empty_days: { series_id: number; rate_date: string; answers: number; answered_on: string }
  second_opinions: { source: string; state: string }
  rate_revisions: {
    id: Generated<number>
    series_id: number
    rate_date: string
    kind: RevisionKind
    old_value: string
    old_rounded_to: number | null
    old_stored_at: number | null
    new_value: string | null
    replaced_at: string
    run_id: number | null
  }
  sync_runs: {
    id: Generated<number>
    provider_id: number
    trigger: SyncTrigger
    status: SyncStatus
    date_from: string | null
    date_to: string | null
    inserted: Generated<number>
    updated: Generated<number>
    unchanged: Generated<number>
    message: string | null
    started_at: string
    finished_at: string | null
    token_hash: string | null
    token_only: Generated<number>
    failures: string | null
    cause: RunCause | null
  }
  coverage: { series_id: number; kind: CoverageKind; covered_from: string; covered_to: string }
  coverage_changes: {
    id: Generated<number>
    changed_at: number
    kind: CoverageChangeKind
    days_from: string
    days_to: string
    series: string
  }
  catalogue_changes: {
    id: Generated<number>
    changed_at: number
    kind: 'added' | 'enabled' | 'disabled'
    provider_id: number | null
    series_id: number | null
  }
  record_gaps: { gap_from: number; gap_to: number }
  record_end: { id: number; recorded_at: number; revision: number }
  indicators: {
    code: string
    provider_id: number
    name: string | null
    unit: string | null
    periodicity: string | null
    enabled: Generated<number>
    state: Generated<IndicatorState>
    added_at: number
    history_from: string | null
    history_done: Generated<number>
    asked_at: string | null
    tried_at: string | null
    history_failure: string | null
    refusal_day: string | null
    refusals: Generated<number>
    refusal: string | null
    is_named: Generated<number>
  }
  indicator_values: { code: string; value_date: string; value: string; stored_at: number }
  indicator_coverage: { code: string; covered_from: string; covered_to: string }
  indicator_changes: {
    id: Generated<number>
    code: string
    changed_at: number
    kind: 'added' | 'removed'
    days_from: string
    days_to: string
  }
  indicator_runs: {
    id: Generated<number>
    provider_id: number
    trigger: IndicatorTrigger
    status: SyncStatus
    date_from: string | null
    date_to: string | null
    inserted: Generated<number>
    updated: Generated<number>
    unchanged: Generated<number>
    message: string | null
    started_at: string
    finished_at: string | null
    failures: string | null
    token_hash: string | null
    history: Generated<number>
  }
  indicator_revisions: {
    id: Generated<number>
    code: string
    value_date: string
    old_value: string
    old_stored_at: number
    new_value: string
    replaced_at: string
    run_id: number
  }
  api_keys: {
    id: Generated<number>
    name: string
    hash: string
    created_at: string
    last_used_at: string | null
    revoked_at: string | null
    expires_at: string | null
    kind: Generated<KeyKind>
    side: Generated<Side>
    network: string | null
    origins: string | null
    provider: string | null
  }
  key_use: { key_id: number; day: string; requests: number }
  key_networks: { key_id: number; network: string; last_used_at: string }
  companies: {
    id: Generated<number>
    name: string
    code: string
    created_at: string
    quota: number | null
    used: Generated<number>
    tax_ids: string | null
  }
  owners: { id: Generated<number>; name: string; company_id: number | null; created_at: string }
  agents: {
    id: Generated<number>
    company_id: number
    name: string
    description: Generated<string>
    active: Generated<number>
    created_at: string
  }
  tokens: {
    id: Generated<number>
    name: string
    hash: string
    allow: string
    expires_at: string | null
    created_at: string
    last_used_at: string | null
    revoked_at: string | null
    company_id: number | null
    quota: number | null
    used: Generated<number>
    agent_id: number | null
  }
  former_secrets: {
    hash: string
    key_id: number | null
    token_id: number | null
    ends_at: string
    last_used_at: string | null
  }
  login_links: {
    hash: string
    key_id: number | null
    token_id: number | null
    ends_at: string
    person: string | null
  }
  page_sessions: {
    id: string
    page: string
    key: string | null
    token: string | null
    opened_at: string
    used_at: string
    person: string | null
    remember: Generated<number>
    ended_at: string | null
    end_reason: SessionEnd | null
  }
  page_tickets: {
    hash: string
    session_id: string
    document_id: number | null
    format: string | null
    ends_at: string
  }
  upload_links: {
    hash: string
    token_id: number
    company_id: number
    agent_id: number
    owner_id: number
    name: string
    mimetype: string
    max_bytes: number
    ends_at: string
  }
  hooks: {
    id: Generated<number>
    url: string
    events: string
    company_id: number | null
    agent_id: number | null
    secret: Buffer
    former_secret: Buffer | null
    former_ends_at: string | null
    created_at: string
    sent_at: string | null
    failing_since: string | null
    failure: string | null
    off_at: string | null
    given_up: Generated<number>
    allow_http: Generated<number>
    headers: string | null
    secret_headers: Buffer | null
  }
  hook_deliveries: {
    id: Generated<number>
    hook_id: number
    message_id: string
    type: string
    body: string
    created_at: string
    tries: number
    ended_at: string
    status: number | null
    failure: string | null
  }
  hook_messages: {
    id: Generated<number>
    hook_id: number
    message_id: string
    type: string
    body: string
    created_at: string
    tries: Generated<number>
    due_at: string
  }
  hook_days: { provider_id: number; day: string }
}

/** A row as a query returns it. */
export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>

/** A row whose column of 0 or 1 is a boolean outside the store. Functions of its table convert it. */
export type WithBoolean<R, Column extends keyof R> = Omit<R, Column> & { [name in Column]: boolean }

/** A connection that writes, or a transaction on it. */
export type WriteDb = Kysely<Tables>

/** The part of a connection that reads. Queries take it if they work on connections that cannot write. */
export type ReadDb = Pick<WriteDb, 'selectFrom' | 'selectNoFrom' | 'executeQuery' | 'getExecutor'>
