import * as v from 'valibot'
import type { AnyEndpoint } from '../api/endpoint.ts'
import { jsonForm } from '../api/forms.ts'
import { type StoredDeps, storedEndpoint } from '../api/stored.ts'

export function currenciesEndpoints(deps: StoredDeps): AnyEndpoint[] {
  return [
    storedEndpoint(deps, {
      path: '/api/v1/currencies',
      summary: 'Codes of the currencies that series are of',
      answer: v.array(v.string()),
      effective: () => ({}),
      find: ({ series }) => [...new Set(series.map(({ base_currency }) => base_currency))].sort(),
      forms: [jsonForm((codes) => JSON.stringify(codes))],
    }),
  ]
}
