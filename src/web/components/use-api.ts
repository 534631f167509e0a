// Loads a resource for a component, and retries when the connection returns and 8 s after a transient failure.

import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { apiRequest, type Failure } from '../api/request.ts'

export type ApiState<T> = {
  /** Undefined before the first response, and after a permanent failure. */
  value?: T | undefined
  failure?: Failure | undefined
  /** Value of the previous path, until this one is loaded. */
  previous?: T | undefined
}

type PathState<T> = ApiState<T> & { path: string }

const RETRY_MS = 8000
const STALE_MS = 5 * 60_000

/** Increments to reload every resource. */
export const refreshCount = signal(0)
let lastRefresh = Date.now()

export function refreshAll(): void {
  lastRefresh = Date.now()
  refreshCount.value += 1
}

addEventListener('online', refreshAll)
addEventListener('offline', refreshAll) // shows the failure at once
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && Date.now() - lastRefresh > STALE_MS) refreshAll()
})

/** @param path undefined: nothing to load yet @param everyMs poll interval @param read the same function at each call */
export function useApi<T>(
  path: string | undefined,
  everyMs?: number,
  read?: (response: Response) => Promise<T>,
): ApiState<T> {
  const [state, setState] = useState<PathState<T>>({ path: '' })
  const [attempt, setAttempt] = useState(0)
  const refresh = refreshCount.value
  useEffect(() => {
    if (path === undefined) return
    const request = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const schedule = (ms: number) => {
      timer = setTimeout(() => setAttempt((count) => count + 1), ms)
    }
    apiRequest<T>(path, { signal: request.signal, read }).then(({ value, failure }) => {
      if (request.signal.aborted) return
      setState((old) => {
        const oldValue = old.path === path ? old.value : undefined
        // A transient failure does not discard the value.
        if (failure)
          return {
            path,
            value: isTransient(failure) ? oldValue : undefined,
            failure,
            previous: oldValue ?? old.value ?? old.previous,
          }
        return { path, value, failure: undefined, previous: undefined }
      })
      if (failure && isTransient(failure)) schedule(RETRY_MS)
      else if (everyMs !== undefined) schedule(everyMs)
    })
    return () => {
      request.abort()
      clearTimeout(timer)
    }
  }, [path, attempt, refresh])
  if (state.path === path) return state
  return { previous: state.value ?? state.previous }
}

/** Returns true if a retry may succeed. */
export function isTransient({ kind }: Failure): boolean {
  return kind === 'offline' || kind === 'busy' || kind === 'server' || kind === 'too-many'
}
