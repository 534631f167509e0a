import * as v from 'valibot'
import { providersIn } from '../../domain/rates/queries.ts'
import type { AnyEndpoint } from '../api/endpoint.ts'
import { jsonForm } from '../api/forms.ts'
import { booleanParam } from '../api/params.ts'
import { type StoredDeps, storedEndpoint } from '../api/stored.ts'

const ProviderOut = v.pipe(
  v.object({
    id: v.pipe(v.number(), v.integer()),
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
      summary: 'Provider catalog',
      about: 'The institutions whose rates this server holds.',
      query: v.object({ only_enabled: v.optional(booleanParam('Only those that are enabled'), 'false') }),
      answer: v.array(ProviderOut),
      effective: ({ only_enabled }) => ({ onlyEnabled: only_enabled }),
      find: (snapshot, { onlyEnabled }) => providersIn(snapshot, onlyEnabled),
      forms: [jsonForm((providers) => JSON.stringify(providers))],
    }),
  ]
}
