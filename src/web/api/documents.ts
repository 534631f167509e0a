// Documents, and where they belong: what the documents API answers, and how the page asks for it.

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
export type NewDocuments = { documents: readonly Document[]; next_after: number }

/** A company or an owner. */
export type Named = { id: number; name: string }
/** Only an active one can be given documents. */
export type Agent = Named & { active: boolean }

const PAGE = 50
const WAIT_SECONDS = 25

export type Selection = { company: number; agent: number }

/** The newest first. @param before the id before which to go on; 0: from the newest */
export function newestPath(selection: Selection, before = 0): string {
  const words = wordsOf(selection)
  words.set('order', 'desc')
  words.set('limit', String(PAGE))
  if (before > 0) words.set('before', String(before))
  return `/api/v1/documents?${words}`
}

/** Answered as soon as there is a document after the id, or empty after some seconds. */
export function waitingPath(selection: Selection, after: number): string {
  const words = wordsOf(selection)
  words.set('after', String(after))
  words.set('wait', String(WAIT_SECONDS))
  return `/api/v1/documents?${words}`
}

export function contentPath(id: number): string {
  return `/api/v1/documents/${id}/content`
}

function wordsOf({ company, agent }: Selection): URLSearchParams {
  const words = new URLSearchParams()
  if (company > 0) words.set('company_id', String(company))
  if (agent > 0) words.set('agent_id', String(agent))
  return words
}
