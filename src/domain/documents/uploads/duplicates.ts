// Refuses uploads of invoices that have a document already, if the request has X-Cambista-Duplicates. A copy of another
// sender with other bytes is stored, so that no forged one excludes the right one.

import { AppError } from '../../../runtime/errors.ts'
import { splitBatches } from '../../../store/batches.ts'
import { copyKey, selectRepeatedCopies } from '../../../store/documents/invoice-copies.ts'
import type { NewInvoice } from '../../../store/documents/invoices.ts'
import type { WriteDb } from '../../../store/tables.ts'
import type { Batch, DuplicateRefusal } from './checks.ts'

type DuplicateFault = {
  index: number
  field: 'clave'
  message: string
  same_content: boolean
  document_id?: number
}

const MAX_FAULTS = 1000
const CLAVES_AT_ONCE = 500
const REFUSED = 'Invoice already stored'

/**
 * Checks the batches that refuse duplicates, while no other upload is inserted. An invoice may be in one batch of several
 * alone, and there once.
 * @throws AppError `conflict`; its details have `errors`, the first 1,000 of them, and `errors_total`, their number
 */
export async function refuseDuplicates(trx: WriteDb, batches: readonly Batch[]): Promise<void> {
  if (batches.every(({ duplicates }) => duplicates === undefined)) return
  if (batches.length > 1) checkGroup(batches)
  for (const batch of batches) {
    const faults = batch.duplicates ? await findDuplicates(trx, batch, batch.duplicates) : []
    if (faults.length === 0) continue
    throw new AppError('conflict', REFUSED, {
      details: { errors: faults.slice(0, MAX_FAULTS), errors_total: faults.length },
    })
  }
}

/** The uploads of a group with one invoice twice are then committed one by one. @throws AppError `conflict` */
function checkGroup(batches: readonly Batch[]): void {
  const keys = batches.flatMap((batch) =>
    Array.from(listInvoices(batch), ({ invoice }) => copyKey({ ...invoice, company_id: batch.companyId })),
  )
  if (new Set(keys).size < keys.length) throw new AppError('conflict', REFUSED)
}

async function findDuplicates(
  trx: WriteDb,
  batch: Batch,
  { agentId, creator, showsIds }: DuplicateRefusal,
): Promise<DuplicateFault[]> {
  const faults: DuplicateFault[] = []
  const inRequest = new Map<string, string>()
  for (const some of splitBatches(listInvoices(batch), CLAVES_AT_ONCE)) {
    const rows = some.map(({ invoice, sha256 }) => ({ ...invoice, sha256, company_id: batch.companyId }))
    const copies = await selectRepeatedCopies(trx, rows, { agentId: agentId ?? undefined, creator })
    const byKey = Map.groupBy(
      copies.toSorted((one, other) => one.first_id - other.first_id),
      copyKey,
    )
    for (const [at, row] of rows.entries()) {
      const key = copyKey(row)
      const index = some[at]?.index ?? 0
      const refusals = byKey.get(key) ?? []
      const copy = refusals.find(({ sha256 }) => sha256 === row.sha256) ?? refusals[0]
      const sha256 = copy?.sha256 ?? inRequest.get(key)
      if (sha256 !== undefined) {
        faults.push({
          ...{ index, field: 'clave', same_content: sha256 === row.sha256 },
          message: copy ? 'the invoice has a document already' : 'the invoice is in the request twice',
          ...(copy && showsIds && { document_id: copy.first_id }),
        })
      }
      if (!inRequest.has(key)) inRequest.set(key, row.sha256)
    }
  }
  return faults
}

/** Invoices of a batch by the index of their document. Files that belong to one are none. */
function* listInvoices(batch: Batch): Generator<{ index: number; invoice: NewInvoice; sha256: string }> {
  let index = 0
  for (const { invoice, blob } of batch.files) {
    if (invoice?.source === 'content' && invoice.clave !== null)
      yield { index, invoice, sha256: batch.blobs.at(blob).sha256 }
    index += 1
  }
}
