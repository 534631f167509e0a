// Endpoints over stored rates: parameters, a query of the domain, and the forms of the answer. The file
// http/endpoint/answers/answer-cache.ts caches and revalidates the answers.

import type { H3Event } from 'h3'
import type * as v from 'valibot'
import type { DatabaseState } from '../../domain/operations/database-watch.ts'
import type { RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { type Clock, currentDay, type IsoDate } from '../../values/dates.ts'
import { type AnswerCache, REVALIDATED, type RenderedAnswer, type Revision } from './answers/answer-cache.ts'
import { baseMediaType, type Forms, negotiateForm } from './answers/forms.ts'
import { type AnyEndpoint, type Endpoint, get, type QuerySchema } from './endpoint.ts'
import { futureInstant } from './params.ts'

/** Stored data at one revision: the rates, or other data with a revision of their own. */
export type StoredSnapshot = Revision & { readonly newestInstant: number | undefined }

/** Snapshots of the stored data. */
export type StoredDeps<S extends StoredSnapshot = RateSnapshot> = {
  cache: { snapshot(): S; read<T>(query: (present: S) => T | Promise<T>): T | Promise<T> }
  past: { read<T>(present: S, instant: number, find: (then: S) => T | Promise<T>): Promise<T> }
  answers: AnswerCache
  clock: Clock
}

/** Effective parameters. `as_of`: the instant whose snapshot is read (decisions#as-of). */
export type Effective = { as_of?: string | undefined }

/** Returns the local day of an instant, by default now. @throws AppError `invalid`: the instant is in the future */
export type LocalDay = (instant: string | undefined) => IsoDate

export type StoredEndpoint<
  Q extends QuerySchema,
  P extends v.GenericSchema,
  A extends object,
  T,
  S extends StoredSnapshot = RateSnapshot,
> = Omit<Endpoint<Q, P, 'GET'>, 'handle' | 'contentTypes'> & {
  /**
   * Returns the effective parameters, with defaults, which are the key of the cached answer. Their `as_of` selects the
   * snapshot.
   */
  effective(params: v.InferOutput<Q> & v.InferOutput<P>, localDay: LocalDay, form: string): A & Effective
  find(snapshot: NoInfer<S>, params: NoInfer<A>): T | Promise<T>
  forms: Forms<NoInfer<T>, NoInfer<A>>
}

export function storedEndpoint<
  Q extends QuerySchema,
  P extends v.GenericSchema,
  A extends object,
  T,
  S extends StoredSnapshot,
>(
  { cache, past, answers, clock }: StoredDeps<S>,
  { effective, find, forms, ...endpoint }: StoredEndpoint<Q, P, A, T, S>,
): AnyEndpoint {
  const negotiatedForm = ({ req }: H3Event) =>
    forms.length === 1 ? forms[0] : negotiateForm(req.headers.get('accept'), forms)
  return get<Q, P>({
    ...endpoint,
    ...REVALIDATED,
    contentTypes: forms.map(({ contentType }) => baseMediaType(contentType)),
    handle({ event, query, params }) {
      const now = clock()
      const today = currentDay(() => now)
      const localDay: LocalDay = (instant) =>
        instant === undefined ? today : pastDay(instant, now, cache.snapshot())
      const { name, contentType, encode, headers } = negotiatedForm(event)
      const effectiveParams = effective(Object.assign({}, params, query), localDay, name)
      const { as_of: asOf } = effectiveParams
      const key = `${endpoint.path} ${name} ${JSON.stringify(effectiveParams)}`
      return cache.read((snapshot) => {
        const make = () => {
          const result =
            asOf === undefined
              ? find(snapshot, effectiveParams)
              : past.read(snapshot, Date.parse(asOf), (pastSnapshot) => find(pastSnapshot, effectiveParams))
          const render = (value: T): RenderedAnswer => {
            const body = encode(value, effectiveParams)
            return headers ? { body, headers: headers(value, effectiveParams) } : { body }
          }
          return result instanceof Promise ? result.then(render) : render(result)
        }
        return answers.reply(event, snapshot, { key, contentType, today, make })
      })
    },
  })
}

/**
 * Returns the local day of an instant. The newest commit may be some milliseconds ahead of the clock.
 * @throws AppError `invalid`: the instant is in the future
 */
export function pastDay(
  asOf: string,
  now: Date,
  { newestInstant = 0 }: Pick<StoredSnapshot, 'newestInstant'>,
): IsoDate {
  const instant = new Date(asOf)
  if (instant > now && instant.getTime() > newestInstant) throw futureInstant(asOf)
  return currentDay(() => instant)
}

/** Guard of an API that answers from memory: sets the header Age while the database does not answer. */
export function ageGuard(database: Pick<DatabaseState, 'memoryAge'>): (event: H3Event) => void {
  return (event) => {
    const age = database.memoryAge()
    if (age !== undefined) event.context.age = age
  }
}
