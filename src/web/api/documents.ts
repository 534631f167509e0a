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
  const params = invoiceParams(selection)
  const { state, search, since, until } = selection
  if (state !== '') params.set('state', groupStates(state).join())
  if (search.trim() !== '') params.set('q', search)
  if (since !== '') params.set('from', since)
  if (until !== '') params.set('to', until)
  params.set('order', 'desc')
  params.set('limit', String(limit))
  if (before > 0) params.set('before', String(before))
  return `/api/v1/documents?${params}`
}

/** Path that returns as soon as a document follows the id, or an empty list after 25 s. */
export function waitPath(selection: Selection, after: number): string {
  const params = invoiceParams(selection)
  params.set('after', String(after))
  params.set('wait', String(WAIT_SECONDS))
  return `/api/v1/documents?${params}`
}

/** Path of the documents of a clave within a company, newest first. */
export function companionsPath(companyId: number, clave: string): string {
  const params = { company_id: String(companyId), clave, order: 'desc', limit: String(PAGE_SIZE) }
  return `/api/v1/documents?${new URLSearchParams(params)}`
}

export function summaryPath(selection: Pick<Selection, 'company' | 'agent'>): string {
  return `/api/v1/documents/summary?${selectionParams(selection)}`
}

export function documentPath(id: number): string {
  return `/api/v1/documents/${id}`
}

function invoiceParams(selection: Selection): URLSearchParams {
  const params = selectionParams(selection)
  if (selection.issuer !== '') params.set('issuer', selection.issuer)
  if (selection.clave !== '') params.set('clave', selection.clave)
  return params
}

function selectionParams({ company, agent }: Pick<Selection, 'company' | 'agent'>): URLSearchParams {
  const params = new URLSearchParams()
  if (company > 0) params.set('company_id', String(company))
  if (agent > 0) params.set('agent_id', String(agent))
  return params
}
