// Decodes base64 (decisions#base64) in pieces of any size, at the speed of V8's own decoder. Strict: the standard
// alphabet, padding required and only at the end, CR and LF anywhere, nothing else. Node's decoder accepts everything.
// setFromBase64 accepts only white space, and missing padding at the very end. Both are checked here. Bits under the
// padding are ignored.

const CR = 0x0d
const LF = 0x0a
const PADDING = 0x3d
const BLANKS = [0x20, 0x09, 0x0c] // skipped by setFromBase64, rejected by decisions#base64
const NOTHING = Buffer.alloc(0)

const IN_QUANTUM = new Uint8Array(256)
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=')) {
  IN_QUANTUM[byte] = 1
}

export function createBase64Decoder(): Base64Decoder {
  return new Base64Decoder()
}

export class Base64Decoder {
  #open = '' // up to three characters of a quantum that the next piece continues
  #padded = false
  #bad = false
  #out = NOTHING

  /**
   * Returns the bytes that this piece completes, or undefined once the text is not base64. The next call overwrites
   * them: an allocation for each piece would be the most costly part.
   */
  decode(piece: Buffer): Buffer | undefined {
    if (this.#bad) return undefined
    try {
      const bytes = this.#padded
        ? onlyLineBreaks(piece, 0)
          ? NOTHING
          : undefined
        : this.#decodeStrictly(piece)
      this.#bad = bytes === undefined
      return bytes
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      this.#bad = true
      return undefined
    }
  }

  /** Returns true when the pieces so far are complete base64. */
  complete(): boolean {
    return !this.#bad && this.#open === ''
  }

  #decodeStrictly(piece: Buffer) {
    const most = Math.ceil((piece.length + this.#open.length) / 4) * 3
    if (this.#out.length < most) this.#out = Buffer.allocUnsafe(most)
    let size = 0
    let at: number | undefined = 0
    if (this.#open !== '') {
      at = this.#fill(piece, 0)
      if (at === undefined) return undefined
      if (this.#open.length < 4) return NOTHING
      size = this.#out.setFromBase64(this.#open).written
      this.#padded = this.#open.endsWith('=')
      this.#open = ''
    }
    if (!this.#padded) {
      const { read, written } = this.#out
        .subarray(size)
        .setFromBase64(piece.toString('latin1', at), { lastChunkHandling: 'stop-before-partial' })
      // Four characters make three bytes; any other ratio means skipped characters or padding.
      if (written * 4 !== read * 3) {
        const decoded = piece.subarray(at, at + read)
        if (BLANKS.some((blank) => decoded.includes(blank))) return undefined
        this.#padded = decoded.includes(PADDING)
      }
      size += written
      at += read
    }
    if (!this.#padded) at = this.#fill(piece, at)
    if (at === undefined || !onlyLineBreaks(piece, at)) return undefined
    return this.#out.subarray(0, size)
  }

  /** Adds characters to the open quantum until it has four; undefined: a character is not base64. */
  #fill(piece: Buffer, from: number) {
    let at = from
    for (; at < piece.length && this.#open.length < 4; at++) {
      const byte = piece[at] as number
      if (byte === CR || byte === LF) continue
      if (IN_QUANTUM[byte] === 0) return undefined
      this.#open += String.fromCharCode(byte)
    }
    return at
  }
}

function onlyLineBreaks(piece: Buffer, from: number): boolean {
  for (let at = from; at < piece.length; at++) {
    const byte = piece[at]
    if (byte !== CR && byte !== LF) return false
  }
  return true
}
