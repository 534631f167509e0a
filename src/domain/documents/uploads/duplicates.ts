// Refuses uploads of invoices that have a document already, if the request has X-Cambista-Duplicates.

import { AppError } from '../../../runtime/errors.ts'
import { splitBatches } from '../../../store/batches.ts'
import { copyKey, selectCopyGroups } from '../../../store/documents/invoice-copies.ts'
import type { NewInvoice } from '../../../store/documents/invoices.ts'
import type { WriteDb } from '../../../store/tables.ts'
import type { Batch, DuplicateRefusal } from './checks.ts'

type DuplicateFault = { index: number; field: 'clave'; message: string; document_id?: number }

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
  { agentId, showsIds }: DuplicateRefusal,
): Promise<DuplicateFault[]> {
  const faults: DuplicateFault[] = []
  const inRequest = new Set<string>()
  for (const some of splitBatches(listInvoices(batch), CLAVES_AT_ONCE)) {
    const rows = some.map(({ invoice }) => ({ ...invoice, company_id: batch.companyId }))
    const groups = await selectCopyGroups(trx, rows, agentId ?? undefined)
    const firstIds = new Map<string, number>()
    for (const group of groups) {
      const key = copyKey(group)
      firstIds.set(key, Math.min(group.first_id, firstIds.get(key) ?? group.first_id))
    }
    for (const [at, row] of rows.entries()) {
      const key = copyKey(row)
      const index = some[at]?.index ?? 0
      const first = firstIds.get(key)
      if (first !== undefined) {
        const message = 'the invoice has a document already'
        faults.push({ index, field: 'clave', message, ...(showsIds && { document_id: first }) })
      } else if (inRequest.has(key)) {
        faults.push({ index, field: 'clave', message: 'the invoice is in the request twice' })
      }
      inRequest.add(key)
    }
  }
  return faults
}

/** Invoices of a batch by the index of their document. Files that belong to one are none. */
function* listInvoices({ files }: Batch): Generator<{ index: number; invoice: NewInvoice }> {
  let index = 0
  for (const { invoice } of files) {
    if (invoice?.source === 'content' && invoice.clave !== null) yield { index, invoice }
    index += 1
  }
}
