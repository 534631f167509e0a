// The filter of documents: of lists, searches, tables, counters and figures.

import type { DocumentState } from '../tables.ts'
import type { InvoiceFilter } from './invoice-search.ts'

/** Selects documents that match each condition that is set. */
export type DocumentFilter = {
  companyId?: number | undefined
  agentId?: number | undefined
  states?: readonly DocumentState[] | undefined
  /** Folded words, of which a name has each. */
  words?: readonly string[] | undefined
  /** Instants of the arrival: the first, and the first that is too late. */
  periodStart?: string | undefined
  periodEnd?: string | undefined
  invoice?: InvoiceFilter | undefined
}

/** Conditions that a search tests row by row; indexes have the others. */
export type SearchedFacts = Omit<DocumentFilter, 'companyId' | 'agentId' | 'states'>

/** Returns the searched facts of a filter. A new one that is left out here does not compile. */
export function searchedFacts({ words, periodStart, periodEnd, invoice }: DocumentFilter) {
  return { words, periodStart, periodEnd, invoice } satisfies Record<keyof SearchedFacts, unknown>
}

/** Selects documents of one company, one agent or both. */
export type PartyFilter = Pick<DocumentFilter, 'companyId' | 'agentId'>
