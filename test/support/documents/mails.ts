// Mails as programs write them, and as nobody should.

export type TestPart = {
  type?: string
  disposition?: string
  id?: string
  encoding?: 'base64' | 'quoted-printable' | '8bit'
  content: string | Uint8Array
}

export const NL = '\r\n'
const BOUNDARY = 'part'

/** Encodes a mail of the type `multipart/mixed` with its parts, in base64 unless they name another encoding. */
export function createMail(parts: readonly TestPart[], headers: Record<string, string> = {}): Buffer {
  const all = {
    From: 'Ana <ana@proveedor.example>',
    To: 'facturas@acme.example',
    'Message-ID': '<1@a>',
    ...headers,
  }
  return Buffer.from(
    `${encodeHeaders(all)}MIME-Version: 1.0${NL}${encodeMultipart('mixed', parts)}`,
    'latin1',
  )
}

/** Returns a part, with its headers, that has parts. */
export function encodeMultipart(
  kind: string,
  parts: readonly (TestPart | string)[],
  boundary = BOUNDARY,
): string {
  const texts = parts.map(
    (part) => `--${boundary}${NL}${typeof part === 'string' ? part : encodePart(part)}${NL}`,
  )
  return `Content-Type: multipart/${kind}; boundary=${boundary}${NL}${NL}${texts.join('')}--${boundary}--${NL}`
}

function encodePart({ type, disposition, id, encoding = 'base64', content }: TestPart): string {
  const headers = {
    'Content-Type': type,
    'Content-Disposition': disposition,
    'Content-ID': id,
    'Content-Transfer-Encoding': encoding,
  }
  const bytes = Buffer.from(content as string)
  return `${encodeHeaders(headers)}${NL}${encoding === 'base64' ? bytes.toString('base64') : bytes.toString('latin1')}`
}

function encodeHeaders(headers: Record<string, string | undefined>): string {
  const lines = Object.entries(headers).filter(([, value]) => value !== undefined)
  return lines.map(([name, value]) => `${name}: ${Buffer.from(value ?? '').toString('latin1')}${NL}`).join('')
}
