// Parameters as .NET reads them: by names in any case.

/** The first value of each name, by the name in small letters. */
export function inAnyCase(sent: Iterable<readonly [string, string]>): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of sent) values.getOrInsert(name.toLowerCase(), value)
  return values
}
