// Plain values that the scanner reports, stored up to the limit of the listener.

/**
 * Source text of a number: the text decides whether it is an integer (decisions#ids). Empty for a number over the
 * limit, which is valid but no integer.
 */
export type JsonNumber = { number: string }

/** Placeholder for a string over its limit. */
export const TOO_LONG = Symbol('a text that is too long')

export type JsonScalar = string | JsonNumber | boolean | null | typeof TOO_LONG

/** Parses an integer; NaN for another notation, such as `1.0` or `1e0`. */
export function toInteger({ number }: JsonNumber): number {
  return /^-?\d+$/.test(number) ? Number(number) : Number.NaN
}
