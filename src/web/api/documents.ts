// Paths and response types of the documents API.

import { groupStates, type QueueState } from '../model/documents/document-queue.ts'
import type { DocumentInvoice } from '../model/documents/invoices.ts'
import type { QueueGroup } from '../model/fragment.ts'

export type Document = {
  id: number
  name: string
  mimetype: string
  size: number
  sha256: string
  created_at: string
  agent_id: number
  owner_id: number
  company_id: number
  created_by: string | null
  state: QueueState
  attempts: number
  finished_at: string | null
  note: string | null
  content?: 'lost'
  /** End of the lease, while the document is claimed. Only in lists. */
  lease_until?: string
  /** Facts of an electronic invoice, or its clave. Only in lists and single documents, as `mail`. */
  invoice?: DocumentInvoice
  /** The mail that brought the document. Its texts are a stranger's. */
  mail?: { from: string | null; subject: string | null; received_at: string }
}

export type NewestDocuments = { documents: readonly Document[]; next_before: number; has_more: boolean }
export type LaterDocuments = { documents: readonly Document[]; next_after: number }

/** Figures of the queue. `changed` rises with each arrival, event and deletion. */
export type Summary = {
  waiting: number
  oldest_waiting_at: string | null
  working: number
  working_since: string | null
  failed: number
  last_failed_at: string | null
  done_today: number
  median_seconds_today: number | null
  stored: number
  changed: number
}

export type DocumentEvent = {
  at: string
  event: 'created' | 'claimed' | 'released' | 'expired' | 'done' | 'failed' | 'retried'
  by: string | null
  via: 'key' | 'token' | 'cli' | 'server' | null
  person?: string
  attempt?: number
  note?: string
  /** Size and hash of the result that the worker returned. */
  result?: { size: number; sha256: string }
}

/** A company or an owner. */
export type DirectoryEntry = { id: number; name: string }
/** Agent; only active ones accept documents. */
export type Agent = DirectoryEntry & { active: boolean }

/** Rows of a page. */
export const PAGE_SIZE = 50
const WAIT_SECONDS = 25

/** Company and agent: 0 means all. `since`, `until`: days of arrival; empty means no limit. */
export type Selection = {
  company: number
  agent: number
  state: QueueGroup | ''
  search: string
  /** Id of the issuer of invoices, and clave; empty: all. */
  issuer: string
  clave: string
  since: string
  until: string
}

export function isSearch({ state, search, since, until }: Selection): boolean {
  return `${state}${search.trim()}${since}${until}` !== ''
}

/** Path of a page, newest first. @param before cursor: last id of the previous page; 0: first page */
export function newestPath(selection: Selection, before: number, limit: number): string {
  const { state, search, since, until } = selection
  const filters = { state: groupStates(state).join(), q: search.trim() && search, from: since, to: until }
  return `/api/v1/documents?${encodeParams({ ...invoiceParams(selection), ...filters, order: 'desc', limit, before })}`
}

/** Path that returns as soon as a document follows the id, or an empty list after 25 s. */
export function waitPath(selection: Selection, after: number): string {
  const params = { ...invoiceParams(selection), after: String(after), wait: WAIT_SECONDS }
  return `/api/v1/documents?${encodeParams(params)}`
}

/** Path of the documents of a clave within a company, newest first. */
export function companionsPath(companyId: number, clave: string): string {
  return `/api/v1/documents?${encodeParams({ company_id: companyId, clave, order: 'desc', limit: PAGE_SIZE })}`
}

export function summaryPath({ company, agent }: Pick<Selection, 'company' | 'agent'>): string {
  return `/api/v1/documents/summary?${encodeParams({ company_id: company, agent_id: agent })}`
}

export function documentPath(id: number): string {
  return `/api/v1/documents/${id}`
}

function invoiceParams({ company, agent, issuer, clave }: Selection) {
  return { company_id: company, agent_id: agent, issuer, clave }
}

/** Encodes parameters without those that are empty or 0. */
function encodeParams(params: Readonly<Record<string, string | number>>): URLSearchParams {
  const entries = Object.entries(params).filter(([, value]) => value !== '' && value !== 0)
  return new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))
}
