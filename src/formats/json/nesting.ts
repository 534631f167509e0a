// What is open around the place that a reader of JSON has come to, in one bit a level: unknown fields may nest as deeply
// as a body is long (decisions 1.5).

export type JsonNesting = {
  depth(): number
  push(isObject: boolean): void
  pop(): void
  /** Whether the innermost is an object. */
  inObject(): boolean
}

const FIRST_BYTES = 64

/** `allocate` gives zeroed bytes, or throws. `free` takes those back that are not needed any more. */
export function createJsonNesting(
  allocate: (bytes: number) => Uint8Array,
  free: (bytes: Uint8Array) => void,
): JsonNesting {
  let bits: Uint8Array = new Uint8Array(FIRST_BYTES)
  let depth = 0
  let isInObject = false

  const grow = () => {
    const grown = allocate(bits.length * 2)
    grown.set(bits)
    if (bits.length > FIRST_BYTES) free(bits)
    bits = grown
  }
  const bitOf = (level: number) => 1 << (level & 7)

  return {
    depth: () => depth,
    push(isObject) {
      const at = depth >>> 3
      if (at === bits.length) grow()
      const before = bits[at] as number
      bits[at] = isObject ? before | bitOf(depth) : before & ~bitOf(depth)
      depth++
      isInObject = isObject
    },
    pop() {
      depth--
      const around = depth - 1
      isInObject = depth > 0 && ((bits[around >>> 3] as number) & bitOf(around)) !== 0
    },
    inObject: () => isInObject,
  }
}
