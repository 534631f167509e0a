// Many small records in few buffers: as objects of their own they would take ten times the memory, and the garbage
// collector would look at each of them again and again.

import type { MemoryShare } from './memory-budget.ts'

export type FixedRecords = {
  count(): number
  /** The bytes of a new record, zeroed. */
  add(): Buffer
  at(index: number): Buffer
}

export type Records = Iterable<Buffer> & {
  /** The bytes of a new record, zeroed. */
  add(size: number): Buffer
}

// Most uploads need one small block; in large ones a block of its own mapping goes back to the system when it is freed.
const FIRST_BLOCK = 8 * 1024
const BLOCK = 256 * 1024
const SIZE_BYTES = 2

/** Records of one size, found by their number. */
export function createFixedRecords(size: number, memory: MemoryShare): FixedRecords {
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

/** Records of up to 2000 bytes, read from the first to the last. */
export function createRecords(memory: MemoryShare): Records {
  const blocks: { bytes: Buffer; filled: number }[] = []
  return {
    add(size) {
      let block = blocks.at(-1)
      if (block === undefined || block.filled + SIZE_BYTES + size > block.bytes.length) {
        block = { bytes: memory.take(block === undefined ? FIRST_BLOCK : BLOCK), filled: 0 }
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
