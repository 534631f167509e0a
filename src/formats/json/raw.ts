/** Creates a number for JSON.stringify with exactly the digits of a decimal text, without a float. */
export function rawNumber(digits: string): unknown {
  return (JSON as typeof JSON & { rawJSON(text: string): unknown }).rawJSON(digits)
}
