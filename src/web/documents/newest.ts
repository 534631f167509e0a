// The documents of a selection, newest first, which new ones join by themselves: each wait begins where the last answer
// ended, so none is missed, and a failed one is tried again.

import { useEffect, useState } from 'preact/hooks'
import { passes, refreshes } from '../parts/answer.ts'
import { ask, type Failure } from '../server/ask.ts'
import {
  type Document,
  type NewDocuments,
  type NewestDocuments,
  newestPath,
  type Selection,
  waitingPath,
} from '../server/documents.ts'

export type Newest = {
  /** Undefined until the first answer. */
  documents: readonly Document[] | undefined
  hasMore: boolean
  failure: Failure | undefined
  /** How many have joined since the list was opened. */
  fresh: number
  more(): void
}

type State = Omit<Newest, 'more'> & { of: string; before: number }

const AGAIN_MS = 5000
const NOTHING: State = {
  of: '',
  documents: undefined,
  hasMore: false,
  failure: undefined,
  fresh: 0,
  before: 0,
}

export function useNewest({ company, agent }: Selection): Newest {
  const [state, setState] = useState<State>(NOTHING)
  const of = `${company} ${agent}`
  const refresh = refreshes.value
  useEffect(() => {
    const stop = new AbortController()
    const selection = { company, agent }
    void follow(selection, stop.signal, (change) => {
      if (!stop.signal.aborted) setState((old) => change(old.of === of ? old : { ...NOTHING, of }))
    })
    return () => stop.abort()
  }, [of, refresh])
  const shown = state.of === of ? state : NOTHING
  const more = async () => {
    const { value, failure } = await ask<NewestDocuments>(newestPath({ company, agent }, shown.before))
    setState((old) => (old.of === of ? (value ? withOlder(old, value) : { ...old, failure }) : old))
  }
  return { ...shown, more: () => void more() }
}

type Change = (change: (old: State) => State) => void

async function follow(selection: Selection, signal: AbortSignal, change: Change): Promise<void> {
  let newest: number | undefined
  while (!signal.aborted) {
    const begun = performance.now()
    const path = newest === undefined ? newestPath(selection) : waitingPath(selection, newest)
    const { value, failure } = await ask<NewestDocuments & NewDocuments>(path, { signal })
    if (signal.aborted) return
    if (failure) {
      change((old) => ({ ...old, failure }))
      if (!passes(failure)) return
      await pause(AGAIN_MS, signal)
    } else if (newest === undefined) {
      newest = value.documents[0]?.id ?? 0
      change((old) => ({ ...withOlder({ ...old, documents: [] }, value), fresh: 0 }))
    } else {
      newest = value.next_after
      change((old) => withNewer(old, value.documents))
      // A server that answers an empty wait at once is not asked a thousand times a second.
      if (value.documents.length === 0 && performance.now() - begun < AGAIN_MS) await pause(AGAIN_MS, signal)
    }
  }
}

function withOlder(old: State, { documents, next_before, has_more }: NewestDocuments): State {
  const all = [...(old.documents ?? []), ...documents]
  return { ...old, documents: all, before: next_before, hasMore: has_more, failure: undefined }
}

function withNewer(old: State, documents: readonly Document[]): State {
  const known = new Set(old.documents?.map(({ id }) => id))
  const joined = documents.filter(({ id }) => !known.has(id)).toReversed()
  return {
    ...old,
    documents: [...joined, ...(old.documents ?? [])],
    fresh: old.fresh + joined.length,
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
