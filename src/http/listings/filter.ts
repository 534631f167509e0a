// Parameters that filter documents, for the list and for its table.

import * as v from 'valibot'
import type { DocumentFields, FieldName } from '../../store/documents/documents.ts'
import type { DocumentFilter } from '../../store/documents/filter.ts'
import type { DocumentState } from '../../store/tables.ts'
import { addDays, endOfDay } from '../../values/dates.ts'
import { searchWords } from '../../values/folded-text.ts'
import { dateParam, idParam, reversedRange } from '../endpoint/params.ts'
import { DocumentStateOut } from './document-shape.ts'
import { INVOICE_PARAMETERS, parseInvoiceFilter } from './invoice-params.ts'

const STATES: readonly string[] = DocumentStateOut.options
const LONGEST_SEARCH = 100
const StatesParam = v.pipe(
  v.string(),
  v.metadata({
    description: 'Only those in this state, or in one of several with commas',
    examples: ['new,failed'],
  }),
  v.transform((text) => text.split(',')),
  v.check(
    (states) => states.every((one) => STATES.includes(one)),
    'must be new, claimed, done or failed, or several of these with commas',
  ),
  v.transform((states) => states as DocumentState[]),
)

export const SearchParam = v.pipe(
  v.string(),
  v.metadata({ description: 'Only those whose name has each of these words, accents and capitals aside' }),
  v.check(
    (text) => [...text].length <= LONGEST_SEARCH && searchWords(text).length > 0 && !text.includes('\0'),
    `must be 1 to ${LONGEST_SEARCH} characters without U+0000, with a word or a part of one`,
  ),
  v.transform(searchWords),
)

/** Parameters that filter by each field of a document. */
const FIELD_PARAMETERS = {
  company_id: { company_id: v.optional(idParam('Only those of this company')) },
  agent_id: { agent_id: v.optional(idParam('Only those for this agent')) },
  owner_id: {},
  name: { q: v.optional(SearchParam) },
  mimetype: {},
  priority: {},
} satisfies Record<FieldName<keyof DocumentFields>, v.ObjectEntries>

export const FILTER_PARAMETERS = {
  ...{ ...FIELD_PARAMETERS.company_id, ...FIELD_PARAMETERS.agent_id, state: v.optional(StatesParam) },
  ...FIELD_PARAMETERS.name,
  from: v.optional(dateParam('Only those that arrived on this day or later, in Costa Rica')),
  to: v.optional(dateParam('Only those that arrived on this day or before')),
  ...INVOICE_PARAMETERS,
}

type FilterQuery = v.InferOutput<v.ObjectSchema<typeof FILTER_PARAMETERS, undefined>>

/** Converts a query to a filter. Days are those of Costa Rica. @throws AppError `invalid` for a reversed period */
export function parseFilter(query: FilterQuery): DocumentFilter {
  const { company_id: companyId, agent_id: agentId, state: states, q, from, to } = query
  if (from !== undefined && to !== undefined && from > to) throw reversedRange(from)
  return {
    ...{ companyId, agentId, states, words: q },
    periodStart: from && new Date(endOfDay(addDays(from, -1))).toISOString(),
    periodEnd: to && new Date(endOfDay(to)).toISOString(),
    invoice: parseInvoiceFilter(query),
  } satisfies Record<keyof DocumentFilter, unknown>
}
