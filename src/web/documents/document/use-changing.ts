import { apiRequest } from '../../api/request.ts'
import { useLoaded } from '../../components/use-api.ts'

/** Loads what belongs to the open document, and again when it changes. The former value stays until then. */
export function useChanging<T>(path: string, changed: number | string | undefined) {
  const load = (signal: AbortSignal) => apiRequest<T>(path, { signal })
  const { value, failure, previous } = useLoaded(`${path} ${changed}`, load, { isRetried: false })
  return { value: value ?? previous, failure }
}
