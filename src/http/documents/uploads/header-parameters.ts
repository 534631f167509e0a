// Headers such as `form-data; name="file"; filename="a.pdf"`, whose parameters come in the dialects of the programs that make
// forms: browsers escape quotes, CR and LF as %22, %0D and %0A and leave a backslash as it is, others escape quotes and
// backslashes with a backslash.

export type HeaderValue = { kind: string; parameters: ReadonlyMap<string, string> }

const PARAMETER = /[\t ]*;[\t ]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\t ";]+)))?[\t ]*/y

/** Kind and names in lower case. Undefined: it is malformed, or says a parameter twice. */
export function parseHeader(text: string): HeaderValue | undefined {
  const kind = /^[^\t ;]+/.exec(text)?.[0] ?? ''
  const parameters = new Map<string, string>()
  PARAMETER.lastIndex = kind.length
  while (PARAMETER.lastIndex < text.length) {
    const found = PARAMETER.exec(text)
    if (!found) return undefined
    const [, name = '', quoted, token = ''] = found
    if (name === '') continue // of `a; ;`
    if (parameters.has(name.toLowerCase())) return undefined
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(["\\])/g, '$1') ?? token)
  }
  return { kind: kind.toLowerCase(), parameters }
}
