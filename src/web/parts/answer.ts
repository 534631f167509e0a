// Answers of the server in a component: asked when it is shown, again when the connection is back, and again after a
// failure that passes.

import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { ask, type Failure } from '../server/ask.ts'

export type Answer<T> = {
  /** Undefined while it is asked for the first time, and when it could not be had. */
  value?: T | undefined
  failure?: Failure | undefined
  /** The answer to what was asked before, for as long as this one is not there. */
  before?: T | undefined
}

type Held<T> = { path: string; value?: T | undefined; failure?: Failure | undefined; before?: T | undefined }

const AGAIN_MS = 8000
const OLD_MS = 5 * 60_000

/** Counts up when everything that is shown is to be asked again. */
export const refreshes = signal(0)
let refreshedAt = Date.now()

export function refreshAll(): void {
  refreshedAt = Date.now()
  refreshes.value += 1
}

addEventListener('online', refreshAll)
addEventListener('offline', refreshAll) // what is shown says so at once
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && Date.now() - refreshedAt > OLD_MS) refreshAll()
})

/** @param path what is asked; undefined: nothing yet. @param everyMs asked again after so long. @param read the same function at each call */
export function useAnswer<T>(
  path: string | undefined,
  everyMs?: number,
  read?: (answer: Response) => Promise<T>,
): Answer<T> {
  const [held, hold] = useState<Held<T>>({ path: '' })
  const [turn, setTurn] = useState(0)
  const refresh = refreshes.value
  useEffect(() => {
    if (path === undefined) return
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const later = (ms: number) => {
      timer = setTimeout(() => setTurn((count) => count + 1), ms)
    }
    ask<T>(path, { signal: stop.signal, read }).then(({ value, failure }) => {
      if (stop.signal.aborted) return
      hold((old) => {
        const known = old.path === path ? old.value : undefined
        // What is known stays while the server cannot be asked.
        if (failure)
          return {
            path,
            value: passes(failure) ? known : undefined,
            failure,
            before: known ?? old.value ?? old.before,
          }
        return { path, value, failure: undefined, before: undefined }
      })
      if (failure && passes(failure)) later(AGAIN_MS)
      else if (everyMs !== undefined) later(everyMs)
    })
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [path, turn, refresh])
  if (held.path === path) return held
  return { before: held.value ?? held.before }
}

/** Whether the same question may be answered later. */
export function passes({ kind }: Failure): boolean {
  return kind === 'offline' || kind === 'busy' || kind === 'server' || kind === 'too-many'
}
