// Figures of the queue, polled while the tab is visible.

import { useEffect, useState } from 'preact/hooks'
import { type Selection, type Summary, summaryPath } from '../api/documents.ts'
import { apiRequest, type Failure } from '../api/request.ts'
import { isTransient, refreshCount } from '../components/use-api.ts'

export type LiveSummary = { summary: Summary | undefined; failure: Failure | undefined }

const EVERY_MS = 5000
const NONE: LiveSummary = { summary: undefined, failure: undefined }

export function useSummary({ company, agent }: Pick<Selection, 'company' | 'agent'>): LiveSummary {
  const path = summaryPath({ company, agent })
  const [state, setState] = useState<LiveSummary & { path: string }>({ ...NONE, path })
  const refresh = refreshCount.value
  useEffect(() => {
    const request = new AbortController()
    const { signal } = request
    let timer: ReturnType<typeof setTimeout> | undefined
    const poll = async () => {
      clearTimeout(timer)
      if (document.hidden) return
      const startMs = performance.now()
      const { value, failure } = await apiRequest<Summary>(path, { signal })
      if (signal.aborted) return
      setState((old) => ({ path, failure, summary: value ?? (old.path === path ? old.summary : undefined) }))
      clearTimeout(timer) // the tab became visible in between
      if (!failure || isTransient(failure)) timer = setTimeout(poll, startMs + EVERY_MS - performance.now())
    }
    void poll()
    document.addEventListener('visibilitychange', poll)
    return () => {
      request.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', poll)
    }
  }, [path, refresh])
  return state.path === path ? state : NONE
}
