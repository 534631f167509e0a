// Finds the path of a request, also of one that node:http could not parse. The path selects the shape of the error
// (decisions#early-rejections). The error of node:http has the packet and the position of the error. The packet may
// begin with valid requests, or with the body of one. Lines of earlier packets are lost.

/** Error of node:http for bytes that are not a request. */
export type Unreadable = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number }

const VERSIONED = / (\S+) +HTTP\/\d/
const UNVERSIONED = /^\S+ +(\/\S*)/
/** Segments that URL parsers remove from a path, and backslashes, which they take for slashes. */
const DOT_SEGMENTS = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i
const API_PATH = /^\/api\/v1\//
const FIELD = /^[\w!#$%&'*+.^`|~-]+:/

/** Returns the path of the request; empty if its line is not in the packet. */
export function unreadablePath({ rawPacket, bytesParsed = 0 }: Unreadable): string {
  const text = rawPacket?.toString('latin1') ?? ''
  // Searches upwards from the line of the error, over header fields, to the request line; stops at a blank line.
  const fault = lineAround(text, bytesParsed)
  for (let line: TextLine | undefined = fault; line; line = previousLine(text, line)) {
    const isField = FIELD.test(line.text)
    const [, target] = (!isField && VERSIONED.exec(line.text)) || []
    if (target !== undefined) return targetPath(target)
    if (!isField && line !== fault) break
  }
  const [, target = ''] = UNVERSIONED.exec(fault.text) ?? []
  return targetPath(target)
}

/** Returns the path of the target of a request line, which may be a whole URL. */
export function targetPath(target: string): string {
  const [path = ''] = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  return path
}

/**
 * Returns true for a path that URL parsers shorten. The answer is a 404, since a proxy may allow or deny paths by name.
 * False for a path that begins with /api/v1/ and stays there.
 */
export function hasDotSegments(target: string): boolean {
  const path = targetPath(target)
  if (!DOT_SEGMENTS.test(path)) return false
  return !API_PATH.test(path) || !API_PATH.test(new URL(path, 'http://localhost').pathname)
}

type TextLine = { start: number; text: string }

function previousLine(text: string, { start }: TextLine): TextLine | undefined {
  return start === 0 ? undefined : lineAround(text, start - 1)
}

/** Returns the line of a position; its line feed belongs to it. */
function lineAround(text: string, at: number): TextLine {
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  const feed = text.indexOf('\n', at)
  return { start, text: text.slice(start, feed < 0 ? text.length : feed).trimEnd() }
}
