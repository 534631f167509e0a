// Blobs of one upload, each once, by number and by SHA-256.

import { randomInt } from 'node:crypto'
import type { MemoryShare } from '../../runtime/memory-budget.ts'
import { createFixedRows } from '../../runtime/packed-rows.ts'

export type BlobEntry = { sha256: string; size: number; file: number }

export type BlobTable = {
  count(): number
  at(index: number): BlobEntry
  /** Returns the number of the blob with this SHA-256. */
  find(sha256: Buffer): number | undefined
  /** Adds a new blob and returns its number; `file`: number of its file. */
  add(sha256: Buffer, size: number, file: number): number
}

/** A hash table with open addressing. An entry is a blob's number plus 1; 0 is a free slot. */
type Slots = { bytes: Buffer; entries: Int32Array; used: number }

const HASH_BYTES = 32
const FILE_AT = HASH_BYTES + 8
const ROW_BYTES = FILE_AT + 4
const PARTS = 256 // each part grows on its own, so that no upload waits while a million entries move
const PART_BITS = 8
const FIRST_SLOTS = 8

export function createBlobTable(memory: MemoryShare): BlobTable {
  const rows = createFixedRows(ROW_BYTES, memory)
  const parts: (Slots | undefined)[] = new Array(PARTS)
  // Clients choose the blobs. Random factors prevent them from choosing blobs that all fall into one slot.
  const factors = [randomOdd(), randomOdd()] as const

  const mix = (sha256: Buffer): number => {
    const mixed = Math.imul(sha256.readInt32LE(0), factors[0]) ^ Math.imul(sha256.readInt32LE(4), factors[1])
    return (mixed ^ (mixed >>> 15)) >>> 0
  }

  const allocateSlots = (count: number): Slots => {
    const bytes = memory.take(count * Int32Array.BYTES_PER_ELEMENT)
    return { bytes, entries: new Int32Array(bytes.buffer, bytes.byteOffset, count), used: 0 }
  }

  /** Returns the slot of a blob, or the free slot for it. */
  const findSlot = ({ entries }: Slots, mixed: number, sha256: Buffer): number => {
    let slot = (mixed >>> PART_BITS) % entries.length
    for (let index = entries[slot] as number; index !== 0; index = entries[slot] as number) {
      if (rows.at(index - 1).compare(sha256, 0, HASH_BYTES, 0, HASH_BYTES) === 0) break
      slot = (slot + 1) % entries.length
    }
    return slot
  }

  const put = (slots: Slots, mixed: number, sha256: Buffer, index: number) => {
    slots.entries[findSlot(slots, mixed, sha256)] = index + 1
    slots.used++
  }

  const growSlots = (before: Slots): Slots => {
    const slots = allocateSlots(2 * before.entries.length)
    for (const index of before.entries) {
      if (index === 0) continue
      const sha256 = rows.at(index - 1)
      put(slots, mix(sha256), sha256, index - 1)
    }
    memory.free(before.bytes)
    return slots
  }

  return {
    count: rows.count,
    at(index) {
      const row = rows.at(index)
      return {
        sha256: row.toString('hex', 0, HASH_BYTES),
        size: row.readDoubleLE(HASH_BYTES),
        file: row.readUInt32LE(FILE_AT),
      }
    },
    find(sha256) {
      const mixed = mix(sha256)
      const slots = parts[mixed % PARTS]
      const entry = slots?.entries[findSlot(slots, mixed, sha256)] ?? 0
      return entry === 0 ? undefined : entry - 1
    },
    add(sha256, size, file) {
      const index = rows.count()
      const row = rows.add()
      sha256.copy(row)
      row.writeDoubleLE(size, HASH_BYTES)
      row.writeUInt32LE(file, FILE_AT)
      const mixed = mix(sha256)
      let slots = parts[mixed % PARTS] ?? allocateSlots(FIRST_SLOTS)
      if (3 * (slots.used + 1) > 2 * slots.entries.length) slots = growSlots(slots)
      parts[mixed % PARTS] = slots
      put(slots, mixed, sha256, index)
      return index
    },
  }
}

function randomOdd(): number {
  return 2 * randomInt(2 ** 30) + 1
}
