// Stack of open objects and arrays in a JSON text. Each level takes a bit, because unknown fields may nest as deeply as
// a body is long (decisions#unknown-names).

export type JsonNesting = {
  depth(): number
  push(isObject: boolean): void
  pop(): void
  /** Returns true when the innermost is an object. */
  inObject(): boolean
}

const FIRST_BYTES = 64

/** `allocate` returns zeroed bytes, or throws; `free` releases them. */
export function createJsonNesting(
  allocate: (bytes: number) => Uint8Array,
  free: (bytes: Uint8Array) => void,
): JsonNesting {
  let bits: Uint8Array = new Uint8Array(FIRST_BYTES)
  let depth = 0
  let isInObject = false

  const grow = () => {
    const larger = allocate(bits.length * 2)
    larger.set(bits)
    if (bits.length > FIRST_BYTES) free(bits)
    bits = larger
  }
  const levelBit = (level: number) => 1 << (level & 7)

  return {
    depth: () => depth,
    push(isObject) {
      const at = depth >>> 3
      if (at === bits.length) grow()
      const before = bits[at] as number
      bits[at] = isObject ? before | levelBit(depth) : before & ~levelBit(depth)
      depth++
      isInObject = isObject
    },
    pop() {
      depth--
      const around = depth - 1
      isInObject = depth > 0 && ((bits[around >>> 3] as number) & levelBit(around)) !== 0
    },
    inObject: () => isInObject,
  }
}
