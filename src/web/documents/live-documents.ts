// Documents of a selection, newest first. A list without a search long-polls for new documents while the tab is visible.
// Each list is read again when the summary changes. Failed requests are retried.

import { useEffect, useRef, useState } from 'preact/hooks'
import { serverTime } from '../api/clock.ts'
import {
  type Document,
  documentPath,
  isSearch,
  type LaterDocuments,
  type NewestDocuments,
  newestPath,
  PAGE_SIZE,
  type Selection,
  type Summary,
  waitPath,
} from '../api/documents.ts'
import { apiRequest, type Failure, type Result } from '../api/request.ts'
import { isTransient, refreshCount } from '../components/use-api.ts'
import { isInGroup, isNarrower, mergeDocuments } from '../model/documents/document-queue.ts'

export type LiveDocuments = {
  /** Undefined until the first response. */
  documents: readonly Document[] | undefined
  hasMore: boolean
  /** Arrival of the last document that a search has scanned. */
  scanEdge: string | undefined
  isSearching: boolean
  failure: Failure | undefined
  /** Number of documents that arrived since the list was opened; 0 if the list is too short to count them. */
  newCount: number
  loadMore(): void
  /** Replaces a row of the list by the response to a change of it. */
  replace(document: Document): void
  remove(id: number): void
}

type LiveState = Omit<LiveDocuments, 'loadMore' | 'replace' | 'remove'> & {
  key: string
  cursor: number
  /** Newest id of the last answer, shown or not. */
  top: number
  firstNewest: number
}

const RETRY_MS = 5000
const SCREEN_ROWS = 20
const LONGEST_PAGE = 200
/** Requests of a search whose condition the page checks. */
const MAX_NARROW_REQUESTS = 5
const MAX_REREADS = 5
/** Rows of a list that grows by arrivals alone. */
const MAX_ROWS = 500
const EMPTY: LiveState = {
  key: '',
  documents: undefined,
  hasMore: false,
  scanEdge: undefined,
  isSearching: false,
  failure: undefined,
  newCount: 0,
  cursor: 0,
  top: 0,
  firstNewest: 0,
}

/** @param isInUse true for rows with the focus or in the panel, which stay in the list until they are deleted */
export function useLiveDocuments(
  selection: Selection,
  summary: Summary | undefined,
  isInUse: (id: number) => boolean,
): LiveDocuments {
  const [state, setState] = useState<LiveState>(EMPTY)
  const key = JSON.stringify(selection)
  const refresh = refreshCount.value
  const open = useRef<AbortSignal | undefined>(undefined)
  const pageRequest = useRef<AbortSignal | undefined>(undefined)
  const rereading = useRef<AbortSignal | undefined>(undefined)
  useEffect(() => {
    const poll = new AbortController()
    open.current = poll.signal
    const update: Update = (change) => {
      if (poll.signal.aborted) return
      setState((old) => {
        const before = old.key === key ? old : { ...EMPTY, key }
        return withoutOldest(change(before), before, isInUse)
      })
    }
    const length = state.key === key ? state.documents?.length : undefined
    void pollDocuments(selection, poll.signal, update, length)
    return () => poll.abort()
  }, [key, refresh])
  const current = state.key === key ? state : EMPTY
  const readChange = useRef('')
  useEffect(() => {
    const { documents, top } = current
    // Leases and days end without a change.
    const change =
      summary && [key, summary.changed, summary.waiting, summary.working, summary.done_today].join(' ')
    const signal = open.current
    if (!change || !documents || !signal || change === readChange.current) return
    if (rereading.current === signal) return // the next summary starts it, since answers may overtake each other
    readChange.current = change
    rereading.current = signal
    const list = {
      rows: documents,
      inUse: documents.filter(({ id }) => isInUse(id)),
      floor: listEnd(current),
      top,
    }
    void readAgain(selection, list, signal).then((newer) => {
      if (rereading.current === signal) rereading.current = undefined
      if (signal.aborted) return
      if (!newer)
        readChange.current = '' // the next summary starts it again
      else setState((old) => (old.key === key ? withoutOldest(withNewRows(old, newer), old, isInUse) : old))
    })
  }, [summary, current.documents === undefined, key])
  const loadMore = () => {
    const signal = open.current
    if (!signal || current.isSearching || pageRequest.current === signal) return
    pageRequest.current = signal
    void search(selection, current.cursor, signal, (change) => {
      if (!signal.aborted) setState((old) => (old.key === key ? change(old) : old))
    }).then(() => {
      if (pageRequest.current === signal) pageRequest.current = undefined
    })
  }
  const change = (to: (documents: readonly Document[]) => readonly Document[]) =>
    setState((old) => ({ ...old, documents: old.documents && to(old.documents) }))
  return {
    ...current,
    loadMore,
    replace: (document) =>
      change((all) => all.map((one) => (one.id === document.id ? withInvoice(document, one) : one))),
    remove: (id) => change((all) => all.filter((one) => one.id !== id)),
  }
}

/** Responses to changes lack the invoice and the mail, which never change. */
function withInvoice(document: Document, { invoice, mail }: Document): Document {
  return { ...document, ...(invoice && { invoice }), ...(mail && { mail }) }
}

type Update = (change: (old: LiveState) => LiveState) => void

/** @param length of a list that is read again */
async function pollDocuments(
  selection: Selection,
  signal: AbortSignal,
  update: Update,
  length?: number,
): Promise<void> {
  let newestId: number | undefined
  while (!signal.aborted) {
    const startMs = performance.now()
    if (newestId === undefined) {
      const result = await search(selection, 0, signal, update, length)
      if (signal.aborted || (result.failure && !isTransient(result.failure))) return
      newestId = result.newestId
      if (newestId === undefined) await pause(RETRY_MS, signal)
      else if (isSearch(selection)) return
      continue
    }
    if (document.hidden) {
      await nextVisibility(signal)
      continue
    }
    const { value, failure } = await requestLater(waitPath(selection, newestId), signal)
    if (signal.aborted) return
    if (failure?.kind === 'stopped') continue
    if (failure) {
      update((old) => ({ ...old, failure }))
      if (!isTransient(failure)) return
      await pause(RETRY_MS, signal)
    } else {
      newestId = value.next_after
      update((old) => withArrivals(old, value.documents))
      // Pauses 5 s if the server returns an empty list at once, against a busy loop.
      if (value.documents.length === 0 && performance.now() - startMs < RETRY_MS)
        await pause(RETRY_MS, signal)
    }
  }
}

/** Waits for documents while the tab is visible. The browser limits connections to a server, and tabs share them. */
async function requestLater(path: string, signal: AbortSignal): Promise<Result<LaterDocuments>> {
  const request = new AbortController()
  const own = request.signal
  const stop = () => request.abort()
  signal.addEventListener('abort', stop, { signal: own })
  document.addEventListener('visibilitychange', stop, { signal: own })
  const result = await apiRequest<LaterDocuments>(path, { signal: own })
  stop() // removes the listeners
  return result
}

/** Reads pages until a screen is full. @param before 0: replaces the rows by the newest */
async function search(
  selection: Selection,
  before: number,
  signal: AbortSignal,
  update: Update,
  length = PAGE_SIZE,
): Promise<{ newestId?: number; failure?: Failure }> {
  let cursor = before
  let newestId: number | undefined
  let count = 0
  const limit = isNarrower(selection.state)
    ? LONGEST_PAGE
    : Math.min(LONGEST_PAGE, Math.max(PAGE_SIZE, length))
  for (let requests = 1; ; requests++) {
    const path = newestPath(selection, cursor, limit)
    const { value, failure } = await apiRequest<NewestDocuments>(path, { signal })
    if (failure) {
      update((old) => ({ ...old, failure, isSearching: false }))
      return { failure }
    }
    const rows = value.documents.filter((one) => isInGroup(one, selection.state, serverTime()))
    const from = cursor
    newestId ??= value.documents[0]?.id ?? 0
    cursor = value.next_before
    count += rows.length
    const isLimited = isNarrower(selection.state) && requests >= MAX_NARROW_REQUESTS
    const isSearching = value.has_more && count < SCREEN_ROWS && !isLimited && isSearch(selection)
    const scanEdge =
      value.has_more && !isSearching ? await findArrival(value.documents, cursor, signal) : undefined
    update((old) => {
      if (from !== 0 && from !== old.cursor) return old // a refresh has replaced the rows
      const earlier = from === 0 ? [] : (old.documents ?? [])
      // Old documents change their state, and are then the newest of a list with a state.
      const firstNewest = selection.state === '' ? old.firstNewest || (rows[0]?.id ?? 0) : Infinity
      const progress = { cursor, hasMore: value.has_more, isSearching, scanEdge, failure: undefined }
      const top = from === 0 ? (newestId ?? 0) : old.top
      return { ...old, ...progress, top, firstNewest, documents: mergeDocuments(earlier, rows) }
    })
    if (!isSearching) return { newestId }
  }
}

/** Arrival of a document, which may be deleted. */
async function findArrival(
  documents: readonly Document[],
  id: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const row = documents.find((one) => one.id === id)
  return (row ?? (await apiRequest<Document>(documentPath(id), { signal })).value)?.created_at
}

/** `edge`, `ceiling`: rows below and above were not read. `top`: the newest id that was read. */
type ListUpdate = {
  rows: readonly Document[]
  stay: readonly Document[]
  edge: number
  ceiling: number
  top: number
  /** Arrival at the edge of a list that lacks documents below. */
  gap: { arrival: string | undefined } | undefined
}

/** Reads a list again down to the id `floor`. Undefined: a request failed. */
async function readAgain(
  selection: Selection,
  list: { rows: readonly Document[]; inUse: readonly Document[]; floor: number; top: number },
  signal: AbortSignal,
): Promise<ListUpdate | undefined> {
  const { floor } = list
  const limit = isNarrower(selection.state) || list.rows.length > PAGE_SIZE ? LONGEST_PAGE : PAGE_SIZE
  const read: Document[] = []
  let edge = 0
  for (let requests = 0; requests < MAX_REREADS; requests++) {
    const { value } = await apiRequest<NewestDocuments>(newestPath(selection, edge, limit), { signal })
    if (!value) return undefined
    read.push(...value.documents)
    edge = value.has_more ? value.next_before : 0
    if (edge <= floor) break
  }
  const rows = read.filter((one) => one.id >= floor && isInGroup(one, selection.state, serverTime()))
  const stay: Document[] = []
  for (const { id } of list.inUse) {
    if (rows.some((row) => row.id === id)) continue
    const { value, failure } = await apiRequest<Document>(documentPath(id), { signal })
    if (failure && failure.kind !== 'not-found') return undefined
    if (value) stay.push(value)
  }
  const isGap = edge > Math.max(floor, list.top)
  return {
    ...{ rows, stay, edge: Math.max(edge, floor), ceiling: list.top, top: read[0]?.id ?? 0 },
    gap: isGap ? { arrival: read.at(-1)?.created_at } : undefined,
  }
}

/** Adds what was read again. After a gap the list ends, and the next page begins there. */
function withNewRows(old: LiveState, { rows, stay, edge, ceiling, top, gap }: ListUpdate): LiveState {
  const cut = gap && { cursor: edge, hasMore: true, scanEdge: gap.arrival }
  const end = gap ? edge : listEnd(old)
  const earlier = (old.documents ?? []).filter(({ id }) => id >= end && (id < edge || id > ceiling))
  const newest = rows.filter(({ id }) => id >= end)
  const newTop = Math.max(top, earlier[0]?.id ?? 0)
  return withDocuments({ ...old, ...cut, top: newTop }, earlier, [...stay, ...newest])
}

/** Adds the documents that follow the newest. Documents below the end of the list belong to a later page. */
function withArrivals(old: LiveState, arrivals: readonly Document[]): LiveState {
  const top = Math.max(old.top, arrivals.at(-1)?.id ?? 0)
  const rows = arrivals.filter(({ id }) => id >= listEnd(old))
  return withDocuments({ ...old, top }, old.documents ?? [], rows)
}

function withDocuments(old: LiveState, rows: readonly Document[], newer: readonly Document[]): LiveState {
  const documents = mergeDocuments(rows, newer)
  const isCounted = listEnd(old) <= old.firstNewest
  const newCount = isCounted ? documents.filter(({ id }) => id > old.firstNewest).length : 0
  return { ...old, documents, newCount, failure: undefined }
}

/** Ends a list that arrivals have made too long. Rows that the user has loaded are not too many. */
function withoutOldest(list: LiveState, before: LiveState, isInUse: (id: number) => boolean): LiveState {
  const { documents = [] } = list
  const length = before.documents?.filter(({ id }) => id >= listEnd(before)).length ?? 0
  const last = documents[Math.max(MAX_ROWS, length) - 1]
  if (!last || last === documents.at(-1)) return list
  const newCount = last.id > list.firstNewest ? 0 : list.newCount
  const progress = { cursor: last.id, hasMore: true, scanEdge: last.created_at, newCount }
  return { ...list, ...progress, documents: documents.filter(({ id }) => id >= last.id || isInUse(id)) }
}

/** Id below which documents belong to the next page. */
function listEnd({ hasMore, cursor }: LiveState): number {
  return hasMore ? cursor : 0
}

/** Resolves when the tab is shown or hidden. */
function nextVisibility(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => resolve()
    document.addEventListener('visibilitychange', end, { once: true, signal })
    signal.addEventListener('abort', end, { once: true })
  })
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
