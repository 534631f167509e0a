// Readers that page by `after=` during the soak, each from its last position, at any node.

import { setTimeout as pause } from 'node:timers/promises'
import { TOKENS } from '../directory.ts'
import { checkName, count, fault, parseAnswer, request, rest, type Soak } from './world.ts'

export type Reader = {
  filter: string
  seen: Set<number>
  /** True if it read an empty page after all work was settled. */
  isAtEnd: boolean
}

type Page = { documents: { id: number; name: string }[]; next_after: number }

const READER = { headers: { authorization: `Bearer ${TOKENS.read}` } }

/** Reads until the soak is over, and then to the end. */
export async function readDocuments(soak: Soak, reader: Reader): Promise<void> {
  const { random } = soak
  let after = 0
  while (!reader.isAtEnd && !soak.isAborted) {
    const wasSettled = soak.isSettled
    const wait = !wasSettled && random.chance(0.5) ? '&wait=2' : ''
    const path = `/api/v1/documents?limit=${random.int(1, 200)}&after=${after}${reader.filter}${wait}`
    const answer = await request(soak, 'list', path, READER)
    if (answer?.status !== 200) {
      if (answer) fault(soak, `list: ${answer.status} ${answer.body}`)
      await pause(random.int(20, 300))
      continue
    }
    const { documents, next_after } = parseAnswer<Page>(answer)
    for (const { id, name } of documents) {
      checkName(soak, id, name)
      if (id <= after || reader.seen.has(id)) fault(soak, `${path} had document ${id} again`)
      reader.seen.add(id)
    }
    after = next_after
    count(soak, 'documents read by readers', documents.length)
    if (wasSettled && documents.length === 0) reader.isAtEnd = true
    if (documents.length === 0 && !wasSettled) await rest(soak, 0, 200)
  }
}
