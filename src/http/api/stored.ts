// An endpoint that answers from the stored rates: what was asked, what a query of the domain finds, and how each form
// writes it. Answers are kept and validated by http/api/answer-cache.ts.

import type { H3Event } from 'h3'
import type * as v from 'valibot'
import { type Clock, type IsoDate, todayIn } from '../../dates.ts'
import type { DatabaseState } from '../../domain/database-watch.ts'
import type { PastRates } from '../../domain/rates/past.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { type AnswerCache, type Made, REVALIDATED } from './answer-cache.ts'
import { type AnyEndpoint, type Endpoint, get, type QuerySchema } from './endpoint.ts'
import { type Forms, formFor, mediaTypeOf } from './forms.ts'
import type { KnownAddresses } from './known-addresses.ts'
import { futureInstant } from './params.ts'

export type StoredDeps = {
  cache: RateCache
  past: PastRates
  answers: AnswerCache
  addresses: KnownAddresses
  clock: Clock
}

export type StoredEndpoint<Q extends QuerySchema, P extends v.GenericSchema, A, T> = Omit<
  Endpoint<Q, P>,
  'handle' | 'recall' | 'contentTypes'
> & {
  /**
   * The effective parameters, with what stands for those that were not given. An answer is kept under these, so that
   * `as_of` is among them where the endpoint has it.
   */
  effective(given: v.InferOutput<Q> & v.InferOutput<P>, today: IsoDate, form: string): A
  find(snapshot: RateSnapshot, asked: NoInfer<A>): T | Promise<T>
  forms: Forms<NoInfer<T>, NoInfer<A>>
}

export function storedEndpoint<Q extends QuerySchema, P extends v.GenericSchema, A, T>(
  { cache, past, answers, addresses, clock }: StoredDeps,
  { effective, find, forms, ...endpoint }: StoredEndpoint<Q, P, A, T>,
): AnyEndpoint {
  const formOf = ({ req }: H3Event) =>
    forms.length === 1 ? forms[0] : formFor(req.headers.get('accept'), forms)
  return get<Q, P>({
    ...endpoint,
    ...REVALIDATED,
    contentTypes: forms.map(({ contentType }) => mediaTypeOf(contentType)),
    recall(event) {
      const key = addresses.keyOf(event, { today: todayIn(clock), form: formOf(event).name })
      return key === undefined ? undefined : answers.kept(event, cache.snapshot(), key)
    },
    handle({ event, query, params }) {
      const now = clock()
      const today = todayIn(() => now)
      const asOf = instantOf(query, now)
      const { name, contentType, encode, headers } = formOf(event)
      const asked = effective(Object.assign({}, params, query), asOf ? todayIn(() => asOf) : today, name)
      const key = `${endpoint.path} ${name} ${JSON.stringify(asked)}`
      return cache.read((snapshot) => {
        const make = () => {
          const found = asOf
            ? past.read(snapshot, asOf.getTime(), (then) => find(then, asked))
            : find(snapshot, asked)
          const made = (value: T): Made => {
            const body = encode(value, asked)
            return headers ? { body, headers: headers(value, asked) } : { body }
          }
          return found instanceof Promise ? found.then(made) : made(found)
        }
        const reply = answers.reply(event, snapshot, { key, contentType, make })
        if (!(reply instanceof Promise)) addresses.remember(event, { today, form: name }, key)
        return reply
      })
    },
  })
}

/** The instant as of which is asked (decisions 2.22); undefined: now. @throws AppError `invalid`: it is yet to come */
function instantOf(query: unknown, now: Date): Date | undefined {
  const { as_of } = query as { as_of?: string }
  if (as_of === undefined) return undefined
  const instant = new Date(as_of)
  if (instant > now) throw futureInstant(as_of)
  return instant
}

/** The guard of an API that answers from memory: its answers have the header Age then, until they would be too old. */
export function ageGuard({ memoryAge }: Pick<DatabaseState, 'memoryAge'>): (event: H3Event) => void {
  return (event) => {
    const age = memoryAge()
    if (age !== undefined) event.context.age = age
  }
}
