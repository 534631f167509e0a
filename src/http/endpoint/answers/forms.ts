// Forms of an answer. A form encodes the result of a query as bytes, as text, or as text in parts.

import { acceptedRanges, type QualityRange } from './accept.ts'
import type { TextParts } from './text-parts.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

export type Form<T, A> = {
  /** Unique among the forms of an endpoint. */
  name: string
  /** Media type with parameters: matched with Accept, and sent as Content-Type. */
  contentType: string
  /** `asked` are the effective parameters. */
  encode(value: T, asked: A): string | Uint8Array | TextParts
  /** Headers of the answer beside those that every stored answer has. */
  headers?(value: T, asked: A): Readonly<Record<string, string>>
}

/** Forms of an endpoint. The first one is the default. */
export type Forms<T, A> = readonly [Form<T, A>, ...Form<T, A>[]]

/** JSON form of an encoder. */
export function jsonForm<T, A>(encode: Form<T, A>['encode'], headers?: Form<T, A>['headers']): Form<T, A> {
  return { name: 'json', contentType: JSON_TYPE, encode, ...(headers && { headers }) }
}

/**
 * Returns the form of the highest quality in an Accept header (RFC 9110, 12.4.2; decisions#caching). The most specific
 * matching range gives the quality. At equal quality a named form goes before a wildcard, then the header's order
 * decides. If no form is acceptable, the first one is returned.
 */
export function negotiateForm<T, A>(accept: string | null, forms: Forms<T, A>): Form<T, A> {
  let [best] = forms
  if (forms.length === 1 || accept === null || accept === '*/*') return best
  const ranges = acceptedRanges(accept)
  let rank: Rank | undefined
  for (const form of forms) {
    const own = formRank(baseMediaType(form.contentType), ranges)
    if (!own || (rank && !isBetter(own, rank))) continue
    best = form
    rank = own
  }
  return best
}

type Rank = { quality: number; isNamed: boolean; at: number }

/** Rank of a media type; undefined: it is excluded, or no range matches. */
function formRank(type: string, ranges: readonly QualityRange[]): Rank | undefined {
  const [group = ''] = type.split('/', 1)
  for (const pattern of [type, `${group}/*`, '*/*']) {
    const at = ranges.findIndex(({ range }) => range === pattern)
    const quality = ranges[at]?.quality
    if (quality !== undefined) return quality > 0 ? { quality, isNamed: pattern === type, at } : undefined
  }
  return undefined
}

function isBetter(one: Rank, other: Rank): boolean {
  if (one.quality !== other.quality) return one.quality > other.quality
  if (one.isNamed !== other.isNamed) return one.isNamed
  return one.isNamed && one.at < other.at
}

/** A media type without its parameters. */
export function baseMediaType(text: string): string {
  return text.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}
