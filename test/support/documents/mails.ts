// Mails as programs write them, and as nobody should.

import { crc32 } from 'node:zlib'

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

/** Returns a ZIP archive whose files are not deflated. */
export function storedZip(files: Record<string, Uint8Array>): Buffer {
  const [heads, entries]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const [path, bytes] of Object.entries(files)) {
    const name = Buffer.from(path)
    const facts = Buffer.alloc(26) // version, flags, method, time, checksum, sizes, lengths
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(0x0800, 2)
    facts.writeUInt32LE(crc32(bytes), 10)
    facts.writeUInt32LE(bytes.length, 14)
    facts.writeUInt32LE(bytes.length, 18)
    facts.writeUInt16LE(name.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(at, 10)
    heads.push(Buffer.from('PK\u0003\u0004'), facts, name, Buffer.from(bytes))
    entries.push(Buffer.from('PK\u0001\u0002\u0014\0'), facts, place, name)
    at += 30 + name.length + bytes.length
  }
  const size = entries.reduce((sum, { length }) => sum + length, 0)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006')
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...heads, ...entries, end])
}
