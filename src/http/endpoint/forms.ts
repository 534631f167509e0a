// The forms that one answer can have. A form is a function from the value that a query found to bytes, or to text in parts.

import { acceptedRanges, type QualityRange } from './accept.ts'
import type { TextParts } from './text-parts.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

export type Form<T, A> = {
  /** A word that tells it from the others of an endpoint. */
  name: string
  /** Its media type, with parameters: what a client names in Accept, and what the answer says. */
  contentType: string
  /** `asked` are the effective parameters. */
  encode(value: T, asked: A): string | Uint8Array | TextParts
  /** Headers of the answer beside those that every stored answer has. */
  headers?(value: T, asked: A): Readonly<Record<string, string>>
}

/** Forms, the one first that a client gets that names none of them. */
export type Forms<T, A> = readonly [Form<T, A>, ...Form<T, A>[]]

/** JSON by an encoder. */
export function jsonForm<T, A>(encode: Form<T, A>['encode'], headers?: Form<T, A>['headers']): Form<T, A> {
  return { name: 'json', contentType: JSON_TYPE, encode, ...(headers && { headers }) }
}

/**
 * The form of the highest quality in an Accept header (RFC 9110, 12.4.2; decisions 2.14): a form has the quality of the most
 * specific range that matches it. Of equal quality, a form that is named wins over one of a wildcard, then the order of the
 * header decides. The first form, where none is acceptable.
 */
export function formFor<T, A>(accept: string | null, forms: Forms<T, A>): Form<T, A> {
  let [best] = forms
  if (forms.length === 1 || accept === null || accept === '*/*') return best
  const ranges = acceptedRanges(accept)
  let rank: Rank | undefined
  for (const form of forms) {
    const own = rankOf(mediaTypeOf(form.contentType), ranges)
    if (!own || (rank && !isBetter(own, rank))) continue
    best = form
    rank = own
  }
  return best
}

type Rank = { quality: number; isNamed: boolean; at: number }

/** The quality of a media type; undefined: it is excluded, or no range matches. */
function rankOf(type: string, ranges: readonly QualityRange[]): Rank | undefined {
  const [group = ''] = type.split('/', 1)
  for (const wanted of [type, `${group}/*`, '*/*']) {
    const at = ranges.findIndex(({ range }) => range === wanted)
    const quality = ranges[at]?.quality
    if (quality !== undefined) return quality > 0 ? { quality, isNamed: wanted === type, at } : undefined
  }
  return undefined
}

function isBetter(one: Rank, other: Rank): boolean {
  if (one.quality !== other.quality) return one.quality > other.quality
  if (one.isNamed !== other.isNamed) return one.isNamed
  return one.isNamed && one.at < other.at
}

/** A media type without its parameters. */
export function mediaTypeOf(text: string): string {
  return text.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}
