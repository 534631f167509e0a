// Which texts are base64 (decisions 3.4), decided on pieces of any size, at the speed of the engine's own decoder.
// Strict is: the standard alphabet, padding present and only at the end, CR and LF anywhere, nothing else.
// Node's decoder forgives everything; setFromBase64 forgives only white space and, at the very end, missing
// padding, so these two are what is checked here. Bits under the padding are ignored.

export type Base64Decoder = {
  /**
   * The bytes that became known with this piece, or undefined as soon as the whole can no longer be base64. They are
   * good until the next call, which writes over them: fresh memory for every piece would be the most costly part.
   */
  decode(piece: Buffer): Buffer | undefined
  /** Whether all that was given so far, taken together, is base64. */
  complete(): boolean
}

const CR = 0x0d
const LF = 0x0a
const PADDING = 0x3d
const BLANKS = [0x20, 0x09, 0x0c] // what setFromBase64 skips and decisions 3.4 does not
const NOTHING = Buffer.alloc(0)

const IN_QUANTUM = new Uint8Array(256)
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=')) {
  IN_QUANTUM[byte] = 1
}

export function createBase64Decoder(): Base64Decoder {
  let open = '' // up to three characters of a quantum that the next piece goes on with
  let padded = false
  let bad = false
  let out = NOTHING

  /** Takes characters into the open quantum until it has four; undefined at one that is none of base64. */
  const fill = (piece: Buffer, from: number): number | undefined => {
    let at = from
    for (; at < piece.length && open.length < 4; at++) {
      const byte = piece[at] as number
      if (byte === CR || byte === LF) continue
      if (IN_QUANTUM[byte] === 0) return undefined
      open += String.fromCharCode(byte)
    }
    return at
  }

  const decodeStrictly = (piece: Buffer): Buffer | undefined => {
    const most = Math.ceil((piece.length + open.length) / 4) * 3
    if (out.length < most) out = Buffer.allocUnsafe(most)
    let size = 0
    let at: number | undefined = 0
    if (open !== '') {
      at = fill(piece, 0)
      if (at === undefined) return undefined
      if (open.length < 4) return NOTHING
      size = out.setFromBase64(open).written
      padded = open.endsWith('=')
      open = ''
    }
    if (!padded) {
      const { read, written } = out
        .subarray(size)
        .setFromBase64(piece.toString('latin1', at), { lastChunkHandling: 'stop-before-partial' })
      // Three bytes come from four characters. If they do not, something was skipped or padded: look what it was.
      if (written * 4 !== read * 3) {
        const decoded = piece.subarray(at, at + read)
        if (BLANKS.some((blank) => decoded.includes(blank))) return undefined
        padded = decoded.includes(PADDING)
      }
      size += written
      at += read
    }
    if (!padded) at = fill(piece, at)
    if (at === undefined || !onlyLineBreaks(piece, at)) return undefined
    return out.subarray(0, size)
  }

  return {
    decode(piece) {
      if (bad) return undefined
      try {
        const bytes = padded ? (onlyLineBreaks(piece, 0) ? NOTHING : undefined) : decodeStrictly(piece)
        bad = bytes === undefined
        return bytes
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
        bad = true
        return undefined
      }
    },
    complete: () => !bad && open === '',
  }
}

function onlyLineBreaks(piece: Buffer, from: number): boolean {
  for (let at = from; at < piece.length; at++) {
    const byte = piece[at]
    if (byte !== CR && byte !== LF) return false
  }
  return true
}
