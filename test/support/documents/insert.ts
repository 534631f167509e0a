// Inserts documents as an upload does, without the sums of usage.

import { splitBatches } from '../../../src/store/batches.ts'
import { insertAttachments, type NewAttachment } from '../../../src/store/documents/attachments.ts'
import { insertReferences } from '../../../src/store/documents/blob-rows.ts'
import { insertCounts } from '../../../src/store/documents/counts.ts'
import { allocateDocumentIds, insertDocuments } from '../../../src/store/documents/documents.ts'
import type { WriteDb } from '../../../src/store/tables.ts'

export type DocumentsToInsert = {
  companyId: number
  agentId: number
  ownerId: number
  createdAt: string
  /** Id of the token that creates them; null: unknown. */
  createdBy: number | null
  files: readonly Omit<NewAttachment, 'created_at'>[]
}

export async function insertFiles(
  trx: WriteDb,
  { files, companyId, agentId, ownerId, createdAt: created_at, createdBy }: DocumentsToInsert,
): Promise<{ id: number; name: string; attachment_id: number }[]> {
  const rows = []
  const party = { company_id: companyId, agent_id: agentId, owner_id: ownerId, created_by: createdBy }
  for (const some of splitBatches(files, 50)) await insertReferences(trx, some, created_at)
  for (const some of splitBatches(files, 50)) {
    const attachmentIds = await insertAttachments(
      trx,
      some.map((file) => ({ ...file, created_at })),
    )
    const documents = some.map(({ name }, at) => {
      return { ...party, name, attachment_id: attachmentIds[at] ?? 0, created_at }
    })
    const bytes = some.reduce((sum, { size }) => sum + size, 0)
    const counts = { agent_id: agentId, new: some.length, changes: some.length, bytes }
    await insertCounts(trx, [counts])
    const ids = await insertDocuments(trx, documents, await allocateDocumentIds(trx, some.length))
    for (const [at, { attachment_id, name }] of documents.entries()) {
      rows.push({ id: ids[at] ?? 0, name, attachment_id })
    }
  }
  return rows
}
