import * as v from 'valibot'
import type { RateCache } from '../../domain/rates/rate-cache.ts'
import { type AnyEndpoint, get } from '../api/endpoint.ts'
import { cachedReply } from '../api/etag.ts'
import { BooleanParam } from '../api/params.ts'

const ProviderOut = v.object({
  id: v.pipe(v.number(), v.integer()),
  code: v.string(),
  name: v.string(),
  country: v.string(),
  website: v.nullable(v.string()),
  enabled: v.boolean(),
})

export function providersEndpoints({ cache }: { cache: RateCache }): AnyEndpoint[] {
  return [
    get({
      path: '/api/v1/providers',
      summary: 'Provider catalog',
      query: v.object({ only_enabled: v.optional(BooleanParam, 'false') }),
      answer: v.array(ProviderOut),
      stored: true,
      handle({ event, query }) {
        const snapshot = cache.snapshot()
        return cachedReply(event, snapshot, undefined, () =>
          JSON.stringify(snapshot.providers.filter((provider) => provider.enabled || !query.only_enabled)),
        )
      },
    }),
  ]
}
