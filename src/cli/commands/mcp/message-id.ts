// The id of a message over the limit, read while its bytes pass: an error without an id leaves its caller waiting for ever.

import type { Id } from '../../../http/mcp/protocol/messages.ts'
import { createJsonScanner, type JsonListener } from '../../../json/scanner.ts'
import { integerOf, type JsonScalar } from '../../../json/value.ts'

const LONGEST_ID = 1024 // bytes

/** Reads a message from chunks; `id` is null for a message that is not JSON or has no readable id. */
export function createIdReader(): { push(chunk: Buffer): void; id(): Id | null } {
  let depth = 0
  let isId = false // the value of the member "id" of the message comes next
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
      if (isId) id = idOf(value)
      isId = false
    },
    keep: () => (isId ? LONGEST_ID : 0),
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
      isJson = false
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

function idOf(value: JsonScalar): Id | null {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return null
  const number = integerOf(value)
  return Number.isSafeInteger(number) ? number : null
}
