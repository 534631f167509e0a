// Parameters as .NET reads them: names in any case.

/** Maps each name in lower case to its first value. */
export function lowerCaseNames(entries: Iterable<readonly [string, string]>): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of entries) values.getOrInsert(name.toLowerCase(), value)
  return values
}
