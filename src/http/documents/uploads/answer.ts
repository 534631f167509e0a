// Answer of an upload. Small answers are text. Answers with hundreds of thousands of documents are streamed, and
// never buffered.

import { setImmediate } from 'node:timers/promises'
import type { AcceptedUpload } from '../../../domain/documents/uploads/accept.ts'
import type { Batch } from '../../../domain/documents/uploads/checks.ts'
import type { UploadedFile } from '../../../domain/documents/uploads/uploaded-files.ts'
import type { Chunks } from '../../../store/blobs/chunks.ts'
import type { IdRange } from '../../../store/documents/idempotency.ts'

/** A created document. */
type CreatedDocument = UploadedFile & { id: number; attachmentId: number }

const DOCUMENTS_PER_PART = 500 // some 50 kB, in a millisecond
const IDS_PER_PART = 5000

/** Encodes the body of a 200. `release` is called when the batch is no longer needed. */
export async function acceptedBody(
  { batch, runs, deleted, names }: AcceptedUpload,
  release: () => Promise<void>,
): Promise<string | Chunks> {
  const texts = encodeParts(batch, runs, deleted, names)
  if (batch.files.count() > DOCUMENTS_PER_PART) return encodeTexts(texts, release)
  try {
    return [...texts].join('')
  } finally {
    await release()
  }
}

/** The documents of a batch with their ids, in order. */
export function* createdDocuments({ files }: Batch, runs: readonly IdRange[]): Generator<CreatedDocument> {
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

async function* encodeTexts(texts: Iterable<string>, release: () => Promise<void>): Chunks {
  try {
    for (const text of texts) {
      yield Buffer.from(text)
      await setImmediate() // writes that the kernel accepts at once never yield
    }
  } finally {
    await release()
  }
}

/** The JSON of an answer, in parts. */
function* encodeParts(
  batch: Batch,
  runs: readonly IdRange[],
  deleted: readonly number[],
  names: AcceptedUpload['names'],
): Generator<string> {
  const { companyId: company_id, agentId: agent_id, ownerId: owner_id } = batch
  const count = batch.files.count()
  const message = `${count} document${count === 1 ? '' : 's'} created successfully`
  let part = `{"status":"success","message":"${message}","created_documents":[`
  let at = 0
  for (const { id, attachmentId: attachment_id, ...file } of createdDocuments(batch, runs)) {
    const name = names?.get(id) ?? file.name
    if (at > 0) part += ','
    part += JSON.stringify({ id, name, attachment_id, agent_id, owner_id, company_id })
    if (++at % DOCUMENTS_PER_PART > 0) continue
    yield part
    part = ''
  }
  const rest = JSON.stringify({ total_created: count, agent_id, company_id, owner_id })
  yield `${part}],${rest.slice(1, -1)}`
  for (let at = 0; at < deleted.length; at += IDS_PER_PART) {
    yield `${at === 0 ? ',"deleted":[' : ','}${deleted.slice(at, at + IDS_PER_PART).join(',')}`
  }
  yield deleted.length > 0 ? ']}' : '}'
}
