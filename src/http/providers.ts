import * as v from 'valibot'
import type { RateBook } from '../store/rate-book.ts'
import type { Api } from './api.ts'
import { cachedReply } from './etag.ts'
import { BooleanParam } from './params.ts'

const ProviderOut = v.object({
  id: v.pipe(v.number(), v.integer()),
  code: v.string(),
  name: v.string(),
  country: v.string(),
  website: v.nullable(v.string()),
  enabled: v.boolean(),
})

export function mountProviders(api: Api, { book }: { book: RateBook }): void {
  api.get({
    path: '/api/v1/providers',
    summary: 'Provider catalog',
    query: v.object({ only_enabled: v.optional(BooleanParam, 'false') }),
    answer: v.array(ProviderOut),
    stored: true,
    handle({ event, query }) {
      const page = book.page()
      return cachedReply(event, page, undefined, () =>
        JSON.stringify(page.providers.filter((provider) => provider.enabled || !query.only_enabled)),
      )
    },
  })
}
