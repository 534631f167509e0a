import * as v from 'valibot'
import { sourceTerms } from '../../domain/rates/active-providers.ts'
import { listProviders } from '../../domain/rates/queries.ts'
import type { ProviderRow } from '../../store/rates/providers.ts'
import { jsonForm } from '../endpoint/answers/forms.ts'
import { Integer, titledObject, withDescription } from '../endpoint/answers/shapes.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import { booleanParam } from '../endpoint/params.ts'
import { type StoredDeps, storedEndpoint } from '../endpoint/stored.ts'

const ProviderOut = titledObject('Provider', {
  id: Integer,
  code: v.string(),
  name: v.string(),
  country: v.string(),
  website: v.nullable(v.string()),
  enabled: v.boolean(),
  invented: v.optional(
    withDescription(v.boolean(), 'true: invented values of a demo, of no bank; else absent'),
  ),
  attribution: v.optional(withDescription(v.string(), 'The line that names the source, with details=true')),
  terms: v.optional(v.nullable(withDescription(v.string(), 'The page of its terms, with details=true'))),
})

export function providersEndpoint(deps: StoredDeps): AnyEndpoint {
  return storedEndpoint(deps, {
    path: '/api/v1/providers',
    about: 'The institutions whose rates this server holds.',
    query: v.object({
      only_enabled: v.optional(booleanParam('Only those that are enabled'), 'false'),
      details: v.optional(booleanParam('Whether attribution and terms are shown too'), 'false'),
    }),
    answer: v.array(ProviderOut),
    effective: ({ only_enabled, details }) => ({ onlyEnabled: only_enabled, details }),
    find: (snapshot, { onlyEnabled }) => listProviders(snapshot, onlyEnabled),
    forms: [jsonForm(encodeProviders)],
  })
}

function encodeProviders(rows: readonly ProviderRow[], { details }: { details: boolean }): string {
  if (!details) return JSON.stringify(rows)
  return JSON.stringify(rows.map((row) => ({ ...row, ...sourceTerms(row) })))
}
