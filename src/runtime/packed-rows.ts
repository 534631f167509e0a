// Many small rows in few buffers. Objects would take ten times the memory, and the garbage collector would scan each
// of them repeatedly.

import type { MemoryShare } from './memory-budget.ts'

export type FixedRows = {
  count(): number
  /** Returns the zeroed bytes of a new row. */
  add(): Buffer
  at(index: number): Buffer
}

export type PackedRows = Iterable<Buffer> & {
  /** Returns the zeroed bytes of a new row. */
  add(size: number): Buffer
}

// Most uploads need a small block. A large block has a memory mapping of its own, which returns to the system when
// freed.
const FIRST_BLOCK = 8 * 1024
const BLOCK = 256 * 1024
const SIZE_BYTES = 2

/** Creates rows of one size, accessed by index. */
export function createFixedRows(size: number, memory: MemoryShare): FixedRows {
  const inFirst = Math.floor(FIRST_BLOCK / size)
  const inBlock = Math.floor(BLOCK / size)
  const blocks: Buffer[] = []
  let count = 0
  const at = (index: number): Buffer => {
    const beyond = index - inFirst
    const block = blocks[beyond < 0 ? 0 : 1 + Math.floor(beyond / inBlock)] as Buffer
    const start = (beyond < 0 ? index : beyond % inBlock) * size
    return block.subarray(start, start + size)
  }
  return {
    count: () => count,
    add() {
      const isFull = count === (blocks.length === 0 ? 0 : inFirst + (blocks.length - 1) * inBlock)
      if (isFull) blocks.push(memory.take(blocks.length === 0 ? FIRST_BLOCK : BLOCK))
      return at(count++)
    },
    at,
  }
}

/** Creates rows of up to 65,535 bytes, read from the first to the last. */
export function createPackedRows(memory: MemoryShare): PackedRows {
  const blocks: { bytes: Buffer; filled: number }[] = []
  return {
    add(size) {
      let block = blocks.at(-1)
      if (block === undefined || block.filled + SIZE_BYTES + size > block.bytes.length) {
        const usual = block === undefined ? FIRST_BLOCK : BLOCK
        block = { bytes: memory.take(Math.max(usual, SIZE_BYTES + size)), filled: 0 }
        blocks.push(block)
      }
      const start = block.bytes.writeUInt16LE(size, block.filled)
      block.filled = start + size
      return block.bytes.subarray(start, block.filled)
    },
    *[Symbol.iterator]() {
      for (const { bytes, filled } of blocks) {
        for (let at = 0; at < filled; ) {
          const start = at + SIZE_BYTES
          at = start + bytes.readUInt16LE(at)
          yield bytes.subarray(start, at)
        }
      }
    },
  }
}
