// Samples of requests: curl commands that the reference shows. The test test/api/openapi/examples.test.ts runs them.

import type { RequestExample } from './examples.ts'

type SampledOperation = {
  path: string
  method: string
  credentials: string | undefined
  example: RequestExample
}

/** Paths without a sample: of other services, and of the page, whose cookie no command has. */
const UNSAMPLED = /^\/(?:compat|session|t)\b/
const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: 'X-API-Key: $CAMBISTA_KEY',
  mcp: 'X-API-Key: $CAMBISTA_KEY',
  bearer: 'Authorization: Bearer $CAMBISTA_TOKEN',
}

/**
 * Returns `x-codeSamples` of an operation: a command of a shell that sends its example. The variables are those of the
 * guides. `credentials` is the name of a security scheme.
 */
export function codeSamples({ path, method, credentials, example }: SampledOperation): object {
  if (UNSAMPLED.test(path)) return {}
  const { parameters, body } = example
  const query = new URLSearchParams()
  let address = path
  for (const [name, value] of Object.entries(parameters)) {
    if (path.includes(`{${name}}`)) address = address.replace(`{${name}}`, encodeURIComponent(value))
    else query.set(name, String(value))
  }
  const header = credentials && CREDENTIALS[credentials]
  const [[type, content] = ['', undefined]] = Object.entries(body ?? {})
  const isDefault = method === (content === undefined ? 'GET' : 'POST')
  const command = ['curl -s', !isDefault && `-X ${method}`, header && `-H "${header}"`].filter(Boolean)
  const lines = [command.join(' ')]
  if (content !== undefined) {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    lines.push(`-H 'Content-Type: ${type === '*/*' ? 'text/plain' : type}'`, `--data-binary ${quote(text)}`)
  }
  lines.push(`"$CAMBISTA_URL${address}${query.size > 0 ? `?${query}` : ''}"`)
  const source = lines.join(' \\\n  ')
  return { 'x-codeSamples': [{ lang: 'shell', label: 'curl', source }] }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
