// Lists the documents of a selection, newest first, and long-polls for new ones. Each poll continues at the cursor of
// the last response, so none is missed. Failed polls are retried.

import { useEffect, useState } from 'preact/hooks'
import {
  type Document,
  type LaterDocuments,
  type NewestDocuments,
  newestPath,
  type Selection,
  waitPath,
} from '../api/documents.ts'
import { apiRequest, type Failure } from '../api/request.ts'
import { isTransient, refreshCount } from '../components/use-api.ts'

export type LiveDocuments = {
  /** Undefined until the first response. */
  documents: readonly Document[] | undefined
  hasMore: boolean
  failure: Failure | undefined
  /** Number of documents added since the list was opened. */
  newCount: number
  loadMore(): void
}

type State = Omit<LiveDocuments, 'loadMore'> & { key: string; cursor: number }

const RETRY_MS = 5000
const EMPTY: State = {
  key: '',
  documents: undefined,
  hasMore: false,
  failure: undefined,
  newCount: 0,
  cursor: 0,
}

export function useLiveDocuments({ company, agent }: Selection): LiveDocuments {
  const [state, setState] = useState<State>(EMPTY)
  const key = `${company} ${agent}`
  const refresh = refreshCount.value
  useEffect(() => {
    const poll = new AbortController()
    const selection = { company, agent }
    void pollDocuments(selection, poll.signal, (change) => {
      if (!poll.signal.aborted) setState((old) => change(old.key === key ? old : { ...EMPTY, key }))
    })
    return () => poll.abort()
  }, [key, refresh])
  const current = state.key === key ? state : EMPTY
  const loadMore = async () => {
    const path = newestPath({ company, agent }, current.cursor)
    const { value, failure } = await apiRequest<NewestDocuments>(path)
    setState((old) => (old.key === key ? (value ? withOlder(old, value) : { ...old, failure }) : old))
  }
  return { ...current, loadMore: () => void loadMore() }
}

type Update = (change: (old: State) => State) => void

async function pollDocuments(selection: Selection, signal: AbortSignal, update: Update): Promise<void> {
  let newestId: number | undefined
  while (!signal.aborted) {
    const startMs = performance.now()
    const path = newestId === undefined ? newestPath(selection) : waitPath(selection, newestId)
    const { value, failure } = await apiRequest<NewestDocuments & LaterDocuments>(path, { signal })
    if (signal.aborted) return
    if (failure) {
      update((old) => ({ ...old, failure }))
      if (!isTransient(failure)) return
      await pause(RETRY_MS, signal)
    } else if (newestId === undefined) {
      newestId = value.documents[0]?.id ?? 0
      update((old) => ({ ...withOlder({ ...old, documents: [] }, value), newCount: 0 }))
    } else {
      newestId = value.next_after
      update((old) => withNewer(old, value.documents))
      // Pauses 5 s if the server returns an empty list at once, against a busy loop.
      if (value.documents.length === 0 && performance.now() - startMs < RETRY_MS)
        await pause(RETRY_MS, signal)
    }
  }
}

function withOlder(old: State, { documents, next_before, has_more }: NewestDocuments): State {
  const all = [...(old.documents ?? []), ...documents]
  return { ...old, documents: all, cursor: next_before, hasMore: has_more, failure: undefined }
}

function withNewer(old: State, documents: readonly Document[]): State {
  const ids = new Set(old.documents?.map(({ id }) => id))
  const newDocuments = documents.filter(({ id }) => !ids.has(id)).toReversed()
  return {
    ...old,
    documents: [...newDocuments, ...(old.documents ?? [])],
    newCount: old.newCount + newDocuments.length,
    failure: undefined,
  }
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
