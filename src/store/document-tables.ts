// The tables of documents, their blobs and mailboxes, as types of Kysely; schema.sql describes them.

import type { Generated } from 'kysely'
/** Events of a document in their order; `login`, a sign-in by a link, has no document. */
export type EventKind =
  | 'created'
  | 'claimed'
  | 'released'
  | 'done'
  | 'failed'
  | 'retried'
  | 'deleted'
  | 'login'
/** Actor of an event: a key, a token, a user on the command line, or the server itself. */
export type ActorKind = 'key' | 'token' | 'cli' | 'server'
/** State of the work on a document. */
export type DocumentState = 'new' | 'claimed' | 'done' | 'failed'
/** End of a lease on the time line of the engine (`LeaseSql`). */
export type LeaseEnd = number | Date
/** `none`: without encryption, to this machine alone. */
export type MailSecurity = 'tls' | 'starttls' | 'none'
/** Cause of the pause of a mailbox. */
export type PauseReason = 'operator' | 'restore'

export type DocumentTables = {
  attachments: {
    id: Generated<number>
    name: string
    mimetype: string
    size: number
    sha256: string
    created_at: string
  }
  documents: {
    id: Generated<number>
    attachment_id: number
    company_id: number
    agent_id: number
    owner_id: number
    name: string
    created_at: string
    created_by: number | null
    state: Generated<DocumentState>
    attempts: Generated<number>
    claim_id: string | null
    lease_seconds: number | null
    finished_at: string | null
    finished_by: number | null
    note: string | null
    lease_ends: LeaseEnd | null
    claimed_at: string | null
    name_folded: string | null
    priority: Generated<number>
  }
  document_results: { document_id: number; result: string; size: number }
  /** `refs`: JSON. `warnings`: words. */
  invoices: Record<
    | ('kind' | 'version' | 'clave' | 'consecutive' | 'issued_at' | 'date' | 'currency' | 'exchange_rate')
    | ('issuer_type' | 'issuer_id' | 'issuer_name' | 'receiver_type' | 'receiver_id' | 'receiver_name')
    | ('total' | 'tax' | 'refs' | 'warnings' | 'fault'),
    string | null
  > & {
    document_id: number
    company_id: number
    source: 'content' | 'name' | 'mail'
    outcome: 'accepted' | 'partly_accepted' | 'rejected' | null
    reader: number
  }
  document_counts: {
    id: Generated<number>
    agent_id: number
    day: string | null
    seconds: number | null
    new: Generated<number>
    claimed: Generated<number>
    done: Generated<number>
    failed: Generated<number>
    bytes: Generated<number>
    changes: Generated<number>
    failed_at: string | null
    claimed_at: string | null
    claimed_by: string | null
  }
  events: {
    id: Generated<number>
    at: string
    kind: EventKind
    via: ActorKind
    actor: string
    document_id: number | null
    company_id: number | null
    sha256: string | null
    created_at: string | null
    created_by: string | null
    person: string | null
    attempt: number | null
    note: string | null
    size: number | null
  }
  contents: { sha256: string; object: string | null; size: number; created_at: string }
  removed_objects: { object: string; removed_at: string }
  lost_contents: { sha256: string; fault: string; since: string }
  losses: { lost_from: string; lost_to: string }
  orphaned_contents: { object: string; sha256: string; size: number; stored_at: string }
  idempotency: { token_id: number; key: string; fingerprint: string; answer: string; created_at: string }
  mailboxes: {
    id: Generated<number>
    name: string
    host: string
    port: number
    security: MailSecurity
    user_name: string
    password_file: string | null
    oauth_file: string | null
    folder: string
    done: string
    rejected: string
    company_id: number
    agent_id: number
    owner_id: number
    allow_from: string | null
    by_tag: Generated<number>
    largest: number
    created_at: string
    paused_at: string | null
    pause_reason: PauseReason | null
    deleted_at: string | null
    last_round_at: string | null
    last_success_at: string | null
    failing_since: string | null
    failure: string | null
    failure_code: string | null
    failures: Generated<number>
    reported_at: string | null
    next_round_at: string | null
    waiting: number | null
    taken: Generated<number>
    refused: Generated<number>
    left_out: Generated<number>
    ignore_names: string | null
  }
  mail_messages: {
    key: string
    mailbox_id: number
    uidvalidity: number
    uid: number
    taken_uid: number
    taken_at: string
    last_seen_at: string
    moved_at: string | null
    move_failures: Generated<number>
  }
  mail_refusals: {
    mailbox_id: number
    uidvalidity: number
    uid: number
    size: number
    reason: string
    at: string
  }
  mail_left: {
    mailbox_id: number
    uidvalidity: number
    uid: number
    size: number
    at: string
    from_text: string | null
    subject: string | null
    reason: string | null
    parts: string
  }
  document_mail: {
    document_id: number
    mailbox_id: number
    from_text: string | null
    subject: string | null
    received_at: string
    message_id: string | null
    note: string | null
  }
}
