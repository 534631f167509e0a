/** Limits a list to ids beyond one, in this order. */
export type PageRequest = { limit: number; order: 'asc' | 'desc'; after?: number; before?: number }
