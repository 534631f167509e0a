import { requireCompany } from '../../../domain/directory/directory.ts'
import {
  type ReadCounts,
  readAllDocuments,
  readOlderDocuments,
} from '../../../domain/invoices/older-documents.ts'
import { AppError } from '../../../runtime/errors.ts'
import { openBlobStore } from '../../../store/blobs/open-blobs.ts'
import { command, printResult } from '../../command.ts'
import { STORAGE_WITH_BLOBS } from '../../options/storage.ts'

export const documentRecognise = command({
  name: 'document recognise',
  options: ['company', 'again', ...STORAGE_WITH_BLOBS, 'json'],
  changesData: true,
  run({ options, terminal, storage, withDatabase }) {
    const { company: companyId, again = false } = options
    return withDatabase({ mustExist: true }, async (db, engine) => {
      if (companyId !== undefined) await requireCompany(db, companyId)
      using store = await openBlobStore(storage(), engine)
      const deps = { db, reads: engine.reads, blobs: store.blobs, signal: terminal.stop }
      const counts =
        companyId === undefined && !again
          ? await readOlderDocuments(deps)
          : await readAllDocuments(deps, { companyId, again })
      if (terminal.stop.aborted) {
        const message = `stopped after ${counts.documents} documents: the same command reads the others`
        throw new AppError('failed', message)
      }
      printResult(terminal, options, counts, [describe(counts)])
    })
  },
})

function describe({ documents, invoices, faults, unreadable }: ReadCounts): string {
  const others = [
    ...(faults > 0 ? [`${faults} with a fault`] : []),
    ...(unreadable > 0 ? [`${unreadable} documents without a sound content`] : []),
  ]
  return [`documents read: ${documents}`, `invoices: ${invoices}`, ...others].join(', ')
}
