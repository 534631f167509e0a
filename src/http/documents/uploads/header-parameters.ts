// Parses headers such as `form-data; name="file"; filename="a.pdf"`. Browsers escape quotes, CR and LF as %22, %0D and
// %0A, and do not escape backslashes. Other programs escape quotes and backslashes with a backslash.

export type HeaderValue = { kind: string; parameters: ReadonlyMap<string, string> }

// Some programs write the charset of `filename*` before the quotes.
const PARAMETER =
  /[\t ]*;[\t ]*(?:([\w!#$%&'*+.^`|~-]+)=((?<=\*=)[\w-]+'[\w-]*'(?="))?(?:"((?:[^"\\]|\\.)*)"|([^\t ";]+)))?[\t ]*/y

/** Returns kind and names in lower case; undefined: malformed, or a parameter is repeated. */
export function parseHeader(text: string): HeaderValue | undefined {
  const kind = /^[^\t ;]+/.exec(text)?.[0] ?? ''
  const parameters = new Map<string, string>()
  PARAMETER.lastIndex = kind.length
  while (PARAMETER.lastIndex < text.length) {
    const match = PARAMETER.exec(text)
    if (!match) return undefined
    const [, name = '', charset = '', quoted, token = ''] = match
    if (name === '') continue // empty, as in `a; ;`
    if (parameters.has(name.toLowerCase())) return undefined
    parameters.set(name.toLowerCase(), charset + (quoted?.replace(/\\(["\\])/g, '$1') ?? token))
  }
  return { kind: kind.toLowerCase(), parameters }
}
