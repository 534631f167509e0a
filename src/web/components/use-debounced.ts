import { useEffect, useState } from 'preact/hooks'

const DEBOUNCE_MS = 150

/** Returns the path once it is stable for 150 ms, against a request for each letter. */
export function useDebounced(path: string | undefined): string | undefined {
  const [debounced, setDebounced] = useState(path)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(path), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [path])
  return debounced
}
