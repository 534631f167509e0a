import { LEAST_FREE } from '../../domain/documents/uploads/quotas.ts'

/** Raises a --min-free to LEAST_FREE. `warn` is called for a smaller one. */
export function raiseMinFree(size: number, warn: () => void): number {
  if (size < LEAST_FREE) warn()
  return Math.max(size, LEAST_FREE)
}
