// Reads the id of a message over the size limit from its stream. A client that gets an error without an id waits
// forever.

import { createJsonScanner, type JsonListener } from '../../../formats/json/scanner.ts'
import { type JsonScalar, toInteger } from '../../../formats/json/value.ts'
import type { Id } from '../../../http/mcp/protocol/messages.ts'

const LONGEST_ID = 1024 // bytes

/** Reads a message from chunks; `id` is null for a message that is not JSON or has no readable id. */
export function createIdReader(): { push(chunk: Buffer): void; id(): Id | null } {
  let depth = 0
  let isId = false // the next value is that of the message's member "id"
  let id: Id | null = null
  let isJson = true
  const listener: JsonListener = {
    open(kind) {
      isId = false
      depth += 1
      return depth === 1 && kind === 'object'
    },
    close() {
      depth -= 1
    },
    key(name) {
      isId = name === 'id'
    },
    value(value) {
      if (isId) id = messageId(value)
      isId = false
    },
    maxBytes: () => (isId ? LONGEST_ID : 0),
    wantsPieces: () => false,
    piece: () => false,
    endOfPieces() {},
    isBusy: () => false,
  }
  const scanner = createJsonScanner(listener)
  const attempt = (read: () => void) => {
    if (!isJson) return
    try {
      read()
    } catch {
      isJson = false // the server answers a malformed message
    }
  }
  return {
    push: (chunk) => attempt(() => scanner.push(chunk)),
    id() {
      attempt(() => scanner.end())
      return isJson ? id : null
    },
  }
}

function messageId(value: JsonScalar): Id | null {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return null
  const number = toInteger(value)
  return Number.isSafeInteger(number) ? number : null
}
