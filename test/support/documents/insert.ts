// Documents in the database as an upload writes them, but for the sums.

import { insertDocuments, type NewDocuments, newDocumentIds } from '../../../src/store/documents.ts'
import { portionsOf } from '../../../src/store/portions.ts'
import type { Db } from '../../../src/store/tables.ts'
import { insertAttachments, type NewAttachment } from '../../../src/store/uploads/attachments.ts'

export type DocumentsToInsert = Omit<NewDocuments, 'attachments' | 'ids'> & {
  files: readonly NewAttachment[]
}

export async function insertFiles(
  trx: Db,
  { files, ...party }: DocumentsToInsert,
): Promise<{ id: number; name: string; attachment_id: number }[]> {
  const rows = []
  for (const some of portionsOf(files, 50)) {
    const attachmentIds = await insertAttachments(trx, some, party.createdAt)
    const attachments = some.map(({ name }, at) => ({ id: attachmentIds[at] ?? 0, name }))
    const ids = await insertDocuments(trx, {
      ...party,
      attachments,
      ids: await newDocumentIds(trx, attachments.length),
    })
    for (const [at, { id: attachment_id, name }] of attachments.entries()) {
      rows.push({ id: ids[at] ?? 0, name, attachment_id })
    }
  }
  return rows
}
