// Which characters the bytes of an XML document are: by its byte order mark, what the client says of it, or its own word.

import { AppError } from '../../../errors.ts'

const DECLARED = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.-]+)["']/
const CHARSET = /;\s*charset\s*=\s*"?([\w.-]+)/i
const KNOWN = /^(utf-?8|us-ascii|ascii|utf-16(le|be)?|iso-8859-1|iso-8859-15|latin1|windows-1252)$/i

/** The text of a document; what its encoding has no character for is replaced. @throws AppError `bad-request` */
export function decodeXml(bytes: Buffer, contentType: string | null): string {
  const [, charset] = CHARSET.exec(contentType ?? '') ?? []
  const [, declared] = DECLARED.exec(bytes.toString('latin1', 0, 200)) ?? []
  const encoding = markOf(bytes) ?? charset ?? declared ?? 'utf-8'
  if (!KNOWN.test(encoding)) throw new AppError('bad-request', 'the encoding of the XML is not known')
  return new TextDecoder(encoding).decode(bytes)
}

function markOf([first, second]: Buffer): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb ? 'utf-8' : undefined
}
