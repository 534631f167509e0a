// The forms that one answer can have. A form is a function from the value that a query found to bytes, or to text in parts.

import type { TextParts } from './text-parts.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

export type Form<T, A> = {
  /** A word that tells it from the others of an endpoint. */
  name: string
  /** Its media type, with parameters: what a client names in Accept, and what the answer says. */
  contentType: string
  /** `asked` are the effective parameters. */
  encode(value: T, asked: A): string | Uint8Array | TextParts
}

/** Forms, the one first that a client gets that names none of them. */
export type Forms<T, A> = readonly [Form<T, A>, ...Form<T, A>[]]

/** JSON by an encoder. */
export function jsonForm<T, A>(encode: Form<T, A>['encode']): Form<T, A> {
  return { name: 'json', contentType: JSON_TYPE, encode }
}

/** The form that an Accept header names, of several the first in the header's order. */
export function formFor<T, A>(accept: string | null, forms: Forms<T, A>): Form<T, A> {
  const [first] = forms
  if (forms.length === 1 || accept === null) return first
  for (const one of accept.split(',')) {
    const wanted = mediaTypeOf(one)
    const found = forms.find(({ contentType }) => mediaTypeOf(contentType) === wanted)
    if (found) return found
  }
  return first
}

/** A media type without its parameters. */
export function mediaTypeOf(text: string): string {
  return text.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}
