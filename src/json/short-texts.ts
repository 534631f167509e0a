// Short texts that come again and again, such as the names of fields: one that is still remembered is found in a third of the
// time in which a string is made of bytes, and takes no memory of its own.

const LONGEST = 24 // bytes; a day has 10
const REMEMBERED = 512

/** Makes the string of UTF-8 from one place to before another. */
export function createShortTexts(): (bytes: Buffer, from: number, to: number) => string {
  const remembered: string[] = new Array(REMEMBERED).fill('')
  return (bytes, from, to) => {
    const length = to - from
    if (length > LONGEST) return bytes.toString('utf8', from, to)
    let hash = length
    for (let at = from; at < to; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
    const place = (hash ^ (hash >>> 9)) & (REMEMBERED - 1)
    const known = remembered[place] as string
    if (known.length === length && isSame(known, bytes, from)) return known
    const made = bytes.toString('utf8', from, to)
    if (made.length === length) remembered[place] = made // as many characters as bytes: it is ASCII
    return made
  }
}

function isSame(text: string, bytes: Buffer, from: number): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) !== bytes[from + at]) return false
  return true
}
