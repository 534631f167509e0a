// Loads a resource for a component, and retries when the connection returns and 8 s after a transient failure.

import { effect, signal, untracked } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { serverTime } from '../api/clock.ts'
import { isOffline } from '../api/connection.ts'
import { apiRequest, type Failure, type Result } from '../api/request.ts'

export type ApiState<T> = {
  /** Undefined before the first response, and after a permanent failure. */
  value?: T | undefined
  failure?: Failure | undefined
  /** Time at which the value arrived. */
  receivedAt?: number | undefined
  /** Value of the previous key, until this one is loaded. */
  previous?: T | undefined
}

type LoadedState<T> = ApiState<T> & { key: string }

/** Milliseconds until the next attempt after a transient failure. */
export const RETRY_MS = 8000
const STALE_MS = 5 * 60_000
const MIN_REFRESH_MS = 5000

/** Times at which the values of rendered components arrived. */
const arrivals = new Map<object, number>()

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

effect(() => {
  const isBack = !isOffline.value
  untracked(() => {
    if (isBack && Date.now() - lastRefresh > MIN_REFRESH_MS) refreshAll()
  })
})

/** Returns when the oldest of the rendered values arrived; undefined: there is none. */
export function oldestArrival(): number | undefined {
  return arrivals.size === 0 ? undefined : Math.min(...arrivals.values())
}

/** Returns the value, and the former one while another loads without a failure. */
export function useLastLoaded<T>(current: T | undefined, failure: Failure | undefined): T | undefined {
  const [last, setLast] = useState<T | undefined>(undefined)
  if (current && current !== last) setLast(current)
  return current ?? (failure ? undefined : last)
}

/** @param path undefined: nothing to load yet @param everyMs poll interval */
export function useApi<T>(
  path: string | undefined,
  everyMs?: number,
  read?: (response: Response) => Promise<T>,
): ApiState<T> {
  const instance = useMemo(() => ({}), [])
  useEffect(() => () => void arrivals.delete(instance), [])
  const load = async (signal: AbortSignal) => {
    const result = await apiRequest<T>(path ?? '', { signal, read })
    if (!result.failure && !signal.aborted) arrivals.set(instance, serverTime())
    return result
  }
  return useLoaded(path, load, { everyMs })
}

/**
 * Loads a value, and again when its key changes.
 * @param key undefined: nothing to load yet
 * @param isRetried false: a transient failure waits for the next refresh
 */
export function useLoaded<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<Result<T>>,
  { everyMs, isRetried = true }: { everyMs?: number | undefined; isRetried?: boolean } = {},
): ApiState<T> {
  const [state, setState] = useState<LoadedState<T>>({ key: '' })
  const [attempt, setAttempt] = useState(0)
  const refresh = refreshCount.value
  useEffect(() => {
    if (key === undefined) return
    const request = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const schedule = (ms: number) => {
      timer = setTimeout(() => setAttempt((count) => count + 1), ms)
    }
    load(request.signal).then(({ value, failure }) => {
      if (request.signal.aborted) return
      const arrival = serverTime()
      setState((old) => {
        const isSame = old.key === key
        const oldValue = isSame ? old.value : undefined
        // A transient failure does not discard the value.
        if (failure)
          return {
            key,
            value: isTransient(failure) ? oldValue : undefined,
            failure,
            receivedAt: isSame ? old.receivedAt : undefined,
            previous: oldValue ?? old.value ?? old.previous,
          }
        return { key, value, receivedAt: arrival, failure: undefined, previous: undefined }
      })
      if (failure && isRetried && isTransient(failure)) schedule(RETRY_MS)
      else if (everyMs !== undefined) schedule(everyMs)
    })
    return () => {
      request.abort()
      clearTimeout(timer)
    }
  }, [key, attempt, refresh])
  if (state.key === key) return state
  return { previous: state.value ?? state.previous }
}

/** Returns true if a retry may succeed. */
export function isTransient({ kind }: Failure): boolean {
  return kind === 'offline' || kind === 'busy' || kind === 'server' || kind === 'too-many'
}
