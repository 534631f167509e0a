// Inserts documents as an upload does, without the sums of usage.

import { splitBatches } from '../../../src/store/batches.ts'
import { insertAttachments, type NewAttachment } from '../../../src/store/documents/attachments.ts'
import { insertReferences } from '../../../src/store/documents/content-rows.ts'
import {
  allocateDocumentIds,
  insertDocuments,
  type NewDocuments,
} from '../../../src/store/documents/documents.ts'
import type { WriteDb } from '../../../src/store/tables.ts'

export type DocumentsToInsert = Omit<NewDocuments, 'attachments' | 'ids'> & {
  files: readonly NewAttachment[]
}

export async function insertFiles(
  trx: WriteDb,
  { files, ...party }: DocumentsToInsert,
): Promise<{ id: number; name: string; attachment_id: number }[]> {
  const rows = []
  for (const some of splitBatches(files, 50)) await insertReferences(trx, some, party.createdAt)
  for (const some of splitBatches(files, 50)) {
    const attachmentIds = await insertAttachments(trx, some, party.createdAt)
    const attachments = some.map(({ name }, at) => ({ id: attachmentIds[at] ?? 0, name }))
    const ids = await insertDocuments(trx, {
      ...party,
      attachments,
      ids: await allocateDocumentIds(trx, attachments.length),
    })
    for (const [at, { id: attachment_id, name }] of attachments.entries()) {
      rows.push({ id: ids[at] ?? 0, name, attachment_id })
    }
  }
  return rows
}
