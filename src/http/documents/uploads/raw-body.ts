// The format of an upload of one document whose body is its bytes (decisions#raw).

import { validateDocument } from '../../../domain/documents/uploads/faults.ts'
import type { LinkedDocument } from '../../../domain/documents/uploads/links.ts'
import type { UploadedField, UploadIds } from '../../../domain/documents/uploads/upload.ts'
import type { FileFields } from '../../../store/documents/documents.ts'
import type { Client } from '../../access/auth.ts'
import { type BodyFormat, readBlocks, type UploadReader } from './body-reader.ts'
import { createDocumentCollector, type UploadNeeds } from './collector.ts'
import type { UploadReceiver } from './receive.ts'

/** Creates the reader of an upload of one document whose body is the blob, byte for byte. */
export function createRawReader(
  needs: UploadNeeds,
  ids: UploadIds,
  description: Record<keyof FileFields, UploadedField>,
): UploadReader {
  const collector = createDocumentCollector(needs)
  return {
    upload: { ...ids, documents: collector.documents },
    async read(body) {
      const document = { ...description, blob: 'good' } as const
      if (validateDocument(document)) return void collector.settle(document, undefined) // the client need not send it
      const writer = collector.begin()
      let size = 0
      for await (const block of readBlocks(body)) {
        size += block.length
        await writer?.write(block)
      }
      await collector.settle(size > 0 ? document : { ...document, blob: 'no bytes' }, writer)?.()
    },
    discard: collector.discard,
  }
}

/** Format of a document whose description is not in the request. */
export function describedFormat(document: LinkedDocument): BodyFormat {
  const { companyId: company_id, agentId: agent_id, ownerId: owner_id, name, mimetype } = document
  const open = (needs: UploadNeeds) =>
    createRawReader(needs, { company_id, agent_id, owner_id }, { name, mimetype })
  return { open, density: 1 }
}

/** Stores bytes in memory as a document, and returns its id. @throws AppError like `store` */
export async function uploadBytes(
  { store }: Pick<UploadReceiver, 'store'>,
  client: Client,
  document: LinkedDocument,
  bytes: Buffer,
): Promise<number> {
  const { accepted, release } = await store(client, () => ({
    format: describedFormat(document),
    ...{ key: undefined, priority: undefined, declaredBytes: bytes.length },
    body() {
      const source = yieldOnce(bytes)
      return { source, pieces: source }
    },
  }))
  await release()
  const [run] = accepted.runs
  if (!run) throw new TypeError('an upload was accepted without a document')
  return run.id
}

async function* yieldOnce(bytes: Buffer): AsyncGenerator<Uint8Array, void> {
  yield bytes
}
