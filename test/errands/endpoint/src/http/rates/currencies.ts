import * as v from 'valibot'
import { jsonForm } from '../endpoint/answers/forms.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import { type StoredDeps, storedEndpoint } from '../endpoint/stored.ts'

export function currenciesEndpoints(deps: StoredDeps): AnyEndpoint[] {
  return [
    storedEndpoint(deps, {
      path: '/api/v1/currencies',
      answer: v.array(v.string()),
      effective: () => ({}),
      find: ({ series }) => [...new Set(series.map(({ base_currency }) => base_currency))].sort(),
      forms: [jsonForm((codes) => JSON.stringify(codes))],
    }),
  ]
}
