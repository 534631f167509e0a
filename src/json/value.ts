// What a reader of JSON says of the plain values it meets, without keeping more of them than is wanted.

/**
 * A number as it is written: whether it is an integer is judged by its text (decisions 3.2). Empty for one of which more
 * is there than was to be kept, which is a number like another and no integer.
 */
export type JsonNumber = { number: string }

/** Stands for a text of which more is there than was to be kept. */
export const TOO_LONG = Symbol('a text that is too long')

export type JsonScalar = string | JsonNumber | boolean | null | typeof TOO_LONG

/** The integer that is written; NaN for a number that is written in another way, such as `1.0` or `1e0`. */
export function integerOf({ number }: JsonNumber): number {
  return /^-?\d+$/.test(number) ? Number(number) : Number.NaN
}
