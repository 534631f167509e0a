// Recognizes invoices among uploaded blobs, while they arrive: from the bytes, or else from the name of the file.

import { claveDate, createInvoiceReader, type InvoiceFacts } from '../../formats/invoices/invoice.ts'
import { type NewInvoice, READER_VERSION } from '../../store/documents/invoices.ts'

export type BlobRecognition = {
  /** Reads the next bytes of the blob. False: the following ones do not matter. */
  write(bytes: Uint8Array): boolean
  /** Returns the facts of the whole blob. For a file other than XML: the facts in its name. Undefined: none. */
  end(name: string): NewInvoice | undefined
}

/** A row without facts. */
export const NO_FACTS: NewInvoice = {
  source: 'content',
  kind: null,
  version: null,
  clave: null,
  consecutive: null,
  issued_at: null,
  date: null,
  issuer_type: null,
  issuer_id: null,
  issuer_name: null,
  receiver_type: null,
  receiver_id: null,
  receiver_name: null,
  currency: null,
  exchange_rate: null,
  total: null,
  tax: null,
  outcome: null,
  refs: null,
  warnings: null,
  fault: null,
  reader: READER_VERSION,
}

export function recognizeBlob(): BlobRecognition {
  const reader = createInvoiceReader()
  let isOfInterest = true
  return {
    write(bytes) {
      if (isOfInterest) isOfInterest = reader.push(bytes)
      return isOfInterest
    },
    end(name) {
      const facts = reader.end()
      if (!facts) return reader.isXml() ? undefined : recognizeName(name)
      if ('fault' in facts) return { ...NO_FACTS, kind: facts.kind, fault: facts.fault }
      return toRow(facts)
    },
  }
}

/**
 * Returns the clave of a file such as a PDF beside its invoice. Its name has exactly one run of 50 digits. The run begins
 * with 506 and a day of the calendar.
 */
function recognizeName(name: string): NewInvoice | undefined {
  const runs = name.match(/(?<!\d)\d{50}(?!\d)/g) ?? []
  const [clave] = runs
  if (runs.length !== 1 || clave === undefined || claveDate(clave) === undefined) return undefined
  return { ...NO_FACTS, source: 'name', clave }
}

function toRow(facts: InvoiceFacts): NewInvoice {
  const { issuer, receiver, references, warnings } = facts
  return {
    ...NO_FACTS,
    kind: facts.kind,
    version: facts.version,
    clave: facts.clave,
    consecutive: facts.consecutive,
    issued_at: facts.issuedAt,
    date: facts.date,
    issuer_type: issuer?.type ?? null,
    issuer_id: issuer?.id ?? null,
    issuer_name: issuer?.name ?? null,
    receiver_type: receiver?.type ?? null,
    receiver_id: receiver?.id ?? null,
    receiver_name: receiver?.name ?? null,
    currency: facts.currency,
    exchange_rate: facts.exchangeRate,
    total: facts.total,
    tax: facts.tax,
    outcome: facts.outcome,
    refs: references.length === 0 ? null : JSON.stringify(references),
    warnings: warnings.length === 0 ? null : warnings.join(' '),
  }
}
