// The answer of an upload. That of a small one is a text like any other; that of hundreds of thousands of documents is
// made while it is sent, of the names that are there anyway and of the ids, and never held as a whole.

import { setImmediate } from 'node:timers/promises'
import type { Accepted } from '../../../domain/documents/accept.ts'
import type { Batch } from '../../../domain/documents/documents.ts'
import type { UploadedFile } from '../../../domain/documents/uploaded-files.ts'
import type { Chunks } from '../../../store/blobs/chunks.ts'
import type { Run } from '../../../store/idempotency.ts'

/** A document that was made. */
export type Made = UploadedFile & { id: number; attachmentId: number }

const DOCUMENTS_AT_ONCE = 500 // some 50 kB, in a millisecond
const IDS_AT_ONCE = 5000

/** The body of a 200. `release` is called when nothing of the batch is needed any more. */
export async function bodyOfAccepted(
  { batch, runs, deleted }: Accepted,
  release: () => Promise<void>,
): Promise<string | Chunks> {
  const texts = textsOf(batch, runs, deleted)
  if (batch.files.count() > DOCUMENTS_AT_ONCE) return chunksOf(texts, release)
  const body = [...texts].join('')
  await release()
  return body
}

/** The documents of a batch with their ids, in order. */
export function* documentsOf({ files }: Batch, runs: readonly Run[]): Generator<Made> {
  const rest = runs.values()
  let run = rest.next().value
  let at = 0
  for (const file of files) {
    if (run && at === run.count) {
      run = rest.next().value
      at = 0
    }
    if (!run) throw new TypeError('fewer ids than documents')
    yield { ...file, id: run.id + at, attachmentId: run.attachmentId + at }
    at++
  }
}

async function* chunksOf(texts: Iterable<string>, release: () => Promise<void>): Chunks {
  try {
    for (const text of texts) {
      yield Buffer.from(text)
      await setImmediate() // what the kernel takes at once is sent without a turn for others
    }
  } finally {
    await release()
  }
}

/** The JSON of an answer, in parts. */
function* textsOf(batch: Batch, runs: readonly Run[], deleted: readonly number[]): Generator<string> {
  const { companyId: company_id, agentId: agent_id, ownerId: owner_id } = batch
  const count = batch.files.count()
  const message = `${count} document${count === 1 ? '' : 's'} created successfully`
  let part = `{"status":"success","message":"${message}","created_documents":[`
  let at = 0
  for (const { id, name, attachmentId: attachment_id } of documentsOf(batch, runs)) {
    if (at > 0) part += ','
    part += JSON.stringify({ id, name, attachment_id, agent_id, owner_id, company_id })
    if (++at % DOCUMENTS_AT_ONCE > 0) continue
    yield part
    part = ''
  }
  const rest = JSON.stringify({ total_created: count, agent_id, company_id, owner_id })
  yield `${part}],${rest.slice(1, -1)}`
  for (let at = 0; at < deleted.length; at += IDS_AT_ONCE) {
    yield `${at === 0 ? ',"deleted":[' : ','}${deleted.slice(at, at + IDS_AT_ONCE).join(',')}`
  }
  yield deleted.length > 0 ? ']}' : '}'
}
