// The contents of one upload, each once, by number and by SHA-256.

import { randomInt } from 'node:crypto'
import type { MemoryShare } from '../../memory-budget.ts'
import { createFixedRecords } from '../../records.ts'

export type StagedContent = { sha256: string; size: number; file: number }

export type ContentTable = {
  count(): number
  at(index: number): StagedContent
  /** The number of the content with this SHA-256. */
  find(sha256: Buffer): number | undefined
  /** Adds one that is not there, and returns its number; `file`: that of the file that has it. */
  add(sha256: Buffer, size: number, file: number): number
}

/** Numbers plus 1, found by open addressing; 0 is a free slot. */
type Slots = { bytes: Buffer; held: Int32Array; used: number }

const HASH_BYTES = 32
const FILE_AT = HASH_BYTES + 8
const RECORD_BYTES = FILE_AT + 4
const PARTS = 256 // each of which grows for itself, so that no upload waits for a million to move
const PART_BITS = 8
const FIRST_SLOTS = 8

export function createContentTable(memory: MemoryShare): ContentTable {
  const records = createFixedRecords(RECORD_BYTES, memory)
  const parts: (Slots | undefined)[] = new Array(PARTS)
  // Clients choose the contents: with factors of ours they cannot choose ones that all belong into one place.
  const factors = [randomOdd(), randomOdd()] as const

  const mix = (sha256: Buffer): number => {
    const mixed = Math.imul(sha256.readInt32LE(0), factors[0]) ^ Math.imul(sha256.readInt32LE(4), factors[1])
    return (mixed ^ (mixed >>> 15)) >>> 0
  }

  const slotsOf = (count: number): Slots => {
    const bytes = memory.take(count * Int32Array.BYTES_PER_ELEMENT)
    return { bytes, held: new Int32Array(bytes.buffer, bytes.byteOffset, count), used: 0 }
  }

  /** The slot of a content, or the free one where it belongs. */
  const slotOf = ({ held }: Slots, mixed: number, sha256: Buffer): number => {
    let slot = (mixed >>> PART_BITS) % held.length
    for (let index = held[slot] as number; index !== 0; index = held[slot] as number) {
      if (records.at(index - 1).compare(sha256, 0, HASH_BYTES, 0, HASH_BYTES) === 0) break
      slot = (slot + 1) % held.length
    }
    return slot
  }

  const put = (slots: Slots, mixed: number, sha256: Buffer, index: number) => {
    slots.held[slotOf(slots, mixed, sha256)] = index + 1
    slots.used++
  }

  const grown = (before: Slots): Slots => {
    const slots = slotsOf(2 * before.held.length)
    for (const index of before.held) {
      if (index === 0) continue
      const sha256 = records.at(index - 1)
      put(slots, mix(sha256), sha256, index - 1)
    }
    memory.free(before.bytes)
    return slots
  }

  return {
    count: records.count,
    at(index) {
      const record = records.at(index)
      return {
        sha256: record.toString('hex', 0, HASH_BYTES),
        size: record.readDoubleLE(HASH_BYTES),
        file: record.readUInt32LE(FILE_AT),
      }
    },
    find(sha256) {
      const mixed = mix(sha256)
      const slots = parts[mixed % PARTS]
      const held = slots?.held[slotOf(slots, mixed, sha256)] ?? 0
      return held === 0 ? undefined : held - 1
    },
    add(sha256, size, file) {
      const index = records.count()
      const record = records.add()
      sha256.copy(record)
      record.writeDoubleLE(size, HASH_BYTES)
      record.writeUInt32LE(file, FILE_AT)
      const mixed = mix(sha256)
      let slots = parts[mixed % PARTS] ?? slotsOf(FIRST_SLOTS)
      if (3 * (slots.used + 1) > 2 * slots.held.length) slots = grown(slots)
      parts[mixed % PARTS] = slots
      put(slots, mixed, sha256, index)
      return index
    },
  }
}

function randomOdd(): number {
  return 2 * randomInt(2 ** 30) + 1
}
