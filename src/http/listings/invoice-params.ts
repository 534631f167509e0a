// Parameters of a list of documents that filter by facts of invoices.

import * as v from 'valibot'
import type { InvoiceKind } from '../../formats/invoices/kinds.ts'
import type { InvoiceFilter } from '../../store/documents/invoice-search.ts'
import { withDescription } from '../endpoint/answers/shapes.ts'
import { invalidParameters } from '../endpoint/error-shape.ts'
import { dateParam } from '../endpoint/params.ts'

/** Each kind once. The formats have them too, in a chunk that a start does not load. */
export const INVOICE_KINDS = [
  'FacturaElectronica',
  'NotaDebitoElectronica',
  'NotaCreditoElectronica',
  'TiqueteElectronico',
  'FacturaElectronicaCompra',
  'FacturaElectronicaExportacion',
  'ReciboElectronicoPago',
  'MensajeHacienda',
  'MensajeReceptor',
] as const satisfies readonly InvoiceKind[]

const LONGEST_ISSUER = 20

export const INVOICE_PARAMETERS = {
  clave: v.optional(
    v.pipe(
      v.string(),
      v.description('Only the invoice of this clave, with its PDF and the answers to it'),
      v.regex(/^\d{50}$/, 'must be 50 digits'),
    ),
  ),
  issuer: v.optional(
    v.pipe(
      v.string(),
      v.description('Only invoices of this issuer, by its id; leading zeros do not count'),
      v.transform((text) => text.replace(/^0+(?=\d+$)/, '')),
      v.check(
        (id) => id.trim() !== '' && [...id].length <= LONGEST_ISSUER && !id.includes('\0'),
        `must be the id of an issuer, 1 to ${LONGEST_ISSUER} characters`,
      ),
    ),
  ),
  kind: v.optional(
    withDescription(
      v.picklist(INVOICE_KINDS, `must be one of ${INVOICE_KINDS.join(', ')}`),
      'Only invoices of this kind',
    ),
  ),
  issued_from: v.optional(dateParam('Only invoices of this day or later, by their own date')),
  issued_to: v.optional(dateParam('Only invoices of this day or before')),
}

/** Converts a query to a filter; undefined: it has no such parameter. @throws AppError `invalid` for a reversed period */
export function parseInvoiceFilter(query: {
  clave?: string | undefined
  issuer?: string | undefined
  kind?: string | undefined
  issued_from?: string | undefined
  issued_to?: string | undefined
}): InvoiceFilter | undefined {
  const { clave, issuer: issuerId, kind, issued_from: issuedFrom, issued_to: issuedTo } = query
  if (issuedFrom !== undefined && issuedTo !== undefined && issuedFrom > issuedTo) {
    const msg = 'issued_from must not be after issued_to'
    throw invalidParameters([{ loc: ['query', 'issued_from'], msg, type: 'order', input: issuedFrom }])
  }
  const filter = { clave, issuerId, kind, issuedFrom, issuedTo }
  return Object.values(filter).some((one) => one !== undefined) ? filter : undefined
}
