import * as v from 'valibot'
import { listProviders } from '../../domain/rates/queries.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import { jsonForm } from '../endpoint/forms.ts'
import { booleanParam } from '../endpoint/params.ts'
import { Integer } from '../endpoint/shapes.ts'
import { type StoredDeps, storedEndpoint } from '../endpoint/stored.ts'

const ProviderOut = v.pipe(
  v.object({
    id: Integer,
    code: v.string(),
    name: v.string(),
    country: v.string(),
    website: v.nullable(v.string()),
    enabled: v.boolean(),
  }),
  v.title('Provider'),
)

export function providersEndpoints(deps: StoredDeps): AnyEndpoint[] {
  return [
    storedEndpoint(deps, {
      path: '/api/v1/providers',
      about: 'The institutions whose rates this server holds.',
      query: v.object({ only_enabled: v.optional(booleanParam('Only those that are enabled'), 'false') }),
      answer: v.array(ProviderOut),
      effective: ({ only_enabled }) => ({ onlyEnabled: only_enabled }),
      find: (snapshot, { onlyEnabled }) => listProviders(snapshot, onlyEnabled),
      forms: [jsonForm((providers) => JSON.stringify(providers))],
    }),
  ]
}
