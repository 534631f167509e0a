// Loads what belongs to the open document, and again when a document changes. The former value stays until then.

import { useEffect, useState } from 'preact/hooks'
import { apiRequest, type Failure } from '../../api/request.ts'
import { refreshCount } from '../../components/use-api.ts'

/** @param changed reads the path again when it changes */
export function useChanging<T>(
  path: string,
  changed: number | string | undefined,
): { value?: T; failure?: Failure | undefined } {
  const [state, setState] = useState<{ value?: T; failure?: Failure | undefined }>({})
  const refresh = refreshCount.value
  useEffect(() => {
    const request = new AbortController()
    void apiRequest<T>(path, { signal: request.signal }).then(({ value, failure }) => {
      if (request.signal.aborted) return
      setState((old) => (failure ? { ...old, failure } : { value }))
    })
    return () => request.abort()
  }, [path, changed, refresh])
  return state
}
