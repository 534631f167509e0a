// An endpoint that answers from the stored rates: what was asked, what a query of the domain finds, and how each form
// writes it. Answers are kept and validated by http/api/answer-cache.ts.

import type * as v from 'valibot'
import { type Clock, type IsoDate, todayIn } from '../../dates.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import type { AnswerCache, Made } from './answer-cache.ts'
import { type AnyEndpoint, type Endpoint, get, type QuerySchema } from './endpoint.ts'
import { type Forms, formFor, mediaTypeOf } from './forms.ts'

export type StoredDeps = { cache: RateCache; answers: AnswerCache; clock: Clock }

type StoredEndpoint<Q extends QuerySchema, P extends v.GenericSchema, A, T> = Omit<
  Endpoint<Q, P>,
  'handle' | 'contentTypes'
> & {
  /** The effective parameters, with what stands for those that were not given. An answer is kept under these. */
  effective(given: v.InferOutput<Q> & v.InferOutput<P>, today: IsoDate): A
  find(snapshot: RateSnapshot, asked: NoInfer<A>): T | Promise<T>
  forms: Forms<NoInfer<T>, NoInfer<A>>
}

export function storedEndpoint<Q extends QuerySchema, P extends v.GenericSchema, A, T>(
  { cache, answers, clock }: StoredDeps,
  { effective, find, forms, ...endpoint }: StoredEndpoint<Q, P, A, T>,
): AnyEndpoint {
  return get<Q, P>({
    ...endpoint,
    contentTypes: forms.map(({ contentType }) => mediaTypeOf(contentType)),
    handle({ event, query, params }) {
      const given = Object.assign({}, params, query)
      const asked = effective(given, todayIn(clock))
      const { name, contentType, encode } = formFor(event.req.headers.get('accept'), forms)
      const key = `${endpoint.path} ${name} ${JSON.stringify(asked)}`
      return cache.read((snapshot) => {
        const make = () => {
          const found = find(snapshot, asked)
          const made = (value: T): Made => ({ body: encode(value, asked) })
          return found instanceof Promise ? found.then(made) : made(found)
        }
        return answers.reply(event, snapshot, { key, contentType, make })
      })
    },
  })
}
