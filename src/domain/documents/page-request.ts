import type { DocumentFilter } from '../../store/documents/filter.ts'

/** Limits a list to ids beyond one, in this order. */
export type PageRequest = { limit: number; order: 'asc' | 'desc'; after?: number; before?: number }

/** Filter and page of a list of documents. */
export type DocumentsRequest = DocumentFilter & { page: PageRequest }
