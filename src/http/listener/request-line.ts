// Which path a request asked for that node:http could not read: the shape of its refusal depends on it (decisions 1.8).
// node:http hands over the packet in which it gave up, and where. The packet may begin with requests that were fine, and
// with the body of one; a line that came in a packet before is lost.

/** What node:http reports of bytes that are no request. */
export type Unreadable = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number }

const VERSIONED = / (\S+) +HTTP\/\d/
const UNVERSIONED = /^\S+ +(\/\S*)/
const FIELD = /^[\w!#$%&'*+.^`|~-]+:/

/** The path of the request; empty where its line cannot be told from what came. */
export function pathOfUnreadable({ rawPacket, bytesParsed = 0 }: Unreadable): string {
  const text = rawPacket?.toString('latin1') ?? ''
  // Up from the line of the error, over the header fields, to the line that they belong to: never past a blank one.
  const fault = lineAround(text, bytesParsed)
  for (let line: Line | undefined = fault; line; line = lineBefore(text, line)) {
    const isField = FIELD.test(line.text)
    const [, target] = (!isField && VERSIONED.exec(line.text)) || []
    if (target !== undefined) return pathOf(target)
    if (!isField && line !== fault) break
  }
  const [, target = ''] = UNVERSIONED.exec(fault.text) ?? []
  return pathOf(target)
}

/** The path in the target of a request line, which may be a whole URL. */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  return path
}

type Line = { start: number; text: string }

function lineBefore(text: string, { start }: Line): Line | undefined {
  return start === 0 ? undefined : lineAround(text, start - 1)
}

/** The line in which a place is; its line feed is a part of it. */
function lineAround(text: string, at: number): Line {
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  const feed = text.indexOf('\n', at)
  return { start, text: text.slice(start, feed < 0 ? text.length : feed).trimEnd() }
}
