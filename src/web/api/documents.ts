// Paths and response types of the documents API.

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
  content?: 'lost'
}

export type NewestDocuments = { documents: readonly Document[]; next_before: number; has_more: boolean }
export type LaterDocuments = { documents: readonly Document[]; next_after: number }

/** A company or an owner. */
export type DirectoryEntry = { id: number; name: string }
/** Agent; only active ones accept documents. */
export type Agent = DirectoryEntry & { active: boolean }

const PAGE_SIZE = 50
const WAIT_SECONDS = 25

export type Selection = { company: number; agent: number }

/** Path of a page, newest first. @param before cursor: last id of the previous page; 0: first page */
export function newestPath(selection: Selection, before = 0): string {
  const words = selectionParams(selection)
  words.set('order', 'desc')
  words.set('limit', String(PAGE_SIZE))
  if (before > 0) words.set('before', String(before))
  return `/api/v1/documents?${words}`
}

/** Path that returns as soon as a document follows the id, or an empty list after 25 s. */
export function waitPath(selection: Selection, after: number): string {
  const words = selectionParams(selection)
  words.set('after', String(after))
  words.set('wait', String(WAIT_SECONDS))
  return `/api/v1/documents?${words}`
}

export function contentPath(id: number): string {
  return `/api/v1/documents/${id}/content`
}

function selectionParams({ company, agent }: Selection): URLSearchParams {
  const params = new URLSearchParams()
  if (company > 0) params.set('company_id', String(company))
  if (agent > 0) params.set('agent_id', String(agent))
  return params
}
